"""The board of Connect Four as two numbers, after Pascal Pons, "Solving Connect 4" (http://blog.gamesolver.org, 2015).

Columns stand one after the other from the lowest bit, each with a bit a row from the bottom and one more that stays empty, so that
no line runs over the edge. ``mine`` has the stones of who is to move, ``mask`` those of both.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

from agentgym_envs.errors import ArgumentError

LARGEST = 9  # columns, or rows


class Stones(NamedTuple):
    """A position: the stones of who is to move, and those of both."""

    mine: int
    mask: int


EMPTY = Stones(0, 0)


@dataclass(frozen=True, kw_only=True)
class Board:
    """How large the board is, and how many in a row win.

    Raises:
        ArgumentError: a side is no whole number, or nobody could win on it.
    """

    columns: int = 6
    rows: int = 5
    connect: int = 4

    def __post_init__(self) -> None:
        for name, number in vars(self).items():
            if isinstance(number, bool) or not isinstance(number, int):
                raise ArgumentError(f"{name} must be a whole number of at most {LARGEST}, not {number!r}")
        if not 2 <= self.connect <= max(self.columns, self.rows) <= LARGEST:
            raise ArgumentError(f"{self}: connect must be from 2 to the longer side, and that at most {LARGEST}")

    def __str__(self) -> str:
        return f"{self.columns}x{self.rows}-{self.connect}"

    @classmethod
    def of(cls, name: str) -> Self:
        """Returns the board of such a name."""
        size, _, connect = name.partition("-")
        columns, _, rows = size.partition("x")
        return cls(columns=int(columns), rows=int(rows), connect=int(connect))

    @cached_property
    def cells(self) -> int:
        """How many stones there is room for."""
        return self.columns * self.rows

    @cached_property
    def bottom(self) -> int:
        """The lowest cell of each column."""
        return sum(1 << column * (self.rows + 1) for column in range(self.columns))

    @cached_property
    def full(self) -> int:
        """All cells."""
        return self.bottom * ((1 << self.rows) - 1)

    @cached_property
    def shifts(self) -> tuple[tuple[int, ...], ...]:
        """How far the next cells of a line are: upwards, to the right, and on both diagonals."""
        return tuple(tuple(n * d for n in range(1, self.connect)) for d in (1, self.rows + 1, self.rows, self.rows + 2))

    def column(self, number: int) -> int:
        """Returns the cells of a column, counted from 0."""
        return ((1 << self.rows) - 1) << number * (self.rows + 1)

    def open(self, mask: int) -> int:
        """Returns the cells that a stone can be dropped into."""
        return (mask + self.bottom) & self.full

    def wins(self, mine: int, mask: int) -> int:
        """Returns the empty cells, also those that no stone reaches yet, that complete a line of mine."""
        found = 0
        for shifts in self.shifts:
            below, runs = self.full, []
            for shift in shifts:
                runs.append(below)  # cells with as many of mine below them as there are runs before this one
                below &= mine << shift
            found |= below
            above = self.full
            for shift, run in zip(shifts, reversed(runs), strict=True):
                above &= mine >> shift
                found |= run & above
        return found & (self.full ^ mask)

    def drop(self, stones: Stones, column: int) -> Stones:
        """Returns the position after a stone, as who is to move then sees it."""
        mask = stones.mask | stones.mask + (1 << column * (self.rows + 1))
        return Stones(stones.mine ^ stones.mask, mask)

    def legal(self, mask: int) -> list[int]:
        """Returns the columns with room, counted from 0."""
        return [column for column in range(self.columns) if self.open(mask) & self.column(column)]

    def winning(self, stones: Stones) -> list[int]:
        """Returns the columns that win at once."""
        now = self.wins(*stones) & self.open(stones.mask)
        return [column for column in range(self.columns) if now & self.column(column)]

    def draw(self, first: int, mask: int) -> str:
        """Returns the board as text: X where ``first`` has its stones.

        Bars at both ends of a line make all lines equally many tokens long for tokenizers that join signs with a line break.
        """
        lines = []
        for row in reversed(range(self.rows)):
            bits = [1 << column * (self.rows + 1) + row for column in range(self.columns)]
            lines.append(f"| {' '.join('X' if first & bit else 'O' if mask & bit else '.' for bit in bits)} |")
        return "\n".join([*lines, "  " + " ".join(str(column + 1) for column in range(self.columns))])
