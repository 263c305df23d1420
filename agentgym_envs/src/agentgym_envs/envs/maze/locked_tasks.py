"""Mazes with and without a locked door on the only path to the thing.

The task id defines the maze. ``open4-train-17`` is a maze of four rooms without a lock.
``locked8-test-3`` is a maze of eight rooms with a locked door. The key lies on the start's side of
the door, in a dead end off the path to the thing.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from agentgym_envs.envs.maze.tasks import (
    SMALLEST,
    THINGS,
    Grow,
    MazeLayout,
    MazeLock,
    NumberedMazes,
    Room,
    check_list,
    check_size,
    grow,
    path,
    trails,
)
from agentgym_envs.errors import TaskError

SIDE = 3
"""Minimum number of rooms on each side of a door."""
HARDER = 4
"""Added to the number of rooms for the difficulty of a locked maze.

The difficulty is then about the mean number of turns that the oracle needs.
"""
_KIND = re.compile(r"(open|locked)([1-9]\d{0,3})", re.ASCII)
LEAST = {"open": SMALLEST, "locked": 2 * SIDE}
"""Minimum number of rooms of each kind."""


def grow_locked(rooms: int, rng: random.Random) -> MazeLayout:
    """Returns a random tree of rooms with one thing behind a locked door.

    The places of thing and key make the shortest solution as long as this tree allows. Trees
    without room for a lock are discarded.

    Args:
        rooms: number of rooms, at least 6.
        rng: source of all random choices.
    """
    while True:
        maze = grow(rooms, 1, rng)
        if options := list(_options(maze)):
            longest = max(turns for turns, _, _ in options)
            thing, lock = rng.choice(
                [(thing, lock) for turns, thing, lock in options if turns == longest]
            )
            return replace(maze, things={THINGS[0]: thing}, locks=(lock,))


def _options(maze: MazeLayout) -> Iterator[tuple[int, Room, MazeLock]]:
    """Yields the possible locks: moves from start to key to thing, room of the thing, and lock."""
    trail_to = trails(maze)
    beyond = Counter(chain(*trail_to.values()))  # room -> number of rooms behind it
    # The longest paths end in dead ends, so only dead ends are tried.
    ends = [room for room in trail_to if len(maze.exits[room]) == 1]
    for thing in ends:
        trail = trail_to[thing]
        for key in ends:
            if key in trail:
                continue
            moves = len(trail_to[key]) - 1 + len(path(maze, key, thing))
            for near, far in pairwise(trail):
                if far not in trail_to[key] and SIDE <= beyond[far] <= len(trail_to) - SIDE:
                    yield moves, thing, MazeLock(near, far, key)


class LockedMazeTasks(NumberedMazes):
    """All mazes of the given sizes.

    Args:
        sizes: numbers of rooms under "open" (3 to 64, without a lock) and "locked" (6 to 64).

    Raises:
        TaskError: a size is out of range or listed twice, or both lists are empty.
    """

    def __init__(self, sizes: dict[str, Sequence[int]]):
        for name, chosen in sizes.items():
            check_list(chosen, name)
        kinds = [(name, rooms) for name, chosen in sizes.items() for rooms in chosen]
        for name, rooms in kinds:
            check_size(rooms, LEAST[name], name)
        if not kinds:
            raise TaskError(
                "open and locked are both empty: name at least one size, such as open=[4]"
            )
        super().__init__([f"{name}{rooms}" for name, rooms in kinds])

    def kind(self, name: str) -> tuple[int, Grow] | None:
        """Reads a name such as ``locked8``.

        The difficulty is the number of rooms, plus ``HARDER`` with a lock.
        """
        if not (match := _KIND.fullmatch(name)):
            return None
        rooms = int(match[2])
        check_size(rooms, LEAST[match[1]], match[1])
        if match[1] == "open":
            return rooms, lambda rng: grow(rooms, 1, rng)
        return rooms + HARDER, lambda rng: grow_locked(rooms, rng)
