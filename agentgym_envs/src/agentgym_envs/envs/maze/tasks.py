"""Mazes: random trees of rooms on a grid, with things in dead ends.

The task id defines the maze. ``rooms8-things1-test-17`` is test maze number 17 of eight rooms with
one thing. The hash of a layout decides its split, so no layout occurs in two splits. The listed
mazes of a split differ from each other. Small sizes have few layouts and list fewer mazes (see
``repeats.py``).
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
"""Numbers that training draws from, per kind."""
SMALLEST, LARGEST = 3, 64
"""Limits of the number of rooms in a maze."""
NEAREST = 8
"""The nearest thing is at least ``rooms // NEAREST`` moves from the start.

So no thing lies next to the start of a large maze.
"""
MOVES = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
_BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}
THINGS = ("lamp", "coin", "book", "rope")
_ID = re.compile(r"(.+)-(train|dev|test)-(0|[1-9]\d{0,9})", re.ASCII)
_KIND = re.compile(r"rooms([1-9]\d{0,3})-things(\d)", re.ASCII)

Room = tuple[int, int]


@dataclass(frozen=True)
class MazeLock:
    """A locked door or another barrier between two rooms, and the room of its key or tool."""

    near: Room
    """The room on the start's side of the barrier."""
    far: Room
    key: Room


@dataclass(frozen=True)
class MazeLayout:
    """A layout: the exits of every room, the room of each thing, the start room, and the locks.

    The locks are in the order in which the path from the start to the thing meets them.
    """

    exits: dict[Room, tuple[str, ...]]
    things: dict[str, Room]
    start: Room
    locks: tuple[MazeLock, ...] = ()

    def key(self) -> str:
        """Returns a text that is equal for equal mazes only.

        The mazes of all ids and ``repeats.txt`` depend on its form, so the form must not change.
        """
        rooms = ";".join(
            f"{x},{y}:{''.join(e[0] for e in exits)}"
            for (x, y), exits in sorted(self.exits.items())
        )
        locks = "".join(f"|Lock(near={k.near}, far={k.far}, key={k.key})" for k in self.locks)
        return f"{rooms}|{sorted(self.things.items())}|{self.start}{locks}"


def move(room: Room, direction: str) -> Room:
    """Returns the neighbouring room in a direction.

    >>> move((0, 0), "north")
    (0, 1)
    """
    dx, dy = MOVES[direction]
    return room[0] + dx, room[1] + dy


def path(maze: MazeLayout, start: Room, goal: Room) -> list[str]:
    """Returns the directions of a shortest path between two rooms, by breadth-first search."""
    came_from: dict[Room, tuple[Room, str] | None] = {start: None}
    queue = deque([start])
    while queue and goal not in came_from:
        room = queue.popleft()
        for direction in maze.exits[room]:
            if (neighbour := move(room, direction)) not in came_from:
                came_from[neighbour] = (room, direction)
                queue.append(neighbour)
    directions: list[str] = []
    while step := came_from[goal]:
        goal, direction = step
        directions.append(direction)
    return directions[::-1]


def trails(maze: MazeLayout) -> dict[Room, tuple[Room, ...]]:
    """Returns the path from the start to each room, as rooms, both ends included."""
    found: dict[Room, tuple[Room, ...]] = {maze.start: (maze.start,)}
    queue = [maze.start]
    for room in queue:
        for neighbour in (move(room, direction) for direction in maze.exits[room]):
            if neighbour not in found:
                found[neighbour] = (*found[room], neighbour)
                queue.append(neighbour)
    return found


def grow(rooms: int, things: int, rng: random.Random, *, onward: float = 0.85) -> MazeLayout:
    """Returns a random tree of rooms that starts at (0, 0).

    Things lie in different dead ends if there are enough dead ends, else in any rooms.

    Args:
        rooms: number of rooms.
        things: number of things, fewer than ``rooms``.
        rng: source of all random choices.
        onward: probability that the next room is attached to the newest room. A high value makes
            long corridors and deep dead ends.
    """
    exits: dict[Room, set[str]] = {(0, 0): set()}
    away = {(0, 0): 0}  # moves from the start
    last = (0, 0)
    while len(exits) < rooms:
        room = last if rng.random() < onward else rng.choice(list(exits))
        direction = rng.choice(list(MOVES))
        neighbour = move(room, direction)
        # A room has at most three exits: wider crossings make random play succeed by luck.
        if neighbour in exits or len(exits[room]) == 3:
            continue
        exits[room].add(direction)
        exits[neighbour] = {_BACK[direction]}
        away[neighbour] = away[room] + 1
        last = neighbour
    ordered = {room: tuple(d for d in MOVES if d in exits[room]) for room in exits}
    candidates = [r for r in ordered if r != (0, 0)]
    ends = [r for r in candidates if len(ordered[r]) == 1 and away[r] >= rooms // NEAREST]
    places = rng.sample(ends, things) if len(ends) >= things else rng.sample(candidates, things)
    return MazeLayout(ordered, dict(zip(THINGS, places, strict=False)), (0, 0))


Grow = Callable[[random.Random], MazeLayout]


class NumberedMazes(TaskSet, ABC):
    """Endless mazes of some kinds. An id is ``KIND-SPLIT-NUMBER``.

    Args:
        kinds: the kinds to list, such as "rooms8-things1".
    """

    def __init__(self, kinds: Sequence[str]):
        self._kinds = kinds
        self._ids = {
            split: tuple(i for kind in kinds for i in _listed_ids(kind, split)) for split in LISTED
        }

    @abstractmethod
    def kind(self, name: str) -> tuple[int, Grow] | None:
        """Returns the difficulty of a kind and the function that generates its mazes.

        Returns:
            None if the name does not have the form of a kind.

        Raises:
            TaskError: a number in the name is out of range.
        """

    def get(self, task_id: str) -> Task:
        """Builds the maze of an id. The id can have another size than those of the environment."""
        name, split, number, difficulty, grow_one = self._read(task_id)
        skipped = listed(name, split).skipped.get(number, 0)
        maze = next(islice(layouts(task_id, grow_one, split), skipped, None))
        return Task(id=task_id, split=split, difficulty=difficulty, data={"maze": maze})

    def difficulty(self, task_id: str) -> int:
        """Returns the difficulty of the maze's kind."""
        return self._read(task_id)[3]

    def _read(self, task_id: str) -> tuple[str, str, int, int, Grow]:
        match = _ID.fullmatch(check_id(task_id))
        kind = self.kind(match[1]) if match else None
        if not match or not kind:
            raise TaskError(
                f"unknown task {shown(task_id)}; an id looks like {self._ids['train'][0]!r}"
            )
        name, split, number = match[1], match[2], int(match[3])
        if split != "train" and number >= (listed_here := listed(name, split).mazes):
            raise TaskError(
                f"unknown task {shown(task_id)}; split {split!r} of {name} has numbers below"
                f" {listed_here}"
            )
        return name, split, number, *kind

    def draw(self, rng: random.Random, ids: Sequence[str], *, filtered: bool) -> str:
        """Returns the id of a random maze. All kinds are equally likely.

        The number of a training maze is below ``DRAWN``; dev and test draw listed mazes only. If
        the user filtered the tasks, all remaining ids are equally likely.
        """
        if filtered:
            return super().draw(rng, ids, filtered=filtered)
        _, split, *_ = self._read(ids[0])
        kinds = [kind for kind in self._kinds if listed(kind, split).mazes]
        place, number = divmod(rng.randrange(len(kinds) * LISTED[split]), LISTED[split])
        kind = kinds[place]
        maze = rng.randrange(DRAWN) if split == "train" else number % listed(kind, split).mazes
        return f"{kind}-{split}-{maze}"


class MazeTasks(NumberedMazes):
    """All mazes of the given sizes.

    Args:
        rooms: numbers of rooms, each from 3 to 64.
        things: number of things in each maze, from 1 to 4.

    Raises:
        TaskError: a number is out of range or listed twice, or ``rooms`` is empty.
    """

    def __init__(self, rooms: Sequence[int], things: int):
        check_list(rooms, "rooms")
        for n in rooms:
            _check(n, things)
        if not rooms:
            raise TaskError("rooms must name at least one size, such as rooms=[8]")
        super().__init__([f"rooms{n}-things{things}" for n in rooms])

    def kind(self, name: str) -> tuple[int, Grow] | None:
        """Reads a name such as ``rooms8-things1``. The difficulty is the number of rooms."""
        if not (match := _KIND.fullmatch(name)):
            return None
        rooms, things = int(match[1]), int(match[2])
        _check(rooms, things)
        return rooms, lambda rng: grow(rooms, things, rng)


def check_list(sizes: object, keyword: str) -> None:
    """Checks that a keyword's value is a list without repeated sizes.

    Raises:
        TaskError: it is not.
    """
    if not isinstance(sizes, Sequence) or isinstance(sizes, str):
        raise TaskError(f"{keyword} takes a list of sizes, such as {keyword}=[8], not {sizes!r}")
    if len(set(sizes)) < len(sizes):
        raise TaskError(f"{keyword}={list(sizes)} has a size twice; list each size once")


def check_size(rooms: int, least: int, keyword: str) -> None:
    """Checks that a keyword's size is a whole number from ``least`` to 64.

    Raises:
        TaskError: it is not.
    """
    if not isinstance(rooms, int) or not least <= rooms <= LARGEST:
        raise TaskError(f"{keyword} must be whole numbers from {least} to {LARGEST}, not {rooms!r}")


def _check(rooms: int, things: int) -> None:
    check_size(rooms, SMALLEST, "rooms")
    if not 1 <= things <= min(len(THINGS), rooms - 1):
        raise TaskError(
            f"things must be from 1 to {len(THINGS)} and fewer than the rooms, not {things!r}"
        )


def _listed_ids(kind: str, split: str) -> list[str]:
    return [f"{kind}-{split}-{number}" for number in range(listed(kind, split).mazes)]


def layouts(
    task_id: str, grow_one: Grow, split: str, tries: int | None = None
) -> Iterator[MazeLayout]:
    """Yields the mazes of a split that the random numbers of an id generate.

    Dev and test each hold one layout in ten, so most generated mazes belong to training.

    Args:
        task_id: seed of the random numbers.
        grow_one: generates a maze of the id's kind.
        split: the split of the mazes to yield.
        tries: number of mazes to generate, other splits included. None means no limit.
    """
    rng = random.Random(task_id)
    for _ in count() if tries is None else range(tries):
        maze = grow_one(rng)
        if split_of(maze.key()) == split:
            yield maze
