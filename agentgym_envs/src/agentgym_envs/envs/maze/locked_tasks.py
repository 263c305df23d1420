"""Mazes of which some have a locked door on the only way to the thing.

A task id says everything: ``open4-train-17`` is a maze of four rooms with nothing locked, ``locked8-test-3`` one of eight
rooms with a door. The door's key lies on the near side in a dead end off the way to the thing.
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
    Lock,
    Maze,
    NumberedMazes,
    Room,
    check_list,
    check_size,
    grow,
    move,
    path,
)
from agentgym_envs.errors import TaskError

SIDE = 3
"""The fewest rooms on either side of a door."""
HARDER = 4
"""Rooms that a door and its key count for in the difficulty, which then is about the oracle's turns."""
_KIND = re.compile(r"(open|locked)([1-9]\d{0,3})", re.ASCII)
LEAST = {"open": SMALLEST, "locked": 2 * SIDE}


def grow_locked(rooms: int, rng: random.Random) -> Maze:
    """Returns a random tree of ``rooms`` rooms with one thing behind a door; thing and key where the whole way is longest."""
    while True:
        maze = grow(rooms, 1, rng)
        if options := list(_options(maze)):
            longest = max(turns for turns, _, _ in options)
            thing, lock = rng.choice([(thing, lock) for turns, thing, lock in options if turns == longest])
            return replace(maze, things={THINGS[0]: thing}, lock=lock)


def _options(maze: Maze) -> Iterator[tuple[int, Room, Lock]]:
    """Yields the moves by way of the key, where the thing may lie, and the lock."""
    trails = _trails(maze)
    beyond = Counter(chain(*trails.values()))  # rooms to which the way leads through a room
    # The longest ways lead to dead ends: to look at no others saves time and changes nothing.
    ends = [room for room in trails if len(maze.exits[room]) == 1]
    for thing in ends:
        trail = trails[thing]
        for key in ends:
            if key in trail:
                continue
            moves = len(trails[key]) - 1 + len(path(maze, key, thing))
            for near, far in pairwise(trail):
                if far not in trails[key] and SIDE <= beyond[far] <= len(trails) - SIDE:
                    yield moves, thing, Lock(near, far, key)


def _trails(maze: Maze) -> dict[Room, tuple[Room, ...]]:
    """Returns the rooms on the way from the start to each room, both included."""
    found: dict[Room, tuple[Room, ...]] = {maze.start: (maze.start,)}
    queue = [maze.start]
    for room in queue:
        for there in (move(room, direction) for direction in maze.exits[room]):
            if there not in found:
                found[there] = (*found[room], there)
                queue.append(there)
    return found


class LockedMazeTasks(NumberedMazes):
    """All mazes of the given sizes.

    Args:
        sizes: by "open" and "locked", rooms a maze: from 3 to 64 without a lock, from 6 to 64 with one.

    Raises:
        TaskError: a size that cannot be, or no size at all.
    """

    def __init__(self, sizes: dict[str, Sequence[int]]):
        for name, chosen in sizes.items():
            check_list(chosen, name)
        kinds = [(name, rooms) for name, chosen in sizes.items() for rooms in chosen]
        for name, rooms in kinds:
            check_size(rooms, LEAST[name], name)
        if not kinds:
            raise TaskError("open and locked are both empty: name at least one size, such as open=[4]")
        super().__init__([f"{name}{rooms}" for name, rooms in kinds])

    def kind(self, name: str) -> tuple[int, Grow] | None:
        """Reads ``locked8``: the difficulty is the number of rooms, and ``HARDER`` more with a lock."""
        if not (match := _KIND.fullmatch(name)):
            return None
        rooms = int(match[2])
        check_size(rooms, LEAST[match[1]], match[1])
        if match[1] == "open":
            return rooms, lambda rng: grow(rooms, 1, rng)
        return rooms + HARDER, lambda rng: grow_locked(rooms, rng)
