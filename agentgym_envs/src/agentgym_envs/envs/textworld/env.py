"""TextWorld (Côté et al., 2018): the four challenges, and any compiled game."""

import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from agentgym_envs.core import Outcome, TextEnv, echo
from agentgym_envs.envs.textworld.games import GameOptions, build, game_file
from agentgym_envs.errors import MissingExtra, TaskError
from agentgym_envs.tasks import SPLITS, Task, TaskSet, stable_hash

if TYPE_CHECKING:
    import textworld

TASKS = {"train": 1000, "dev": 100, "test": 100}
INPUT_LIMIT = 100  # characters that a Z-machine game reads of a command
# What would save, quit or rewind the interpreter, or print TextWorld's own bookkeeping.
_META = frozenset(
    [
        "quit",
        "q",
        "restart",
        "restore",
        "save",
        "undo",
        "script",
        "transcript",
        "unscript",
        "record",
        "replay",
        "verify",
        "version",
        "notify",
    ]
)
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
_STATUS_LINE = re.compile(r"\n*>[ \t]*(-=.*)?$")


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
        self._game: textworld.Environment | None = None
        self._path = Path()

    def path(self, task: Task) -> Path:
        """Returns the task's compiled game."""
        raise NotImplementedError

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts the game's interpreter, or the game anew if it is the same one."""
        path = self.path(task)
        self._history: list[str] = []
        if self._game is None or path != self._path:
            self.close()
            self._path = path
            self._game = _start(path, admissible_commands=self.admissible)
        self._game.seed(0)
        state = self._game.reset()
        self._max_score = max(int(state.max_score or 0), 1)
        self._state = state
        return _clean(state.feedback), state.objective.strip()

    def act(self, action: str) -> Outcome:
        """Sends one command to the game."""
        assert self._game is not None
        command = " ".join(action[: 4 * INPUT_LIMIT].encode("ascii", "ignore").decode().split()).rstrip(". ")
        words = command.lower().split()
        score = self._score
        if not words or len(command) > INPUT_LIMIT or words[0] in _META or words[0].startswith(("tw-", "@", "*")):
            return Outcome(f"That is not a command of this game: {echo(action)}", score, invalid=True)
        if re.search(r"[.;\x00-\x1f]", command) or "then" in words:
            return Outcome("One command at a time, please.", score, invalid=True)
        self._history.append(command)
        self._state, points, done = self._game.step(command)
        text = _clean(self._state.feedback)
        won = bool(done and self._state.won)
        score = 1.0 if won else min(max(points / self._max_score, 0.0), 1.0)
        return Outcome(text, score, done=bool(done), success=won, invalid=text.startswith(_REFUSALS))

    def actions(self) -> list[str]:
        """Returns the game's admissible commands, sorted."""
        state = self._state if self.admissible else self._replayed(admissible_commands=True)
        return sorted(c for c in state.admissible_commands or [] if c.split()[0] not in _META)

    def oracle(self) -> Iterator[str]:
        """Yields TextWorld's winning policy from the current state."""
        yield from self._replayed(policy_commands=True).policy_commands

    def close(self) -> None:
        """Ends the interpreter."""
        if getattr(self, "_game", None) is not None:
            assert self._game is not None
            self._game.close()
            self._game = None

    def _replayed(self, **infos: bool) -> "textworld.GameState":
        """Returns the current state with more information, from a second interpreter: always asking would slow every step."""
        game = _start(self._path, **infos)
        game.seed(0)
        state = game.reset()
        for command in self._history:
            state, _, _ = game.step(command)
        game.close()
        return state


class ChallengeEnv(GameEnv):
    """Games of one challenge, generated from the constructor's parameters and the task's number."""

    challenge: ClassVar[str]

    def __init__(self, *, settings: dict[str, Any], **kwargs: Any):
        self._settings = settings
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns 1,000 training and 100 dev and test games of these parameters."""
        name = "-".join(f"{k}{v}" for k, v in self._settings.items())
        return TaskSet(
            Task(id=f"{name}-{split}-{n}", split=split, difficulty=int(self._settings.get("level", 0)), data={"number": n})
            for split in SPLITS
            for n in range(TASKS[split])
        )

    def path(self, task: Task) -> Path:
        """Returns the cached game, made if need be."""
        return game_file(self.options(task.id))

    def options(self, task_id: str) -> GameOptions:
        """Returns what TextWorld makes the task's game from."""
        task = self.task_set.get(task_id)
        settings = self._settings | self.settings_of(task.split)
        seed = stable_hash(f"{self.challenge} {task.id}") % 2**31
        return GameOptions(self.challenge, tuple(sorted(settings.items())), seed)

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
        goal: how much of the quest the objective tells: "detailed", "brief" or "none".
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-simple"

    def __init__(self, *, rewards: str = "dense", goal: str = "detailed", **kwargs: Any):
        _choice("rewards", rewards, ("dense", "balanced", "sparse"))
        _choice("goal", goal, ("detailed", "brief", "none"))
        super().__init__(settings={"rewards": rewards, "goal": goal}, **kwargs)

    def settings_of(self, split: str) -> dict[str, Any]:
        """The test split uses TextWorld's own test distribution."""
        return {"test": split == "test"}


class CoinCollectorEnv(ChallengeEnv):
    """``tw-coin_collector`` (Yuan et al., 2018): find a coin behind rooms and distractor rooms.

    Args:
        level: 1 to 300: rooms on the way, with more distractors from 101 and 201 on.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-coin_collector"

    def __init__(self, *, level: int = 5, **kwargs: Any):
        _choice("level", level, range(1, 301))
        super().__init__(settings={"level": level}, **kwargs)


class TreasureHunterEnv(ChallengeEnv):
    """``tw-treasure_hunter``: find one thing and leave the others, through doors and containers.

    Args:
        level: 1 to 30.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    challenge = "tw-treasure_hunter"

    def __init__(self, *, level: int = 5, **kwargs: Any):
        _choice("level", level, range(1, 31))
        super().__init__(settings={"level": level}, **kwargs)


class CookingEnv(ChallengeEnv):
    """``tw-cooking``: read a recipe, gather, cut and cook, eat; the foods of the splits differ.

    Args:
        recipe: ingredients, 1 to 5.
        take: ingredients that must be fetched, 0 to ``recipe``.
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
        recipe: int = 1,
        take: int = 1,
        go: int = 1,
        open: bool = False,
        cook: bool = False,
        cut: bool = False,
        drop: bool = False,
        **kwargs: Any,
    ):
        _choice("recipe", recipe, range(1, 6))
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


def _start(path: Path, **infos: bool) -> "textworld.Environment":
    """Starts an interpreter with just the information that is asked for."""
    import textworld

    request = textworld.EnvInfos(feedback=True, score=True, max_score=True, won=True, objective=True, **infos)
    with warnings.catch_warnings():
        # Jericho does not know generated games by name; TextWorld tracks their score itself.
        warnings.filterwarnings("ignore", message=".*is not fully supported")
        return textworld.start(str(path), request)


def _clean(feedback: str) -> str:
    """Drops the title picture, the prompt with its status line, the closing question, and runs of empty lines."""
    text = _STATUS_LINE.sub("", feedback.rstrip()).partition("Would you like to RESTART")[0]
    lines = text.splitlines()
    picture = max((i for i, line in enumerate(lines) if "$$" in line), default=-1)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines[picture + 1 :])).strip()


def _choice(name: str, value: Any, allowed: Any) -> None:
    if isinstance(value, bool) or value not in allowed:
        wanted = f"from {allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else f"one of {list(allowed)}"
        raise ValueError(f"{name} must be {wanted}, not {value!r}")
