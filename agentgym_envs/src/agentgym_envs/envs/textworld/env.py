"""TextWorld (Côté et al., 2018): the four challenges, and any compiled game."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.core import Outcome, TextEnv, echo
from agentgym_envs.envs.textworld.commands import is_meta, is_readable, is_single, normalized
from agentgym_envs.envs.textworld.games import GameOptions, build, game_file
from agentgym_envs.envs.textworld.layouts import coin_seeds, simple_seeds
from agentgym_envs.envs.textworld.play import Player, Tracker, Turn
from agentgym_envs.errors import ArgumentError, MissingExtra, TaskError
from agentgym_envs.tasks import SPLITS, Task, TaskSet, stable_hash

TASKS = 1200  # of all splits: a twelfth each is for dev and for test
_REFUSALS = (
    "That's not a verb I recognise",
    "I didn't understand",
    "I only understood you as far as",
    "You can't see any such thing",
    "I beg your pardon",
    "You can't use multiple objects",
    "You excepted something",
    "Nothing to do",
)


class GameEnv(TextEnv):
    """Plays compiled games; subclasses say which."""

    instructions: ClassVar[str] = (
        "You are playing a text adventure. Read the goal in the first observation and reach it.\n"
        "Answer with one command and nothing else, such as: look, inventory, go north, take <thing>, open <thing>, "
        "unlock <thing> with <thing>, put <thing> on <thing>, cook <thing> with <thing>, eat <thing>."
    )

    tools = {
        "act": "{command}",
    }

    def __init__(self, **kwargs: Any):
        if find_spec("textworld") is None:
            raise MissingExtra(type(self).__name__, "textworld")
        super().__init__(**kwargs)
        self._player = Player()
        self._now: Turn

    def path(self, task: Task) -> Path:
        """Returns the task's compiled game."""
        raise NotImplementedError

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts the game."""
        self._now = self._player.begin(self.path(task))
        self._events: list[str] = []
        self._tracker: Tracker | None = None
        self._tracked = 0
        return self._now.text, self._now.story.objective

    def act(self, action: str) -> Outcome:
        """Sends one command to the game."""
        command, score = normalized(action), self._score
        if not is_readable(command):
            return Outcome(f"That is not a command of this game: {echo(action)}", score, invalid=True)
        if not is_single(command):
            return Outcome("One command at a time, please.", score, invalid=True)
        self._now = now = self._player.command(self._now, command)
        self._events += now.events
        score = 1.0 if now.won else min(max(now.score / max(now.story.max_score, 1.0), 0.0), 1.0)
        return Outcome(now.text, score, done=now.over, success=now.won, invalid=now.text.startswith(_REFUSALS))

    def actions(self) -> list[str]:
        """Returns the game's admissible commands, sorted."""
        if self._now.commands is None:
            self._tracker = self._tracker or Tracker(self._now.story)
            self._tracker.follow(self._events[self._tracked :])
            self._tracked = len(self._events)
            self._now.commands = [c for c in self._tracker.commands() if not is_meta(c)]
        return list(self._now.commands)

    def oracle(self) -> Iterator[str]:
        """Yields TextWorld's winning policy from the current state."""
        tracker = Tracker(self._now.story, quests=True)
        tracker.follow(self._events)
        yield from tracker.policy()

    def close(self) -> None:
        """Ends the interpreter."""
        if hasattr(self, "_player"):
            self._player.close()


class ChallengeEnv(GameEnv):
    """Games of one challenge, generated from the constructor's parameters and the task's seed.

    Args:
        settings: the challenge's parameters, which name the tasks.
        goal: text of the objective, for challenges that offer a choice. It does not change the game.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge: ClassVar[str]

    def __init__(self, *, settings: dict[str, Any], goal: str | None = None, **kwargs: Any):
        self._settings = settings
        self._objective = {} if goal is None else {"goal": goal}
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns 1,000 training and 100 dev and test games, fewer where the parameters allow fewer layouts."""
        name = "-".join(f"{k}{v}" for k, v in self._settings.items())
        seeds = self.seeds(stable_hash(f"{self.challenge} {name}") % 2**28)
        held_out = max(len(seeds) // 12, 1)
        sizes = dict(zip(SPLITS, (len(seeds) - 2 * held_out, held_out, held_out), strict=True))
        numbered = [(split, number) for split in SPLITS for number in range(sizes[split])]
        return TaskSet(
            Task(id=f"{name}-{split}-{n}", split=split, difficulty=int(self._settings.get("level", 0)), data={"seed": seed})
            for (split, n), seed in zip(numbered, seeds, strict=True)
        )

    def seeds(self, first: int) -> Sequence[int]:
        """Returns the seeds of all tasks; challenges whose layouts are few choose seeds whose layouts differ."""
        return range(first, first + TASKS)

    def path(self, task: Task) -> Path:
        """Returns the cached game, made if need be."""
        return game_file(self.options(task.id))

    def options(self, task_id: str) -> GameOptions:
        """Returns what TextWorld makes the task's game from."""
        task = self.task_set.get(task_id)
        settings = self._settings | self._objective | self.settings_of(task.split)
        return GameOptions(self.challenge, tuple(sorted(settings.items())), task.data["seed"])

    def settings_of(self, split: str) -> dict[str, Any]:
        """Returns parameters that depend on the split."""
        return {}

    def prepare(self, *, workers: int | None, on_item: Callable[[], None]) -> None:
        """Generates the split's games ahead, in parallel."""
        build(map(self.options, self.task_ids), workers=workers, on_game=on_item)


class SimpleEnv(ChallengeEnv):
    """``tw-simple``: a house, a locked door, dinner.

    Args:
        rewards: "dense", "balanced" or "sparse".
        goal: "brief" names the food, "detailed" lists the steps of the solution, "none" leaves a note in the kitchen to find.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-simple"

    def __init__(self, *, rewards: str = "dense", goal: str = "brief", **kwargs: Any):
        _choice("rewards", rewards, ("dense", "balanced", "sparse"))
        _choice("goal", goal, ("detailed", "brief", "none"))
        super().__init__(settings={"rewards": rewards}, goal=goal, **kwargs)

    def seeds(self, first: int) -> Sequence[int]:
        """Returns seeds whose foods, keys and dinners differ."""
        return simple_seeds(first, TASKS)

    def settings_of(self, split: str) -> dict[str, Any]:
        """All splits use one distribution: TextWorld's own test games name a food that no other food of the game can be."""
        return {"test": False}


class CoinCollectorEnv(ChallengeEnv):
    """``tw-coin_collector`` (Yuan et al., 2018): find a coin at the end of a path of rooms.

    Args:
        level: 2 to 100, a path of that many rooms; 101 to 150 and 201 to 233, a path of ``level % 100`` rooms with one or two dead
            ends beside each.
        goal: "brief" names the coin, "detailed" lists the steps of the solution.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-coin_collector"

    def __init__(self, *, level: int = 115, goal: str = "brief", **kwargs: Any):
        _choice("level", level, [*range(2, 101), *range(101, 151), *range(201, 234)], "from 2 to 150 or from 201 to 233")
        _choice("goal", goal, ("detailed", "brief"))
        super().__init__(settings={"level": level}, goal=goal, **kwargs)

    def seeds(self, first: int) -> Sequence[int]:
        """Returns seeds whose maps differ."""
        return coin_seeds(self._settings["level"], first, TASKS)


class TreasureHunterEnv(ChallengeEnv):
    """``tw-treasure_hunter``: find one thing and leave another, through doors and containers.

    Args:
        level: 1 to 10, five rooms; 11 to 20, ten rooms with doors and containers; 21 to 30, twenty rooms, some locked.
        goal: "brief" names the two things, "detailed" lists the steps of the solution.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-treasure_hunter"

    def __init__(self, *, level: int = 18, goal: str = "brief", **kwargs: Any):
        _choice("level", level, range(1, 31))
        _choice("goal", goal, ("detailed", "brief"))
        super().__init__(settings={"level": level}, goal=goal, **kwargs)


class CookingEnv(ChallengeEnv):
    """``tw-cooking``: read a recipe, gather, cut and cook, eat; the foods of the splits differ.

    Args:
        recipe: ingredients, 1 to 5.
        take: ingredients that must be fetched, 0 to ``recipe``; by default all.
        go: rooms: 1, 6, 9 or 12.
        open: containers and doors are closed.
        cook: ingredients must be cooked.
        cut: ingredients must be cut.
        drop: what can be carried is limited.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-cooking"

    def __init__(
        self,
        *,
        recipe: int = 3,
        take: int | None = None,
        go: int = 6,
        open: bool = True,
        cook: bool = True,
        cut: bool = True,
        drop: bool = False,
        **kwargs: Any,
    ):
        _choice("recipe", recipe, range(1, 6))
        take = recipe if take is None else take
        _choice("take", take, range(0, recipe + 1))
        _choice("go", go, (1, 6, 9, 12))
        flags = {"open": bool(open), "cook": bool(cook), "cut": bool(cut), "drop": bool(drop)}
        super().__init__(settings={"recipe": recipe, "take": take, "go": go, **flags}, **kwargs)

    def settings_of(self, split: str) -> dict[str, Any]:
        """TextWorld's cooking splits hold different foods."""
        return {"split": {"dev": "valid"}.get(split, split), "recipe_seed": 0}


class TextWorldEnv(GameEnv):
    """Any compiled game.

    Args:
        games: paths of ``.z8`` files, each with its ``.json`` beside it: a list for each split, or one for the chosen split.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    def __init__(self, *, games: Sequence[str] | Mapping[str, Sequence[str]] = (), split: str = "train", **kwargs: Any):
        by_split = games if isinstance(games, Mapping) else {split: [games] if isinstance(games, str) else games}
        self._files = {name: [Path(path) for path in paths] for name, paths in by_split.items()}
        if not any(self._files.values()):
            raise TaskError("agentgym/TextWorld-v0 plays compiled games: pass games=['path/to/game.z8']")
        for path in chain(*self._files.values()):
            for needed in (path, path.with_suffix(".json")):
                if path.suffix != ".z8" or not needed.is_file():
                    raise TaskError(f"games: {str(needed)!r} is not there; a game is a .z8 file with its .json beside it")
        super().__init__(split=split, **kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns one task a file, named by it."""
        return TaskSet(Task(id=p.stem, split=split, data={"path": p}) for split, paths in self._files.items() for p in paths)

    def path(self, task: Task) -> Path:
        """Returns the file."""
        path: Path = task.data["path"]
        return path


def _choice(name: str, value: Any, allowed: Any, wanted: str = "") -> None:
    if isinstance(value, bool) or value not in allowed:
        wanted = wanted or (f"from {allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else f"one of {list(allowed)}")
        raise ArgumentError(f"{name} must be {wanted}, not {value!r}")
