"""The agent's view as text, in AgentGym's words.

The view is the 7 × 7 cells before the agent. Row 0 is the farthest row, and row 6 is the agent's
row. Column 3 is straight ahead. An integer stands for a set of cells, with one bit per cell and
eight bits per row. The eighth column stays empty, so a shift cannot move a cell into another row.
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
# Steps ahead and to the right from the agent to each cell.
PLACES = [(SIZE - 1 - row, column - SIZE // 2) for row, column in CELLS]
# Order of the numbers: nearest first, then farthest ahead, then leftmost.
RANKS = [(ahead + abs(right), -ahead, right) for ahead, right in PLACES]


def _where(ahead: int, right: int) -> str:
    if right == 0:
        return f"right in front of you {ahead} steps away"
    return (
        f"{ahead} steps in front of you and {abs(right)} steps to your"
        f" {'left' if right < 0 else 'right'}"
    )


WORDS = [_where(*place) for place in PLACES]


class SeenObject(NamedTuple):
    """An object in sight.

    Attributes:
        label: the name in actions: colour, state of a door, kind, and number among equal names.
        cell: index in ``CELLS``.
        object: minigrid's object.
    """

    label: str
    cell: int
    object: Any


class AgentView:
    """The agent's view of a level at one moment.

    Attributes:
        things: objects in sight except walls, nearest first.
        seen: set of visible cells.
        free: set of visible cells that the agent can walk on, including the agent's cell.
        barrier: kind of the nearest wall or box straight ahead, and the steps to it, or None.
        front: minigrid's object on the cell before the agent, or None.
        carrying: minigrid's object in the agent's hands, or None.
    """

    def __init__(self, level: Any):
        grid, (x, y) = level.grid, level.agent_pos
        everything, window = (
            grid.grid,
            _window(grid.width, grid.height, int(x), int(y), int(level.agent_dir)),
        )
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
        """Set of cells that a walk over free cells can reach."""
        reached, before = OWN, 0
        while reached != before:
            before = reached
            reached |= neighbours(reached) & self.free
        return reached

    def can_reach(self, thing: SeenObject) -> bool:
        """Returns whether a walk over visible cells can end next to a thing."""
        return bool(neighbours(BITS[thing.cell]) & self.reachable)

    @cached_property
    def text(self) -> str:
        """The view as a sentence per object, wall and carried object."""
        seen = [f"There is a {thing.label} {WORDS[thing.cell]}.  " for thing in self.things]
        head = "In front of you in this room, you can see several objects: " + "".join(seen)
        facing = (
            f"You are facing a {self.barrier[0]} {self.barrier[1]} steps away. "
            if self.barrier
            else ""
        )
        held = (
            f"You are carrying a {name(self.carrying)}."
            if self.carrying
            else "You are not carrying anything."
        )
        return f"{head if seen else _NOTHING_SEEN}The room has walls around you. {facing}{held}"


def neighbours(cells: int) -> int:
    """Returns the cells beside, before and behind any of the cells.

    The result can contain cells outside the view.
    """
    return cells << 1 | cells >> 1 | cells << STRIDE | cells >> STRIDE


def visible(opaque: int) -> int:
    """Returns the set of cells that are visible by minigrid's rules.

    Args:
        opaque: set of the cells that block the sight.
    """
    seen, lit = 0, 1 << SIZE // 2
    for row in reversed(range(SIZE)):
        along, lit = _light(lit, opaque >> STRIDE * row & (1 << SIZE) - 1)
        seen |= along << STRIDE * row
    return seen


def name(thing: Any) -> str:
    """Returns the name of a minigrid object: colour, state of a door, kind."""
    if thing.type != "door":
        return f"{thing.color} {thing.type}"
    state = "open" if thing.is_open else "locked" if thing.is_locked else "closed"
    return f"{thing.color} {state} door"


@cache  # at most 2 ** 14 rows
def _light(lit: int, opaque: int) -> tuple[int, int]:
    """Spreads light through a row. Returns its lit cells and the cells lit in the row ahead.

    A lit transparent cell lights the next cell on its side. In the row ahead it lights two cells,
    in the next cell's column and in its own. Light spreads to the right first. Then light spreads
    to the left from all cells that are lit.
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
    """Returns the index in minigrid's list of each cell of the view.

    Cells beyond the edge map to the last cell, a corner of the wall.
    """
    (fx, fy), (rx, ry) = MOVES[direction], MOVES[(direction + 1) % 4]

    def positions() -> Iterator[tuple[int, int]]:
        for ahead, right in PLACES:
            yield x + fx * ahead + rx * right, y + fy * ahead + ry * right

    return tuple(
        j * width + i if 0 <= i < width and 0 <= j < height else -1 for i, j in positions()
    )


def _things(found: list[int], cells: list[Any]) -> list[SeenObject]:
    numbers: Counter[str] = Counter()
    things = []
    for n in sorted(found, key=RANKS.__getitem__):
        label = name(cells[n])
        numbers[label] += 1
        things.append(SeenObject(f"{label} {numbers[label]}", n, cells[n]))
    return things
