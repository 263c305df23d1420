"""``agentgym/LockedMaze-v1``: mazes with and without a locked door before the thing."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from agentgym_envs.core import Outcome
from agentgym_envs.envs.maze.env import MazeEnv, words
from agentgym_envs.envs.maze.locked_tasks import LockedMazeTasks
from agentgym_envs.envs.maze.tasks import MOVES, Lock, move
from agentgym_envs.tasks import Task


class LockedMazeEnv(MazeEnv):
    """A maze in which a locked door can block the path.

    The agent must then find the key first. The key lies off the path.

    Args:
        open: sizes in rooms of the mazes without a lock. All sizes, locked or not, are equally
            likely.
        locked: sizes in rooms of the mazes with a lock.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a maze of rooms. Find and take the thing that the goal names.\nA door may be"
        " locked. Its key lies in a room on your side: take it, go to the door and unlock it.\nEach"
        " turn shows the exits of the room you are in, what lies there and what you have.\nAnswer"
        " with one action and nothing else: go <direction>, take <thing>, or unlock"
        " <direction>.\nDirections are north, east, south and west."
    )

    tools = {**MazeEnv.tools, "unlock": "unlock {direction}"}

    def __init__(
        self, *, open: Sequence[int] = (10, 14), locked: Sequence[int] = (10, 14), **kwargs: Any
    ):
        self._kinds = {"open": open, "locked": locked}
        super().__init__(**kwargs)

    def make_tasks(self) -> LockedMazeTasks:
        """Returns the mazes of the chosen sizes."""
        return LockedMazeTasks(self._kinds)

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Puts the agent into the start room. A locked door and the key are in their places."""
        self._lock: Lock | None = task.data["maze"].lock
        self._held = False
        return super().begin(task, rng)

    def act(self, action: str) -> Outcome:
        """Moves, takes, unlocks a door, or explains why the action failed."""
        verb, rest = words(action)
        if verb == "go" and rest in self._doors():
            return self._outcome(f"A locked door.\n{self._look()}")
        if verb == "take" and rest.removeprefix("the ") == "key":
            return self._outcome(f"{self._take_key()}\n{self._look()}")
        if verb == "unlock" and rest in MOVES:
            return self._outcome(f"{self._unlock(rest)}\n{self._look()}")
        return super().act(action)

    def actions(self) -> list[str]:
        """Returns the actions of a maze, and an ``unlock`` action per locked door of the room.

        The ``unlock`` actions are listed with or without the key.
        """
        return super().actions() + [f"unlock {d}" for d in self._doors()]

    def oracle(self) -> Iterator[str]:
        """Yields the shortest walk to the thing; a locked maze needs the key and the door first."""
        if self._lock and not self._held:
            yield from self._walk(self._lock.key)
            yield "take key"
        if self._lock:
            yield from self._walk(self._lock.near)
            yield from (f"unlock {d}" for d in self._doors())
        yield from super().oracle()

    def _doors(self) -> list[str]:
        """Returns the locked exits of the current room."""
        ends = {self._lock.near, self._lock.far} if self._lock else set()
        return [
            d for d in self._maze.exits[self._room] if {self._room, move(self._room, d)} == ends
        ]

    def _take_key(self) -> str:
        if "key" not in self._here():
            return "No key here."
        self._held = True
        return "Taken: key."

    def _unlock(self, direction: str) -> str:
        if direction not in self._doors():
            return "No locked door there."
        if not self._held:
            return "You have no key."
        self._lock, self._held = None, False  # the key stays in the door
        return f"Unlocked: {direction}."

    def _here(self) -> list[str]:
        key = ["key"] if self._lock and not self._held and self._lock.key == self._room else []
        return super()._here() + key

    def _exits(self) -> list[str]:
        doors = self._doors()
        return [f"{d} (locked)" if d in doors else d for d in super()._exits()]

    def _look(self) -> str:
        return super()._look() + ("\nYou have: key" if self._held else "")
