"""Plays compiled games: an interpreter for commands that are new, a table for those that have been played before.

A command costs the Z-machine 0.2 to 2 ms, a copy of its state 10 µs and 40 KB. So every turn keeps a copy, and a table that all
environments of a process share says where a command leads from there. A reset, and whatever the episodes of a group have in common,
needs no interpreter.
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

SEED = 1  # of a game's own random texts; jericho takes 0 for "no seed" and then seeds by the clock
TURNS = 1024  # kept in the table, of about 40 KB each
GAMES = 16  # whose descriptions are kept in memory
_BOOKKEEPING = re.compile(r"<(moves|score)>\n(.*?)</\1>", re.DOTALL)
_EVENT = re.compile(r"\[([^]]+?) - (succeeded|failed [^]]*|ended without result)\]\n?")
_STATUS_LINE = re.compile(r"\n*>[ \t]*(-=.*)?$")


@dataclass(frozen=True)
class Story:
    """A compiled game."""

    path: Path
    stamp: tuple[int, int]
    """When the file was written, and its size: another game may come to lie there."""
    objective: str = field(compare=False)
    max_score: float = field(compare=False)


@dataclass(slots=True, eq=False)
class Turn:
    """What a command led to, and how the game goes on from there."""

    story: Story
    text: str
    events: tuple[str, ...]
    """What happened in the world, in the game's own words, for :class:`Tracker`."""
    score: int
    won: bool
    over: bool
    state: Any
    """Of the interpreter, as jericho copies it."""
    number: int = field(default_factory=itertools.count().__next__)
    commands: list[str] | None = None
    """Admissible commands, once they have been asked for."""


class Table:
    """Turns by what leads to them; those that have not been used for longest are forgotten."""

    def __init__(self, size: int):
        self._size = size
        self._turns: OrderedDict[tuple[Any, ...], Turn] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._turns)

    def get(self, key: tuple[Any, ...]) -> Turn | None:
        """Returns a turn if it is there."""
        with self._lock:
            turn = self._turns.get(key)
            if turn is not None:
                self._turns.move_to_end(key)
            return turn

    def put(self, key: tuple[Any, ...], turn: Turn) -> None:
        """Keeps a turn."""
        with self._lock:
            self._turns[key] = turn
            while len(self._turns) > self._size:
                self._turns.popitem(last=False)


TABLE = Table(TURNS)


class Player:
    """Plays for one environment, whose interpreter starts with the first command that the table does not know."""

    def __init__(self) -> None:
        self._frotz: jericho.FrotzEnv | None = None
        self._story: Story | None = None
        self._at = -1  # number of the turn whose state the interpreter has

    def begin(self, path: Path) -> Turn:
        """Returns a game's first turn."""
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size)
        first = TABLE.get((path, stamp))
        if first is None:
            game = load_game(path, stamp)
            story = Story(path, stamp, game.objective.strip(), float(game.max_score))
            frotz = self._interpreter(story)
            text, _ = frotz.reset()
            for bookkeeping in ("tw-extra-infos moves", "tw-extra-infos score", "tw-trace-actions"):
                frotz.step(bookkeeping)
            first = self._turn(story, text, 0)
            TABLE.put((path, stamp), first)
        return first

    def command(self, turn: Turn, command: str) -> Turn:
        """Returns what a command leads to."""
        after = TABLE.get((turn.number, command))
        if after is None:
            frotz = self._interpreter(turn.story)
            if self._at != turn.number:
                frotz.set_state(turn.state)
            self._at = -1  # should this be interrupted
            after = self._turn(turn.story, frotz.step(command)[0], turn.score)
            TABLE.put((turn.number, command), after)
        return after

    def _turn(self, story: Story, raw: str, score: int) -> Turn:
        """Reads the game's output and copies the interpreter's state; ``score`` holds if the game does not say."""
        assert self._frotz is not None
        values = dict(_BOOKKEEPING.findall(raw))
        feedback, events = without_events(_BOOKKEEPING.sub("", raw))
        won, lost = "*** The End ***" in feedback, "*** You lost! ***" in feedback
        points = int(values["score"].split()[0]) if "score" in values else score
        turn = Turn(story, clean(feedback), events, points, won, won or lost, self._frotz.get_state())
        self._at = turn.number
        return turn

    def _interpreter(self, story: Story) -> "jericho.FrotzEnv":
        """Returns the interpreter with this game in it."""
        import jericho

        if self._frotz is not None and self._story == story:
            return self._frotz
        self._at = -1
        with warnings.catch_warnings():
            # Jericho does not know generated games by name; TextWorld tracks their score itself.
            warnings.filterwarnings("ignore", message=".*is not fully supported")
            if self._frotz is None:
                self._frotz = jericho.FrotzEnv(str(story.path), SEED)
            else:
                self._frotz.close()
                self._frotz._cache.clear()  # it would keep every game that it has seen, of 0.4 MB each
                self._frotz.load(str(story.path), SEED)
        self._story = story
        return self._frotz

    def close(self) -> None:
        """Ends the interpreter."""
        if self._frotz is not None:
            self._frotz.close()
        self._frotz = self._story = None


class Tracker:
    """TextWorld's model of a game's world, which follows the events that the game tells."""

    def __init__(self, story: Story, *, quests: bool = False):
        with undisturbed():
            from textworld.generator.game import GameProgression
            from textworld.generator.inform7 import Inform7Game

        game = load_game(story.path, story.stamp)
        self._words = Inform7Game(game)
        self._progress = GameProgression(game, track_quests=quests)

    def follow(self, events: Iterable[str]) -> None:
        """Changes the world by what happened."""
        for event in events:
            action = self._words.detect_action(event, self._progress.valid_actions)
            if action is not None:
                self._progress.update(action)

    def commands(self) -> list[str]:
        """Returns the admissible commands, sorted."""
        return sorted(set(self._words.gen_commands_from_actions(self._progress.valid_actions)))

    def policy(self) -> list[str]:
        """Returns commands that win the game; the tracker was made with ``quests=True``."""
        return list(self._words.gen_commands_from_actions(self._progress.winning_policy or ()))


@lru_cache(maxsize=GAMES)
def load_game(path: Path, stamp: tuple[int, int]) -> "textworld.Game":
    """Returns the description that TextWorld writes beside a game; ``stamp`` tells apart what has lain there."""
    with undisturbed():
        import textworld

    return textworld.Game.load(str(path.with_suffix(".json")))


def without_events(feedback: str) -> tuple[str, tuple[str, ...]]:
    """Returns the text without the game's trace of actions, and the actions that succeeded.

    The trace is a line such as ``[taking key]`` before an action and ``[taking key - succeeded]`` after it.
    """
    traced = _EVENT.findall(feedback)
    text = _EVENT.sub("", feedback)
    for name in {name for name, _ in traced}:
        text = text.replace(f"[{name}]\n", "")
    return text, tuple(name for name, how in traced if how == "succeeded" and "(" not in name and ")" not in name)


def clean(feedback: str) -> str:
    """Drops the title picture, the prompt with its status line, the closing question, and runs of empty lines."""
    text = _STATUS_LINE.sub("", feedback.rstrip()).partition("Would you like to RESTART")[0]
    lines = text.splitlines()
    picture = max((i for i, line in enumerate(lines) if "$$" in line), default=-1)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines[picture + 1 :])).strip()
