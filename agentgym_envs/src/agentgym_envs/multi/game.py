"""The contract of a game: ``TextGame``, several seats that read and write strings.

A game says who acts now, one seat or several at once, and what each sees of what they said. It
knows nothing of PettingZoo, Gymnasium or who plays: :class:`agentgym_envs.multi.match.GameMatch`
carries it out, ``env.py`` and ``zoo.py`` show it to others.

Three words have one meaning each:

- A *seat* is a position in a game, such as ``player_0``. ``info["seat"]``, turns and results name
  seats. PettingZoo calls a seat an
  agent; so does ``zoo.py``, and no other file.
- An *agent* is a program or model under evaluation or training. It plays one seat or several.
- A *player* is a fixed opponent: "random", "oracle", a scripted player of the game, or
  "model:NAME".
"""

import random
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from agentgym_envs.core import Outcome, Tool
from agentgym_envs.tasks import Task, TaskSet

ScriptedPlayer = Callable[[Any, str, random.Random], str]
"""A player: called with the game, the seat's name and the player's random generator."""


class TextGame(metaclass=ABCMeta):
    """Base class of games. Its constructor takes keywords only, JSON-able, and starts nothing.

    Attributes:
        seats: their names, as PettingZoo writes them: ``debater_0``. Set by the constructor, the
            same in every task.
    """

    instructions: ClassVar[str] = ""
    """The rules and the action grammar, for every seat."""
    tools: ClassVar[Mapping[str, str | Tool]] = MappingProxyType({"act": "{action}"})
    """See :class:`agentgym_envs.TextEnv`."""
    max_invalid_actions: ClassVar[int] = 3
    """A seat forfeits after this many invalid actions in a row: see :meth:`forfeit`."""
    players: ClassVar[Mapping[str, ScriptedPlayer]] = MappingProxyType({})
    """Scripted players of this game beside "random" and "oracle", by name."""
    opponents: ClassVar[str] = "random"
    """The player of the other seats by default.

    Against it the oracle must succeed in every task, in the task's default seat.
    """
    cooperative: ClassVar[bool] = False
    """All seats always have the same score."""
    seats: tuple[str, ...]

    @abstractmethod
    def make_tasks(self) -> TaskSet:
        """Returns the tasks of all splits."""

    def default_seat(self, task: Task) -> str:
        """Returns the caller's default seat in a task: the first seat.

        Games can override this.
        """
        return self.seats[0]

    @abstractmethod
    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Starts a task; returns what each seat sees first, its own name and goal included."""

    @abstractmethod
    def goal(self, seat: str) -> str:
        """Returns a seat's goal, in one line."""

    @abstractmethod
    def acting(self) -> tuple[str, ...]:
        """Returns the seats that act now, in a fixed order.

        Several seats act at once if none of them sees the others' actions before all have acted.
        """

    @abstractmethod
    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Applies what those who act have said, any strings.

        Returns:
            An outcome for every seat: its new text, which can be empty, and its score. Either
            all are ``done`` or none. A
            seat of a game with turns whose words were not understood is ``invalid``, and acts
            again.
        """

    @abstractmethod
    def actions(self, seat: str) -> list[str]:
        """Returns the actions that are valid for an acting seat, in a fixed order."""

    @abstractmethod
    def oracle(self, seat: str) -> str:
        """Returns the best action of an acting seat."""

    def secrets(self, seat: str) -> tuple[str, ...]:
        """Returns the secret texts of a seat in the current task.

        Before the end, no secret may be in a text or goal of another seat.
        """
        return ()

    def forfeit(self, seat: str) -> Mapping[str, Outcome]:
        """Ends the game after ``max_invalid_actions`` of a seat in a row.

        No seat scores, so a forfeit gains nothing.
        """
        return {
            s: Outcome(
                f"{seat} was not understood {self.max_invalid_actions} times in a row: the game is"
                " over.",
                0.0,
                True,
            )
            for s in self.seats
        }
