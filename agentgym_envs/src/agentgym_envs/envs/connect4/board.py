"""The board of Connect Four as two bit masks.

The representation is that of Pascal Pons, "Solving Connect 4" (http://blog.gamesolver.org, 2015).
Columns follow each other from the lowest bit. A column has one bit per row, from the bottom up,
and one extra bit that stays empty: it keeps lines from running over the edge.
``mine`` holds the stones of the player to move, ``mask`` the stones of both players.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

from agentgym_envs.errors import ArgumentError

LARGEST = 9  # limit of columns and of rows


class GamePosition(NamedTuple):
    """A position: the stones of the player to move, and the stones of both players."""

    mine: int
    mask: int


EMPTY = GamePosition(0, 0)


@dataclass(frozen=True, kw_only=True)
class BoardShape:
    """The size of the board and the length of a winning line.

    >>> BoardShape(columns=4, rows=4, connect=3).cells
    16

    Raises:
        ArgumentError: A value is not a whole number, or no winning line fits on the board.
    """

    columns: int = 6
    rows: int = 5
    connect: int = 4

    def __post_init__(self) -> None:
        for name, number in vars(self).items():
            if isinstance(number, bool) or not isinstance(number, int):
                raise ArgumentError(
                    f"{name} must be a whole number of at most {LARGEST}, not {number!r}"
                )
        if not 2 <= self.connect <= max(self.columns, self.rows) <= LARGEST:
            raise ArgumentError(
                f"{self}: connect must be from 2 to the longer side, and the longer side at most"
                f" {LARGEST}"
            )

    def __str__(self) -> str:
        return f"{self.columns}x{self.rows}-{self.connect}"

    @classmethod
    def of(cls, name: str) -> Self:
        """Returns the board that a name such as ``6x5-4`` describes: columns, rows, connect."""
        size, _, connect = name.partition("-")
        columns, _, rows = size.partition("x")
        return cls(columns=int(columns), rows=int(rows), connect=int(connect))

    @cached_property
    def cells(self) -> int:
        """The number of cells."""
        return self.columns * self.rows

    @cached_property
    def bottom(self) -> int:
        """The bit mask of the lowest cell of each column."""
        return sum(1 << column * (self.rows + 1) for column in range(self.columns))

    @cached_property
    def full(self) -> int:
        """The bit mask of all cells."""
        return self.bottom * ((1 << self.rows) - 1)

    @cached_property
    def shifts(self) -> tuple[tuple[int, ...], ...]:
        """The bit distances to the next cells of a line: up, right, and both diagonals."""
        return tuple(
            tuple(n * d for n in range(1, self.connect))
            for d in (1, self.rows + 1, self.rows, self.rows + 2)
        )

    def column(self, number: int) -> int:
        """Returns the bit mask of a column, counted from 0."""
        return ((1 << self.rows) - 1) << number * (self.rows + 1)

    def open(self, mask: int) -> int:
        """Returns the bit mask of the cells in which the next stone can land."""
        return (mask + self.bottom) & self.full

    def wins(self, mine: int, mask: int) -> int:
        """Returns the bit mask of the empty cells that complete a line of ``mine``.

        The cells count even if the next stone cannot land there yet.
        """
        found = 0
        for shifts in self.shifts:
            below, runs = self.full, []
            for shift in shifts:
                # runs[n]: the cells with at least n stones of mine directly before them.
                runs.append(below)
                below &= mine << shift
            found |= below
            above = self.full
            for shift, run in zip(shifts, reversed(runs), strict=True):
                above &= mine >> shift
                found |= run & above
        return found & (self.full ^ mask)

    def drop(self, stones: GamePosition, column: int) -> GamePosition:
        """Returns the position after a stone, from the view of the next player."""
        mask = stones.mask | stones.mask + (1 << column * (self.rows + 1))
        return GamePosition(stones.mine ^ stones.mask, mask)

    def legal(self, mask: int) -> list[int]:
        """Returns the columns that are not full, counted from 0."""
        return [column for column in range(self.columns) if self.open(mask) & self.column(column)]

    def winning(self, stones: GamePosition) -> list[int]:
        """Returns the columns in which the next stone wins at once, counted from 0."""
        now = self.wins(*stones) & self.open(stones.mask)
        return [column for column in range(self.columns) if now & self.column(column)]

    def draw(self, first: int, mask: int) -> str:
        """Returns the board as text, with X for the stones in ``first``.

        Each line has bars at both ends. Some tokenizers join a character with the line break after
        it; the bars make all lines the same number of tokens.
        """
        lines = []
        for row in reversed(range(self.rows)):
            bits = [1 << column * (self.rows + 1) + row for column in range(self.columns)]
            stones = ["X" if first & bit else "O" if mask & bit else "." for bit in bits]
            lines.append(f"| {' '.join(stones)} |")
        return "\n".join(
            [*lines, "  " + " ".join(str(column + 1) for column in range(self.columns))]
        )
