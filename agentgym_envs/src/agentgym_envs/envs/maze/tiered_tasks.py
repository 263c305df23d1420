"""Mazes in four tiers: tier n has a chain of n barriers on the only path to the thing.

The task id defines the maze. ``tier2-test-3`` is a maze with two barriers. The tool of each barrier
lies in a dead end off the path, between the previous barrier and its own.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, pairwise

from agentgym_envs.envs.maze.tasks import (
    THINGS,
    Grow,
    MazeLayout,
    MazeLock,
    NumberedMazes,
    Room,
    grow,
    trails,
)
from agentgym_envs.errors import TaskError

SIDE = 3
"""Smallest number of rooms before, between and behind the barriers."""
ROOMS = 20
"""Number of rooms in each maze."""
TURNS = (range(2, 4), range(9, 11), range(16, 20), range(24, 29))
"""Numbers of turns that the shortest solution can have, by tier."""
ONWARD = 0.3
"""Probability that a tree grows from its newest room.

A low value makes many short dead ends, which hold the tools.
"""
TIERS = {f"tier{tier}": tier for tier in range(len(TURNS))}
"""Number of barriers by the name of the tier."""

Trail = tuple[Room, ...]
ToolPlace = tuple[int, Room]
"""Index of the room in a trail at which the way to a tool branches off, and the tool's room."""


def grow_tier(tier: int, rng: random.Random) -> MazeLayout:
    """Returns a random tree of rooms with a chain of barriers before one thing.

    Trees whose chain breaks a rule of the tier are discarded.

    Args:
        tier: number of barriers.
        rng: source of all random choices.
    """
    while True:
        maze = grow(ROOMS, 1, rng, onward=ONWARD)
        trail_to = trails(maze)
        beyond = Counter(chain(*trail_to.values()))  # room -> number of rooms behind it
        chains = list(_chains(maze, trail_to, tier))
        for trail, tools in rng.sample(chains, len(chains)):
            locks = tuple(_locks(trail, tools, rng))
            behind = [ROOMS, *(beyond[lock.far] for lock in locks), 0]
            if all(near - far >= SIDE for near, far in pairwise(behind)):
                return replace(maze, things={rng.choice(THINGS): trail[-1]}, locks=locks)


def _chains(
    maze: MazeLayout, trail_to: dict[Room, Trail], tier: int
) -> Iterator[tuple[Trail, tuple[ToolPlace, ...]]]:
    """Yields the possible places of thing and tools, as the trail to the thing and the tools."""
    ends = [room for room in trail_to if len(maze.exits[room]) == 1 and room != maze.start]
    for thing in ends:
        trail = trail_to[thing]
        places = sorted((_branch(trail, trail_to[end]), end) for end in ends if end != thing)
        for tools in combinations(places, tier):
            detours = sum(len(trail_to[room]) - 1 - branch for branch, room in tools)
            turns = len(trail) - 1 + 2 * detours + 2 * tier + 1
            if turns in TURNS[tier] and all(one[0] < other[0] for one, other in pairwise(tools)):
                yield trail, tools


def _locks(trail: Trail, tools: tuple[ToolPlace, ...], rng: random.Random) -> Iterator[MazeLock]:
    """Yields a barrier per tool, between the branch to the tool and the next branch."""
    branches = [*(branch for branch, _ in tools), len(trail) - 1]
    for (branch, room), following in zip(tools, branches[1:], strict=True):
        near = rng.randrange(branch, following)
        yield MazeLock(trail[near], trail[near + 1], room)


def _branch(trail: Trail, other: Trail) -> int:
    """Returns the index of the last room that two trails share."""
    return sum(room in trail for room in other) - 1


class TieredMazeTasks(NumberedMazes):
    """All mazes of the given tiers.

    Args:
        tiers: numbers from 0 to 3.

    Raises:
        TaskError: a number is out of range or listed twice, or there is none.
    """

    def __init__(self, tiers: Sequence[int]):
        chosen = tiers if isinstance(tiers, Sequence) and not isinstance(tiers, str) else ()
        kinds = [f"tier{tier}" for tier in chosen]
        if not kinds or len(set(kinds)) < len(kinds) or set(kinds) - TIERS.keys():
            raise TaskError(
                f"tiers must be a list of different numbers from 0 to {len(TURNS) - 1}, such as"
                f" tiers=[0, 1], not {tiers!r}"
            )
        super().__init__(kinds)

    def kind(self, name: str) -> tuple[int, Grow] | None:
        """Reads a name such as ``tier2``. The difficulty is the tier."""
        if name not in TIERS:
            return None
        tier = TIERS[name]
        return tier, lambda rng: grow_tier(tier, rng)
