"""Makes the positions of ``positions.json`` anew: ``python -m agentgym_envs.envs.connect4.make`` (some minutes).

A position comes from random legal moves of both, none of which wins. It is kept if player_0 is to move and wins with perfect play,
and if that is found out quickly.
"""

import json
import random
from pathlib import Path
from typing import NamedTuple

from agentgym_envs.envs.connect4.board import EMPTY, Board, Stones
from agentgym_envs.envs.connect4.solver import Solver
from agentgym_envs.tasks import split_of

FILE = Path(__file__).with_name("positions.json")
NODES = 500  # of the solver, from an empty memory: some 20 ms


class Wanted(NamedTuple):
    """What is made of a board: stones at the start, moves to the win, positions of each difficulty, tries."""

    stones: range
    difficulties: range
    each: int
    tries: int


WANTED = {
    "4x4-3": Wanted(range(0, 9, 2), range(1, 4), 200, 20000),
    "6x5-4": Wanted(range(14, 19, 2), range(1, 7), 50, 5000),
    "7x6-4": Wanted(range(26, 31, 2), range(1, 7), 50, 5000),
}


def scatter(board: Board, count: int, rng: random.Random) -> tuple[str, Stones] | None:
    """Returns so many random moves, as digits from 1, and the position after them; None if all others win."""
    moves, stones = "", EMPTY
    for _ in range(count):
        quiet = [column for column in board.legal(stones.mask) if column not in board.winning(stones)]
        if not quiet:
            return None
        column = rng.choice(quiet)
        moves, stones = f"{moves}{column + 1}", board.drop(stones, column)
    return moves, stones


def look(board: Board, stones: Stones) -> str:
    """Returns what a position shares with its mirror image: the smaller of both pictures."""
    lines = board.draw(stones.mine, stones.mask).splitlines()[:-1]
    return min("\n".join(lines), "\n".join(line[::-1] for line in lines))


def positions(name: str) -> list[tuple[str, int, str]]:
    """Returns the split, the difficulty and the moves of each position of a board, the easier ones first."""
    board, wanted, rng = Board.of(name), WANTED[name], random.Random(name)
    found: dict[str, tuple[str, int, str]] = {}
    counts = dict.fromkeys(wanted.difficulties, 0)
    for _ in range(wanted.tries):
        made = scatter(board, rng.choice(wanted.stones), rng)
        if made is None or (seen := look(board, made[1])) in found:
            continue
        solver = Solver(board)
        difficulty = solver.moves_to_win(made[1])
        if counts.get(difficulty, wanted.each) < wanted.each and solver.nodes <= NODES:
            counts[difficulty] += 1
            found[seen] = (split_of(f"{name}\n{seen}", held_out=5), difficulty, made[0])
        if min(counts.values()) == wanted.each:
            break
    return sorted(found.values(), key=lambda row: (row[1], row[2]))


def main() -> None:
    """Writes the file."""
    rows = {name: positions(name) for name in WANTED}
    boards = [f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, found)) + "\n]" for name, found in rows.items()]
    FILE.write_text("{\n" + ",\n".join(boards) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
