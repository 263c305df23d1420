"""Plays compiled games: an interpreter for new commands, a table for commands played before.

A command takes the Z-machine 0.2 to 2 ms. A copy of its state takes 10 µs and 40 KB. So every turn
keeps a copy of the state. All environments of a process share a table: (turn, command) -> next
turn. A reset needs no interpreter, and neither do the common commands of a group's episodes.
"""

import itertools
import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentgym_envs.randomness import undisturbed

if TYPE_CHECKING:
    import jericho
    import textworld

SEED = 1  # seed of a game's random texts; with 0, jericho seeds from the clock
TURNS = 1024  # maximum turns in the table, about 40 KB each
GAMES = 16  # maximum games with their description in memory
_BOOKKEEPING = re.compile(r"<(moves|score)>\n(.*?)</\1>", re.DOTALL)
_EVENT = re.compile(r"\[([^]]+?) - (succeeded|failed [^]]*|ended without result)\]\n?")
_STATUS_LINE = re.compile(r"\n*>[ \t]*(-=.*)?$")


@dataclass(frozen=True)
class CompiledGame:
    """A compiled game."""

    path: Path
    stamp: tuple[int, int]
    """Time of change and size of the file. They differ if another game replaces the file."""
    objective: str = field(compare=False)
    max_score: float = field(compare=False)


@dataclass(slots=True, eq=False)
class GameTurn:
    """The result of a command, and the state from which the game continues."""

    story: CompiledGame
    text: str
    events: tuple[str, ...]
    """Changes of the world in the game's words, for :class:`StateTracker`."""
    score: int
    won: bool
    over: bool
    state: Any
    """jericho's copy of the interpreter's state."""
    number: int = field(default_factory=itertools.count().__next__)
    commands: list[str] | None = None
    """Admissible commands, or None before the first request for them."""


class TurnCache:
    """A table of turns that drops the least recently used turn when it is full.

    Args:
        size: maximum number of turns.
    """

    def __init__(self, size: int):
        self._size = size
        self._turns: OrderedDict[tuple[Any, ...], GameTurn] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._turns)

    def get(self, key: tuple[Any, ...]) -> GameTurn | None:
        """Returns the turn of a key, or None if the table does not have it."""
        with self._lock:
            turn = self._turns.get(key)
            if turn is not None:
                self._turns.move_to_end(key)
            return turn

    def put(self, key: tuple[Any, ...], turn: GameTurn) -> None:
        """Stores a turn."""
        with self._lock:
            self._turns[key] = turn
            while len(self._turns) > self._size:
                self._turns.popitem(last=False)


TABLE = TurnCache(TURNS)


class GamePlayer:
    """Plays for one environment.

    The interpreter starts with the first command that the table does not have.
    """

    def __init__(self) -> None:
        self._frotz: jericho.FrotzEnv | None = None
        self._story: CompiledGame | None = None
        self._loaded_turn = -1  # number of the turn whose state the interpreter has

    def begin(self, path: Path) -> GameTurn:
        """Returns a game's first turn."""
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size)
        first = TABLE.get((path, stamp))
        if first is None:
            game = load_game(path, stamp)
            story = CompiledGame(path, stamp, game.objective.strip(), float(game.max_score))
            frotz = self._interpreter(story)
            text, _ = frotz.reset()
            for bookkeeping in ("tw-extra-infos moves", "tw-extra-infos score", "tw-trace-actions"):
                frotz.step(bookkeeping)
            first = self._turn(story, text, 0)
            TABLE.put((path, stamp), first)
        return first

    def command(self, turn: GameTurn, command: str) -> GameTurn:
        """Returns the turn that follows a command."""
        after = TABLE.get((turn.number, command))
        if after is None:
            frotz = self._interpreter(turn.story)
            if self._loaded_turn != turn.number:
                frotz.set_state(turn.state)
            self._loaded_turn = -1  # unknown if an exception interrupts the command
            after = self._turn(turn.story, frotz.step(command)[0], turn.score)
            TABLE.put((turn.number, command), after)
        return after

    def _turn(self, story: CompiledGame, raw: str, score: int) -> GameTurn:
        """Reads the game's output and copies the interpreter's state.

        ``score`` is the score if the output contains none.
        """
        assert self._frotz is not None
        reported = dict(_BOOKKEEPING.findall(raw))
        feedback, events = without_events(_BOOKKEEPING.sub("", raw))
        won, lost = "*** The End ***" in feedback, "*** You lost! ***" in feedback
        points = int(reported["score"].split()[0]) if "score" in reported else score
        turn = GameTurn(
            story, clean(feedback), events, points, won, won or lost, self._frotz.get_state()
        )
        self._loaded_turn = turn.number
        return turn

    def _interpreter(self, story: CompiledGame) -> "jericho.FrotzEnv":
        """Returns the interpreter with this game loaded."""
        import jericho

        if self._frotz is not None and self._story == story:
            return self._frotz
        self._loaded_turn = -1
        with warnings.catch_warnings():
            # Jericho does not know generated games by name; TextWorld tracks their score itself.
            warnings.filterwarnings("ignore", message=".*is not fully supported")
            if self._frotz is None:
                self._frotz = jericho.FrotzEnv(str(story.path), SEED)
            else:
                self._frotz.close()
                self._frotz._cache.clear()  # else it would keep every game, 0.4 MB each
                self._frotz.load(str(story.path), SEED)
        self._story = story
        return self._frotz

    def close(self) -> None:
        """Ends the interpreter."""
        if self._frotz is not None:
            self._frotz.close()
        self._frotz = self._story = None


class StateTracker:
    """TextWorld's model of a game's world, updated with the events that the game prints.

    Args:
        story: the game.
        quests: track the quests too, for :meth:`policy`.
    """

    def __init__(self, story: CompiledGame, *, quests: bool = False):
        with undisturbed():
            from textworld.generator.game import GameProgression
            from textworld.generator.inform7 import Inform7Game

        game = load_game(story.path, story.stamp)
        self._words = Inform7Game(game)
        self._progress = GameProgression(game, track_quests=quests)

    def follow(self, events: Iterable[str]) -> None:
        """Updates the world with events."""
        for event in events:
            action = self._words.detect_action(event, self._progress.valid_actions)
            if action is not None:
                self._progress.update(action)

    def commands(self) -> list[str]:
        """Returns the admissible commands, sorted."""
        return sorted(set(self._words.gen_commands_from_actions(self._progress.valid_actions)))

    def policy(self) -> list[str]:
        """Returns commands that win the game. The tracker must have ``quests=True``."""
        return list(self._words.gen_commands_from_actions(self._progress.winning_policy or ()))


@lru_cache(maxsize=GAMES)
def load_game(path: Path, stamp: tuple[int, int]) -> "textworld.Game":
    """Returns the description that TextWorld writes beside a game.

    ``stamp`` separates games that lay at the same path at different times.
    """
    with undisturbed():
        import textworld

    return textworld.Game.load(str(path.with_suffix(".json")))


def without_events(feedback: str) -> tuple[str, tuple[str, ...]]:
    """Returns the text without the trace of actions, and the actions that succeeded.

    The trace is a line such as ``[taking key]`` before an action, and ``[taking key - succeeded]``
    after it.
    """
    traced = _EVENT.findall(feedback)
    text = _EVENT.sub("", feedback)
    for name in {name for name, _ in traced}:
        text = text.replace(f"[{name}]\n", "")
    return text, tuple(
        name for name, how in traced if how == "succeeded" and "(" not in name and ")" not in name
    )


def clean(feedback: str) -> str:
    """Returns the text of an observation.

    Removes the title picture, the prompt with its status line, the closing question and repeated
    empty lines.
    """
    text = _STATUS_LINE.sub("", feedback.rstrip()).partition("Would you like to RESTART")[0]
    lines = text.splitlines()
    picture = max((i for i, line in enumerate(lines) if "$$" in line), default=-1)
    return re.sub(
        r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines[picture + 1 :])
    ).strip()
