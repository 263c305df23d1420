"""Makes ``positions.json``: ``python -m agentgym_envs.envs.connect4.make`` (some minutes).

A position comes from random legal moves of both players, none of which wins.
It is kept under two conditions: exactly one move wins with perfect play, and the solver finds it
within a limit of visited positions. player_0 moves first in half of the positions. Each column is
about equally often the winning one, which makes every fixed column a bad guess.
"""

import itertools
import json
import random
from pathlib import Path
from typing import NamedTuple

from agentgym_envs.envs.connect4.board import EMPTY, BoardShape, GamePosition
from agentgym_envs.envs.connect4.solver import PerfectSolver
from agentgym_envs.tasks import split_of

FILE = Path(__file__).with_name("positions.json")
NODES = 1000  # limit of the solver for a position and its moves, from an empty table: about 40 ms


class Wanted(NamedTuple):
    """The positions to make for a board."""

    stones: range
    """Stones at the start."""
    difficulties: range
    """Moves to the win."""
    each: int
    """Positions per combination of difficulty, player and winning column."""
    tries: int
    """Largest number of random positions to try."""


WANTED = {
    "4x4-3": Wanted(range(12), range(1, 6), 25, 30000),
    "6x5-4": Wanted(range(10, 21), range(1, 8), 7, 40000),
    "7x6-4": Wanted(range(22, 33), range(1, 7), 6, 80000),
}


class TooHard(Exception):
    """The solver needs more than ``NODES`` positions."""


class HurriedSolver(PerfectSolver):
    """A solver that gives up after ``NODES`` positions.

    Raises:
        TooHard: The limit is reached.
    """

    def _search(self, mine: int, mask: int, theirs: int, alpha: int, beta: int) -> int:
        if self.nodes >= NODES:
            raise TooHard
        return super()._search(mine, mask, theirs, alpha, beta)


def scatter(board: BoardShape, count: int, rng: random.Random) -> tuple[str, GamePosition] | None:
    """Returns ``count`` random moves that do not win, and the position after them.

    The moves are digits, with 1 for the leftmost column. Returns None if every legal move wins.
    """
    moves, stones = "", EMPTY
    for _ in range(count):
        quiet = [
            column for column in board.legal(stones.mask) if column not in board.winning(stones)
        ]
        if not quiet:
            return None
        column = rng.choice(quiet)
        moves, stones = f"{moves}{column + 1}", board.drop(stones, column)
    return moves, stones


def look(board: BoardShape, stones: GamePosition) -> str:
    """Returns the same text for a position and its mirror image: the smaller of both pictures."""
    lines = [line[2:-2] for line in board.draw(stones.mine, stones.mask).splitlines()[:-1]]
    return min("\n".join(lines), "\n".join(line[::-1] for line in lines))


def only_win(board: BoardShape, stones: GamePosition) -> tuple[int, int] | None:
    """Returns the number of moves to the win and the column of the only winning move.

    Returns None if no move or several moves win, or if the solver reaches its limit.
    """
    solver = HurriedSolver(board)
    try:
        moves = solver.moves_to_win(stones)
        columns = winning_moves(solver, stones) if moves else []
        return (moves, columns[0]) if len(columns) == 1 else None
    except TooHard:
        return None


def winning_moves(solver: PerfectSolver, stones: GamePosition) -> list[int]:
    """Returns the columns that win with perfect play, at once or later."""
    board = solver.board
    now = board.winning(stones)
    after = {
        column: board.drop(stones, column)
        for column in board.legal(stones.mask)
        if column not in now
    }
    return [*now, *(column for column, child in after.items() if solver.value(child) < 0)]


def positions(name: str) -> list[tuple[str, int, str]]:
    """Returns the split, difficulty and moves of each position of a board, easiest first."""
    board, wanted, rng = BoardShape.of(name), WANTED[name], random.Random(name)
    seen, found = set[str](), list[tuple[str, int, str]]()
    counts = dict.fromkeys(
        itertools.product(wanted.difficulties, range(2), range(board.columns)), 0
    )
    for _ in range(wanted.tries):
        made = scatter(board, rng.choice(wanted.stones), rng)
        if made is None or (shape := look(board, made[1])) in seen:
            continue
        seen.add(shape)
        moves, stones = made
        if (win := only_win(board, stones)) is None:
            continue
        kind = win[0], len(moves) % 2, win[1]
        if counts.get(kind, wanted.each) < wanted.each:
            counts[kind] += 1
            found.append((split_of(f"{name}\n{shape}", held_out=5), win[0], moves))
        if min(counts.values()) == wanted.each:
            break
    # A guess can find an immediate win: such positions are for training only.
    kept = [row for row in found if row[0] == "train" or row[1] > 1]
    return sorted(kept, key=lambda row: (row[1], row[2]))


def main() -> None:
    """Writes ``positions.json``."""
    rows = {name: positions(name) for name in WANTED}
    boards = [
        f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, found)) + "\n]"
        for name, found in rows.items()
    ]
    FILE.write_text("{\n" + ",\n".join(boards) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
