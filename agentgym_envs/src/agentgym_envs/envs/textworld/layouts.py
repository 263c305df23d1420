"""Chooses seeds of games with different layouts, without generating a game.

TextWorld draws a layout from few choices. A coin collector's path of five rooms has 108 layouts,
and a simple game has 8,640, so a thousand seeds repeat many of them. The functions here repeat the
draws of TextWorld 1.7 to compute the layout of a seed.
``tests/envs/envs/test_textworld_tasks.py`` compares them with generated games.
"""

from collections.abc import Callable, Hashable
from functools import cache

from numpy.random import RandomState

STREAMS = ("map", "objects", "quest", "grammar")
"""TextWorld's random streams, each with a seed."""
_DIRECTIONS = ("north", "south", "east", "west")
_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
_FOODS = 6

Layout = Callable[[int], Hashable]


def stream_seeds(seed: int) -> dict[str, int]:
    """Returns the seed of every stream of a game.

    Two games with different seeds below 2**30 share no stream seed.
    """
    return {stream: seed + (number << 30) for number, stream in enumerate(STREAMS)}


def distinct_seeds(first: int, count: int, layout: Layout) -> tuple[int, ...]:
    """Returns the first ``count`` seeds from ``first`` on that have different layouts."""
    found: dict[Hashable, int] = {}
    seed = first
    while len(found) < count:
        found.setdefault(layout(seed), seed)
        seed += 1
    return tuple(found.values())


def coin_rooms(level: int) -> tuple[int, int]:
    """Returns the rooms on the path of a coin collector, and the dead ends beside each of them.

    >>> coin_rooms(115)
    (15, 1)
    """
    return (level - 1) % 100 + 1, (level - 1) // 100


def coin_layouts(level: int) -> int:
    """Returns the number of layouts of a level.

    >>> coin_layouts(5)
    108
    """
    path, ends = coin_rooms(level)
    if path == 1:
        return (1, 4, 6)[ends]
    return int(4 * 3 ** (path - 2) * (1, 3 * 3 * 2 ** (path - 2), 3 * 3)[ends])


def coin_layout(level: int, seed: int) -> Hashable:
    """Returns the layout: the directions of the path, and the free directions of each room."""
    rng = RandomState(stream_seeds(seed)["map"])
    length, ends = coin_rooms(level)
    free = [list(_DIRECTIONS) for _ in range(length)]
    path = []
    for room in range(1, length):
        way = free[room - 1].pop(rng.randint(len(free[room - 1])))
        free[room].remove(_OPPOSITE[way])
        path.append(way)
    for room in [*range(length)] * ends:
        free[room].pop(rng.randint(len(free[room])))
    return tuple(path), tuple(map(tuple, free))


SIMPLE_LAYOUTS = 8640
"""Number of layouts: 720 orders of six foods, two places of the key, six foods to cook."""


def simple_layout(seed: int) -> Hashable:
    """Returns the layout: the places of the foods, the place of the key and the food to cook."""
    rng = RandomState(stream_seeds(seed)["quest"])
    names = list(range(_FOODS))
    rng.shuffle(names)
    return tuple(names), bool(rng.rand() > 0.5), int(rng.choice(_FOODS))


@cache
def coin_seeds(level: int, first: int, count: int) -> tuple[int, ...]:
    """Returns seeds of coin collectors with different layouts, at most ``count``."""
    return distinct_seeds(
        first, min(count, coin_layouts(level)), lambda seed: coin_layout(level, seed)
    )


@cache
def simple_seeds(first: int, count: int) -> tuple[int, ...]:
    """Returns seeds of simple games with different layouts."""
    return distinct_seeds(first, min(count, SIMPLE_LAYOUTS), simple_layout)
