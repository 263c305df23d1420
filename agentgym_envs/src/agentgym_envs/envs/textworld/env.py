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
from agentgym_envs.envs.textworld.play import GamePlayer, GameTurn, StateTracker
from agentgym_envs.errors import ArgumentError, MissingExtra, TaskError
from agentgym_envs.tasks import SPLITS, Task, TaskSet, stable_hash

TASKS = 1200  # over all splits; dev and test each get a twelfth
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
    """Base class of environments that play compiled games.

    A subclass implements :meth:`path` and ``make_tasks``.
    """

    instructions: ClassVar[str] = (
        "You are playing a text adventure. Read the goal in the first observation and reach"
        " it.\nAnswer with one command and nothing else, such as: look, inventory, go north, take"
        " <thing>, open <thing>, unlock <thing> with <thing>, put <thing> on <thing>, cook <thing>"
        " with <thing>, eat <thing>."
    )

    tools = {
        "act": "{command}",
    }

    def __init__(self, **kwargs: Any):
        if find_spec("textworld") is None:
            raise MissingExtra(type(self).__name__, "textworld")
        super().__init__(**kwargs)
        self._player = GamePlayer()
        self._now: GameTurn

    def path(self, task: Task) -> Path:
        """Returns the path of the task's compiled game."""
        raise NotImplementedError

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts the game."""
        self._now = self._player.begin(self.path(task))
        self._events: list[str] = []
        self._tracker: StateTracker | None = None
        self._tracked = 0
        return self._now.text, self._now.story.objective

    def act(self, action: str) -> Outcome:
        """Sends one command to the game."""
        command, score = normalized(action), self._score
        if not is_readable(command):
            return Outcome(
                f"That is not a command of this game: {echo(action)}", score, invalid=True
            )
        if not is_single(command):
            return Outcome("One command at a time, please.", score, invalid=True)
        self._now = now = self._player.command(self._now, command)
        self._events += now.events
        score = 1.0 if now.won else min(max(now.score / max(now.story.max_score, 1.0), 0.0), 1.0)
        return Outcome(
            now.text, score, done=now.over, success=now.won, invalid=now.text.startswith(_REFUSALS)
        )

    def actions(self) -> list[str]:
        """Returns the game's admissible commands, sorted."""
        if self._now.commands is None:
            self._tracker = self._tracker or StateTracker(self._now.story)
            self._tracker.follow(self._events[self._tracked :])
            self._tracked = len(self._events)
            self._now.commands = [c for c in self._tracker.commands() if not is_meta(c)]
        return list(self._now.commands)

    def oracle(self) -> Iterator[str]:
        """Yields TextWorld's winning policy from the current state."""
        tracker = StateTracker(self._now.story, quests=True)
        tracker.follow(self._events)
        yield from tracker.policy()

    def close(self) -> None:
        """Ends the interpreter."""
        if hasattr(self, "_player"):
            self._player.close()


class ChallengeEnv(GameEnv):
    """Games of one challenge, generated from the constructor's parameters and the task's seed.

    Args:
        settings: parameters of the challenge. The task ids contain them.
        goal: kind of the objective's text, for challenges with a choice. It does not change the
            game.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge: ClassVar[str]

    def __init__(self, *, settings: dict[str, Any], goal: str | None = None, **kwargs: Any):
        self._settings = settings
        self._objective = {} if goal is None else {"goal": goal}
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns 1,000 train, 100 dev and 100 test games, or fewer if there are fewer layouts."""
        name = "-".join(f"{k}{v}" for k, v in self._settings.items())
        seeds = self.seeds(stable_hash(f"{self.challenge} {name}") % 2**28)
        held_out = max(len(seeds) // 12, 1)
        sizes = dict(zip(SPLITS, (len(seeds) - 2 * held_out, held_out, held_out), strict=True))
        numbered = [(split, number) for split in SPLITS for number in range(sizes[split])]
        return TaskSet(
            Task(
                id=f"{name}-{split}-{n}",
                split=split,
                difficulty=int(self._settings.get("level", 0)),
                data={"seed": seed},
            )
            for (split, n), seed in zip(numbered, seeds, strict=True)
        )

    def seeds(self, first: int) -> Sequence[int]:
        """Returns the seeds of all tasks.

        Challenges with few layouts override this method to choose seeds with different layouts.
        """
        return range(first, first + TASKS)

    def path(self, task: Task) -> Path:
        """Returns the path of the cached game. Generates the game if the cache does not have it."""
        return game_file(self.options(task.id))

    def options(self, task_id: str) -> GameOptions:
        """Returns the options from which TextWorld generates the task's game."""
        task = self.task_set.get(task_id)
        settings = self._settings | self._objective | self.settings_of(task.split)
        return GameOptions(self.challenge, tuple(sorted(settings.items())), task.data["seed"])

    def settings_of(self, split: str) -> dict[str, Any]:
        """Returns the parameters that depend on the split."""
        return {}

    def prepare(self, *, workers: int | None, on_item: Callable[[], None]) -> None:
        """Generates the games of the split in advance, in parallel."""
        build(map(self.options, self.task_ids), workers=workers, on_game=on_item)


class SimpleEnv(ChallengeEnv):
    """A dinner to cook in a house with a locked door. The challenge is ``tw-simple``.

    Args:
        rewards: "dense", "balanced" or "sparse".
        goal: "brief" names the food. "detailed" lists the steps of the solution. With "none", only
            a note in the kitchen names the goal.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-simple"

    def __init__(self, *, rewards: str = "dense", goal: str = "brief", **kwargs: Any):
        _choice("rewards", rewards, ("dense", "balanced", "sparse"))
        _choice("goal", goal, ("detailed", "brief", "none"))
        super().__init__(settings={"rewards": rewards}, goal=goal, **kwargs)

    def seeds(self, first: int) -> Sequence[int]:
        """Returns seeds of games with different foods, keys or dinners."""
        return simple_seeds(first, TASKS)

    def settings_of(self, split: str) -> dict[str, Any]:
        """Returns the same distribution for all splits.

        In TextWorld's test games, the food to cook has a name that no other food of the game can
        have. The name would give the food away.
        """
        return {"test": False}


class CoinCollectorEnv(ChallengeEnv):
    """A coin to find at the end of a path of rooms.

    The challenge is ``tw-coin_collector`` (Yuan et al., 2018).

    Args:
        level: 2 to 100 is a path of that many rooms. 101 to 150 is a path of ``level % 100`` rooms
            with one dead end beside each. 201 to 233 is such a path with two dead ends beside each.
        goal: "brief" names the coin. "detailed" lists the steps of the solution.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-coin_collector"

    def __init__(self, *, level: int = 115, goal: str = "brief", **kwargs: Any):
        _choice(
            "level",
            level,
            [*range(2, 101), *range(101, 151), *range(201, 234)],
            "from 2 to 150 or from 201 to 233",
        )
        _choice("goal", goal, ("detailed", "brief"))
        super().__init__(settings={"level": level}, goal=goal, **kwargs)

    def seeds(self, first: int) -> Sequence[int]:
        """Returns seeds of games with different maps."""
        return coin_seeds(self._settings["level"], first, TASKS)


class TreasureHunterEnv(ChallengeEnv):
    """The agent takes one thing and leaves another.

    Both are behind doors and in containers. The challenge is ``tw-treasure_hunter``.

    Args:
        level: 1 to 10 has five rooms. 11 to 20 has ten rooms with doors and containers. 21 to 30
            has twenty rooms, and some are locked.
        goal: "brief" names the two things. "detailed" lists the steps of the solution.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-treasure_hunter"

    def __init__(self, *, level: int = 18, goal: str = "brief", **kwargs: Any):
        _choice("level", level, range(1, 31))
        _choice("goal", goal, ("detailed", "brief"))
        super().__init__(settings={"level": level}, goal=goal, **kwargs)


class CookingEnv(ChallengeEnv):
    """The agent cooks a meal by a recipe and eats it.

    It gathers, cuts and cooks the ingredients. The challenge is ``tw-cooking``.

    The splits have different foods.

    Args:
        recipe: number of ingredients, 1 to 5.
        take: number of ingredients to fetch, 0 to ``recipe``. The default is all.
        go: number of rooms: 1, 6, 9 or 12.
        open: whether containers and doors start closed.
        cook: whether ingredients must be cooked.
        cut: whether ingredients must be cut.
        drop: whether the inventory is limited.
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
        """Returns TextWorld's split. Its cooking splits have different foods."""
        return {"split": {"dev": "valid"}.get(split, split), "recipe_seed": 0}


class TextWorldEnv(GameEnv):
    """Any compiled TextWorld game.

    Args:
        games: paths of ``.z8`` files, each with its ``.json`` beside it. A mapping has a list per
            split; a list is for the chosen split.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    def __init__(
        self,
        *,
        games: Sequence[str] | Mapping[str, Sequence[str]] = (),
        split: str = "train",
        **kwargs: Any,
    ):
        by_split = (
            games
            if isinstance(games, Mapping)
            else {split: [games] if isinstance(games, str) else games}
        )
        self._files = {name: [Path(path) for path in paths] for name, paths in by_split.items()}
        if not any(self._files.values()):
            raise TaskError(
                "agentgym/TextWorld-v0 plays compiled games: pass games=['path/to/game.z8']"
            )
        for path in chain(*self._files.values()):
            for needed in (path, path.with_suffix(".json")):
                if path.suffix != ".z8" or not needed.is_file():
                    raise TaskError(
                        f"games: {str(needed)!r} is missing or has a wrong ending; a game is a .z8"
                        " file with its .json beside it"
                    )
        super().__init__(split=split, **kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns one task per file. The task id is the file's name without its ending."""
        return TaskSet(
            Task(id=p.stem, split=split, data={"path": p})
            for split, paths in self._files.items()
            for p in paths
        )

    def path(self, task: Task) -> Path:
        """Returns the path of the task's file."""
        path: Path = task.data["path"]
        return path


def _choice(name: str, value: Any, allowed: Any, wanted: str = "") -> None:
    if isinstance(value, bool) or value not in allowed:
        wanted = wanted or (
            f"from {allowed[0]} to {allowed[-1]}"
            if isinstance(allowed, range)
            else f"one of {list(allowed)}"
        )
        raise ArgumentError(f"{name} must be {wanted}, not {value!r}")
