"""What the agent sees, in AgentGym's words.

The view is the 7 × 7 cells before the agent: row 0 is the farthest, row 6 the agent's own, column 3 straight ahead. A set of
cells is an integer with one bit a cell, eight bits a row: the eighth column stays empty, so that a shift never leads from one row
into another.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

SIZE = 7
STRIDE = SIZE + 1
_NOTHING_SEEN = "You cannot see any objects within sight."
MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))  # minigrid's directions: east, south, west, north
CELLS = [(row, column) for row in range(SIZE) for column in range(SIZE)]
BITS = [1 << STRIDE * row + column for row, column in CELLS]
OWN = BITS[CELLS.index((SIZE - 1, SIZE // 2))]
FRONT = CELLS.index((SIZE - 2, SIZE // 2))
STRAIGHT = sum(1 << STRIDE * row + SIZE // 2 for row in range(SIZE - 1))
PLACES = [(SIZE - 1 - row, column - SIZE // 2) for row, column in CELLS]  # steps ahead and to the right
# Numbers go to the nearest first; of the equally near, to the farthest ahead, then to the leftmost.
RANKS = [(ahead + abs(right), -ahead, right) for ahead, right in PLACES]


def _where(ahead: int, right: int) -> str:
    if right == 0:
        return f"right in front of you {ahead} steps away"
    return f"{ahead} steps in front of you and {abs(right)} steps to your {'left' if right < 0 else 'right'}"


WORDS = [_where(*place) for place in PLACES]


class Thing(NamedTuple):
    """An object in sight.

    Attributes:
        label: colour, state of a door, kind, and a number that tells things of one name apart; as actions name it.
        cell: index of its place in ``CELLS``.
        object: minigrid's.
    """

    label: str
    cell: int
    object: Any


class View:
    """One look at a level.

    Attributes:
        things: what is in sight, walls apart, the nearest first.
        seen: visible cells.
        free: visible cells that can be walked on, the agent's own included.
        barrier: kind of the nearest wall or box straight ahead and the steps to it, or None.
        front: what is on the cell before the agent, or None.
        carrying: what the agent holds, or None.
    """

    def __init__(self, level: Any):
        grid, (x, y) = level.grid, level.agent_pos
        everything, window = grid.grid, _window(grid.width, grid.height, int(x), int(y), int(level.agent_dir))
        cells = [everything[n] for n in window]
        opaque = solid = barriers = 0
        found = []
        for n, cell in enumerate(cells):
            if cell is None:
                continue
            bit = BITS[n]
            if cell.type == "wall":
                opaque |= bit
                barriers |= bit
                continue
            found.append(n)
            if cell.type == "box":
                barriers |= bit
            if not cell.see_behind():
                opaque |= bit
            if not cell.can_overlap():
                solid |= bit
        self.seen = visible(opaque)
        self.free = (self.seen & ~(solid | barriers)) | OWN
        self.things = _things([n for n in found if BITS[n] & self.seen & ~OWN], cells)
        barriers &= self.seen & STRAIGHT
        row = (barriers.bit_length() - 1) // STRIDE
        self.barrier = (cells[row * SIZE + SIZE // 2].type, SIZE - 1 - row) if barriers else None
        self.front = cells[FRONT]
        self.carrying = level.carrying

    @cached_property
    def reachable(self) -> int:
        """Cells to which a walk over free cells leads."""
        reached, before = OWN, 0
        while reached != before:
            before = reached
            reached |= neighbours(reached) & self.free
        return reached

    def can_reach(self, thing: Thing) -> bool:
        """Says whether a walk within sight leads next to a thing."""
        return bool(neighbours(BITS[thing.cell]) & self.reachable)

    @cached_property
    def text(self) -> str:
        """The description."""
        seen = [f"There is a {thing.label} {WORDS[thing.cell]}.  " for thing in self.things]
        head = "In front of you in this room, you can see several objects: " + "".join(seen)
        facing = f"You are facing a {self.barrier[0]} {self.barrier[1]} steps away. " if self.barrier else ""
        held = f"You are carrying a {name(self.carrying)}." if self.carrying else "You are not carrying anything."
        return f"{head if seen else _NOTHING_SEEN}The room has walls around you. {facing}{held}"


def neighbours(cells: int) -> int:
    """Returns the cells beside, before and behind any of the cells; what lies outside the view included."""
    return cells << 1 | cells >> 1 | cells << STRIDE | cells >> STRIDE


def visible(opaque: int) -> int:
    """Returns what minigrid lets the agent see when it cannot see through some cells."""
    seen, lit = 0, 1 << SIZE // 2
    for row in reversed(range(SIZE)):
        along, lit = _light(lit, opaque >> STRIDE * row & (1 << SIZE) - 1)
        seen |= along << STRIDE * row
    return seen


def name(thing: Any) -> str:
    """Returns the name of minigrid's object: colour, state of a door, kind."""
    if thing.type != "door":
        return f"{thing.color} {thing.type}"
    state = "open" if thing.is_open else "locked" if thing.is_locked else "closed"
    return f"{thing.color} {state} door"


@cache  # at most 2 ** 14 rows
def _light(lit: int, opaque: int) -> tuple[int, int]:
    """Spreads light through a row; returns its lit cells and those that it lights in the row ahead.

    A lit cell that can be seen through lights the next cell on its side and, in the row ahead, both that column and its own.
    Light runs to the right first, then everything that is lit by then runs to the left.
    """
    ahead = 0
    for columns, side in ((range(SIZE - 1), 1), (range(SIZE - 1, 0, -1), -1)):
        for column in columns:
            if lit >> column & 1 and not opaque >> column & 1:
                lit |= 1 << column + side
                ahead |= 1 << column | 1 << column + side
    return lit, ahead


@lru_cache(maxsize=10_000)
def _window(width: int, height: int, x: int, y: int, direction: int) -> tuple[int, ...]:
    """Returns where the cells of the view lie in minigrid's list; beyond the edge stands the last cell, a corner of the wall."""
    (fx, fy), (rx, ry) = MOVES[direction], MOVES[(direction + 1) % 4]

    def positions() -> Iterator[tuple[int, int]]:
        for ahead, right in PLACES:
            yield x + fx * ahead + rx * right, y + fy * ahead + ry * right

    return tuple(j * width + i if 0 <= i < width and 0 <= j < height else -1 for i, j in positions())


def _things(found: list[int], cells: list[Any]) -> list[Thing]:
    numbers: Counter[str] = Counter()
    things = []
    for n in sorted(found, key=RANKS.__getitem__):
        called = name(cells[n])
        numbers[called] += 1
        things.append(Thing(f"{called} {numbers[called]}", n, cells[n]))
    return things
