"""``agentgym/Maze-v1``: find things in a maze. The agent sees the current room only."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, command, echo
from agentgym_envs.envs.maze.tasks import (
    MOVES,
    MazeLayout,
    MazeTasks,
    NumberedMazes,
    Room,
    move,
    path,
)
from agentgym_envs.tasks import Task


class MazeEnv(TextEnv):
    """The agent takes things in a partly visible maze.

    The idea comes from the maze of LMRL-Gym (Abdulhai et al., 2023). The rules are different.

    Args:
        rooms: maze sizes in rooms. A task's size is its difficulty. All sizes are equally
            likely.
        things: number of things in each maze. The score is the share of
            them that the agent has taken.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a maze of rooms. Find and take every thing that the goal names.\nEach turn"
        " shows the exits of the room you are in and what lies there.\nAnswer with one action and"
        " nothing else: go north, go east, go south, go west, or take <thing>."
    )

    tools = {
        "go": "go {direction}",
        "take": "take {thing}",
    }

    def __init__(self, *, rooms: Sequence[int] = (14, 16, 18, 20), things: int = 1, **kwargs: Any):
        self._sizes, self._count = rooms, things
        super().__init__(**kwargs)

    def make_tasks(self) -> NumberedMazes:
        """Returns the mazes of the chosen sizes."""
        return MazeTasks(self._sizes, self._count)

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Puts the agent into the start room; returns the first observation and the goal."""
        self._maze: MazeLayout = task.data["maze"]
        self._room: Room = self._maze.start
        self._left: dict[str, Room] = dict(self._maze.things)
        goal = "take the " + " and the ".join(self._left)
        return f"Goal: {goal}\n{self._look()}", goal

    def act(self, action: str) -> Outcome:
        """Moves the agent or takes a thing. If that fails, the observation says why."""
        verb, rest = words(action)
        if verb == "go" and rest in MOVES:
            if rest not in self._maze.exits[self._room]:
                return self._outcome(f"A wall.\n{self._look()}")
            self._room = move(self._room, rest)
            return self._outcome(self._look())
        if verb == "take" and rest.removeprefix("the ") in self._maze.things:
            thing = rest.removeprefix("the ")
            if self._left.get(thing) != self._room:
                return self._outcome(f"No {thing} here.\n{self._look()}")
            del self._left[thing]
            return self._outcome(f"Taken: {thing}." + (f"\n{self._look()}" if self._left else ""))
        return self._outcome(f"Not an action: {echo(action)}\n{self._look()}", invalid=True)

    def actions(self) -> list[str]:
        """Returns one ``go`` action per exit and one ``take`` action per thing in the room."""
        return [f"go {d}" for d in self._maze.exits[self._room]] + [
            f"take {t}" for t in self._here()
        ]

    def oracle(self) -> Iterator[str]:
        """Yields a shortest walk to each thing in the order of the goal, and takes the thing."""
        for thing, place in list(self._left.items()):
            yield from self._walk(place)
            yield f"take {thing}"

    def _walk(self, place: Room) -> Iterator[str]:
        return (f"go {direction}" for direction in path(self._maze, self._room, place))

    def _exits(self) -> list[str]:
        return list(self._maze.exits[self._room])

    def _here(self) -> list[str]:
        return [t for t, place in self._left.items() if place == self._room]

    def _look(self) -> str:
        here = "".join(f"\nHere: {t}" for t in self._here())
        return f"Exits: {' '.join(self._exits())}{here}"

    def _outcome(self, text: str, *, invalid: bool = False) -> Outcome:
        score = 1 - len(self._left) / len(self._maze.things)
        return Outcome(text, score, done=not self._left, success=not self._left, invalid=invalid)


def words(action: str) -> tuple[str, str]:
    """Splits an action into first word and rest, in lower case with single spaces."""
    verb, _, rest = command(action, 100).lower().partition(" ")
    return verb, rest
