"""Mazes: random trees of rooms on a grid, with things that lie in dead ends.

A task id says everything: ``rooms8-things1-test-17`` is the 17th held-out maze of eight rooms with one thing. Which split
a layout belongs to is decided by its hash, so no maze of one split, under whatever number, occurs in another. The listed
mazes of a split differ from each other; small sizes have few layouts and list fewer mazes (see ``repeats.py``).
"""

import random
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from agentgym_envs.envs.maze.repeats import LISTED, listed
from agentgym_envs.errors import TaskError, shown
from agentgym_envs.tasks import Task, TaskSet, check_id, split_of

DRAWN = 2**31
SMALLEST, LARGEST = 3, 64
"""Rooms a maze."""
NEAREST = 8
"""Rooms for each move that the nearest thing is away at least: it is never next to the start of a large maze."""
MOVES = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
_BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}
THINGS = ("lamp", "coin", "book", "rope")
_ID = re.compile(r"(.+)-(train|dev|test)-(0|[1-9]\d{0,9})", re.ASCII)
_KIND = re.compile(r"rooms([1-9]\d{0,3})-things(\d)", re.ASCII)

Room = tuple[int, int]


@dataclass(frozen=True)
class Lock:
    """A locked door between two rooms, and the room in which its key lies."""

    near: Room
    """The room of the door on the side of the start."""
    far: Room
    key: Room


@dataclass(frozen=True)
class Maze:
    """A layout: the exits of every room, where each thing lies, where the agent starts, and what is locked."""

    exits: dict[Room, tuple[str, ...]]
    things: dict[str, Room]
    start: Room
    lock: Lock | None = None

    def key(self) -> str:
        """Returns a text that two mazes share only if they are the same."""
        rooms = ";".join(f"{x},{y}:{''.join(e[0] for e in exits)}" for (x, y), exits in sorted(self.exits.items()))
        return f"{rooms}|{sorted(self.things.items())}|{self.start}" + (f"|{self.lock}" if self.lock else "")


def move(room: Room, direction: str) -> Room:
    """Returns the neighbouring room."""
    dx, dy = MOVES[direction]
    return room[0] + dx, room[1] + dy


def path(maze: Maze, start: Room, goal: Room) -> list[str]:
    """Returns the directions of a shortest way between two rooms, by breadth-first search."""
    came: dict[Room, tuple[Room, str] | None] = {start: None}
    queue = deque([start])
    while queue and goal not in came:
        room = queue.popleft()
        for direction in maze.exits[room]:
            if (there := move(room, direction)) not in came:
                came[there] = (room, direction)
                queue.append(there)
    way: list[str] = []
    while step := came[goal]:
        goal, direction = step
        way.append(direction)
    return way[::-1]


def grow(rooms: int, things: int, rng: random.Random) -> Maze:
    """Returns a random tree of ``rooms`` rooms that starts at (0, 0), its things in distinct dead ends where there are enough."""
    exits: dict[Room, set[str]] = {(0, 0): set()}
    away = {(0, 0): 0}  # moves from the start
    last = (0, 0)
    while len(exits) < rooms:
        # Mostly from the newest room: long corridors and deep dead ends rather than a bush.
        room = last if rng.random() < 0.85 else rng.choice(list(exits))
        direction = rng.choice(list(MOVES))
        there = move(room, direction)
        # At most three exits a room: wider crossings make random play succeed by luck.
        if there in exits or len(exits[room]) == 3:
            continue
        exits[room].add(direction)
        exits[there] = {_BACK[direction]}
        away[there] = away[room] + 1
        last = there
    ordered = {room: tuple(d for d in MOVES if d in exits[room]) for room in exits}
    others = [r for r in ordered if r != (0, 0)]
    ends = [r for r in others if len(ordered[r]) == 1 and away[r] >= rooms // NEAREST]
    places = rng.sample(ends, things) if len(ends) >= things else rng.sample(others, things)
    return Maze(ordered, dict(zip(THINGS, places, strict=False)), (0, 0))


Grow = Callable[[random.Random], Maze]


class NumberedMazes(TaskSet, ABC):
    """Endless mazes of some kinds: an id is ``KIND-SPLIT-NUMBER``, and the layout's hash decides the split.

    Args:
        kinds: what the ids of the listed mazes begin with, such as "rooms8-things1".
    """

    def __init__(self, kinds: Sequence[str]):
        self._kinds = kinds
        self._ids = {split: tuple(i for kind in kinds for i in _listed_ids(kind, split)) for split in LISTED}

    @abstractmethod
    def kind(self, name: str) -> tuple[int, Grow] | None:
        """Returns the difficulty of a kind and what grows its mazes, or None if there is no such kind.

        Raises:
            TaskError: no maze can be of this kind.
        """

    def get(self, task_id: str) -> Task:
        """Builds the maze that an id names; ids of other sizes than the environment's are welcome too."""
        name, split, number, difficulty, grow_one = self._read(task_id)
        skipped = listed(name, split).skipped.get(number, 0)
        maze = next(islice(layouts(task_id, grow_one, split), skipped, None))
        return Task(id=task_id, split=split, difficulty=difficulty, data={"maze": maze})

    def difficulty(self, task_id: str) -> int:
        """Returns that of the maze's kind."""
        return self._read(task_id)[3]

    def _read(self, task_id: str) -> tuple[str, str, int, int, Grow]:
        match = _ID.fullmatch(check_id(task_id))
        kind = self.kind(match[1]) if match else None
        if not match or not kind:
            raise TaskError(f"unknown task {shown(task_id)}; an id looks like {self._ids['train'][0]!r}")
        name, split, number = match[1], match[2], int(match[3])
        if split != "train" and number >= (listed_here := listed(name, split).mazes):
            raise TaskError(f"unknown task {shown(task_id)}; split {split!r} of {name} has numbers below {listed_here}")
        return name, split, number, *kind

    def draw(self, rng: random.Random, ids: Sequence[str], *, filtered: bool) -> str:
        """Draws each kind with the same chance, for training with an endless number, unless the user named the tasks."""
        if filtered:
            return super().draw(rng, ids, filtered=filtered)
        _, split, *_ = self._read(ids[0])
        kinds = [kind for kind in self._kinds if listed(kind, split).mazes]
        place, number = divmod(rng.randrange(len(kinds) * LISTED[split]), LISTED[split])
        kind = kinds[place]
        return f"{kind}-{split}-{rng.randrange(DRAWN) if split == 'train' else number % listed(kind, split).mazes}"


class MazeTasks(NumberedMazes):
    """All mazes of the given sizes.

    Args:
        rooms: rooms a maze, each from 3 to 64.
        things: things to take in each, from 1 to 4.
    """

    def __init__(self, rooms: Sequence[int], things: int):
        check_list(rooms, "rooms")
        for n in rooms:
            _check(n, things)
        if not rooms:
            raise TaskError("rooms must name at least one size")
        super().__init__([f"rooms{n}-things{things}" for n in rooms])

    def kind(self, name: str) -> tuple[int, Grow] | None:
        """Reads ``rooms8-things1``: the difficulty is the number of rooms."""
        if not (match := _KIND.fullmatch(name)):
            return None
        rooms, things = int(match[1]), int(match[2])
        _check(rooms, things)
        return rooms, lambda rng: grow(rooms, things, rng)


def check_list(sizes: object, what: str) -> None:
    """Refuses what is no list of sizes, or has one twice."""
    if not isinstance(sizes, Sequence) or isinstance(sizes, str):
        raise TaskError(f"{what} takes a list of sizes, such as {what}=[8], not {sizes!r}")
    if len(set(sizes)) < len(sizes):
        raise TaskError(f"{what}={list(sizes)} has a size twice: each is drawn with the same chance")


def check_size(rooms: int, least: int, what: str) -> None:
    """Refuses what is no number of rooms from ``least`` to 64, naming ``what``."""
    if not isinstance(rooms, int) or not least <= rooms <= LARGEST:
        raise TaskError(f"{what} must be whole numbers from {least} to {LARGEST}, not {rooms!r}")


def _check(rooms: int, things: int) -> None:
    check_size(rooms, SMALLEST, "rooms")
    if not 1 <= things <= min(len(THINGS), rooms - 1):
        raise TaskError(f"things must be from 1 to {len(THINGS)} and fewer than the rooms, not {things!r}")


def _listed_ids(kind: str, split: str) -> list[str]:
    return [f"{kind}-{split}-{number}" for number in range(listed(kind, split).mazes)]


def layouts(task_id: str, grow_one: Grow, split: str, tries: int | None = None) -> Iterator[Maze]:
    """Yields the mazes of a split that an id's random numbers grow: dev and test hold one layout in ten each.

    Args:
        task_id: fixes the random numbers.
        grow_one: grows a maze of the id's kind.
        split: whose layouts to yield.
        tries: mazes to grow, those of other splits included; endless without it.
    """
    rng = random.Random(task_id)
    for _ in count() if tries is None else range(tries):
        maze = grow_one(rng)
        if split_of(maze.key()) == split:
            yield maze
