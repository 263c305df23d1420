"""Mazes with barriers on the path to the thing: the base of LockedMaze and TieredMaze."""

import random
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from agentgym_envs.core import Outcome
from agentgym_envs.envs.maze.env import MazeEnv, words
from agentgym_envs.envs.maze.tasks import MOVES, MazeLock, move
from agentgym_envs.tasks import Task


class BarrierKind(NamedTuple):
    """A kind of barrier, as the texts of its environment name it.

    Attributes:
        name: the barrier, such as "locked door".
        mark: follows the direction in the list of exits, such as "locked".
        tool: the thing that opens the barrier, such as "key".
        verb: opens the barrier, such as "unlock".
        opened: reports success, such as "Unlocked".
    """

    name: str
    mark: str
    tool: str
    verb: str
    opened: str


DOOR = BarrierKind("locked door", "locked", "key", "unlock", "Unlocked")


class BarrierMazeEnv(MazeEnv):
    """A maze whose locks are barriers of different kinds, one after another.

    The tool of a barrier lies behind the previous barrier and stays at its barrier, so the agent
    has at most one tool.
    """

    barriers: ClassVar[tuple[BarrierKind, ...]]
    """The kinds in the order of the locks of a maze."""

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Puts the agent into the start room. Barriers and tools are in their places."""
        locks: tuple[MazeLock, ...] = task.data["maze"].locks
        self._closed = list(zip(self.barriers, locks, strict=False))
        self._held = False  # whether the agent has the tool of the first closed barrier
        return super().begin(task, rng)

    def act(self, action: str) -> Outcome:
        """Moves, takes, opens a barrier, or explains why the action failed."""
        verb, rest = words(action)
        if verb == "go" and rest in self._closed_exits():
            return self._outcome(f"A {self._closed[0][0].name}.\n{self._look()}")
        for barrier in self.barriers:
            if verb == "take" and rest.removeprefix("the ") == barrier.tool:
                return self._outcome(f"{self._take_tool(barrier.tool)}\n{self._look()}")
            if verb == barrier.verb and rest in MOVES:
                return self._outcome(f"{self._open(barrier, rest)}\n{self._look()}")
        return super().act(action)

    def actions(self) -> list[str]:
        """Returns the actions of a maze, and the verb of every kind of barrier per closed exit.

        The list shows neither the right verb nor whether the agent has the tool.
        """
        return super().actions() + [
            f"{b.verb} {d}" for d in self._closed_exits() for b in self.barriers
        ]

    def oracle(self) -> Iterator[str]:
        """Yields the shortest walk to the thing, by way of each tool and each barrier."""
        for barrier, lock in list(self._closed):
            if not self._held:
                yield from self._walk(lock.key)
                yield f"take {barrier.tool}"
            yield from self._walk(lock.near)
            yield from (f"{barrier.verb} {d}" for d in self._closed_exits())
        yield from super().oracle()

    def _closed_exits(self) -> list[str]:
        """Returns the closed exits of the current room: none or one.

        Later barriers are out of reach.
        """
        ends = {self._closed[0][1].near, self._closed[0][1].far} if self._closed else set()
        return [
            d for d in self._maze.exits[self._room] if {self._room, move(self._room, d)} == ends
        ]

    def _take_tool(self, tool: str) -> str:
        if tool not in self._here():
            return f"No {tool} here."
        self._held = True
        return f"Taken: {tool}."

    def _open(self, barrier: BarrierKind, direction: str) -> str:
        if direction not in self._closed_exits() or barrier != self._closed[0][0]:
            return f"No {barrier.name} there."
        if not self._held:
            return f"You have no {barrier.tool}."
        del self._closed[0]
        self._held = False
        return f"{barrier.opened}: {direction}."

    def _here(self) -> list[str]:
        tools = [
            b.tool for b, lock in self._closed[:1] if lock.key == self._room and not self._held
        ]
        return super()._here() + tools

    def _exits(self) -> list[str]:
        closed = self._closed_exits()
        return [f"{d} ({self._closed[0][0].mark})" if d in closed else d for d in super()._exits()]

    def _look(self) -> str:
        return super()._look() + (f"\nYou have: {self._closed[0][0].tool}" if self._held else "")
