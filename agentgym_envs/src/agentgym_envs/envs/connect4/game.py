"""``agentgym/Connect4-v1``: Connect Four from positions with exactly one winning move."""

import json
import random
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from agentgym_envs.core import Outcome, command, echo
from agentgym_envs.envs.connect4.board import EMPTY, BoardShape, GamePosition
from agentgym_envs.envs.connect4.solver import PerfectSolver
from agentgym_envs.errors import ArgumentError
from agentgym_envs.multi.game import TextGame
from agentgym_envs.tasks import Task, TaskSet

MARKS = "XO"  # of the seats
_DROP = re.compile(r"drop\s+([1-9])", re.IGNORECASE)


def greedy(game: "Connect4", seat: str, rng: random.Random) -> str:
    """Wins at once if possible, else blocks an immediate win, else drops at random."""
    board, stones = game.board, game.stones
    theirs = GamePosition(stones.mine ^ stones.mask, stones.mask)
    columns = board.winning(stones) or board.winning(theirs) or board.legal(stones.mask)
    return _drop(rng.choice(columns))


class Connect4(TextGame):
    """Two players drop stones; four in a row win.

    Args:
        columns: Columns of the board.
        rows: Rows of the board.
        connect: Stones in a row that win.

    Raises:
        ArgumentError: ``positions.json`` has no positions for this board.
    """

    instructions = (
        "Connect Four. Two players, X and O, drop stones into the columns of a board in turns; a"
        " stone falls to the lowest free cell.\nWho first has enough stones in a row, across,"
        " upwards or diagonally, wins. A full board is a draw.\nAnswer with one action and nothing"
        " else: drop N, where N is the number of a column with room, counted from the left."
    )
    tools = MappingProxyType({"drop": "drop {column}"})
    players = MappingProxyType({"greedy": greedy})
    opponents = "oracle"
    seats = ("player_0", "player_1")

    def __init__(self, *, columns: int = 6, rows: int = 5, connect: int = 4):
        self.board = BoardShape(columns=columns, rows=rows, connect=connect)
        if str(self.board) not in _positions():
            known = ", ".join(_positions())
            raise ArgumentError(
                f"there are no positions for the board {self.board} (columns x rows - connect); use"
                f" one of {known}"
            )
        self._solver = PerfectSolver(self.board)

    def make_tasks(self) -> TaskSet:
        """Returns one task per position of this board.

        The difficulty is the number of moves that the winner needs. The id names both.
        """
        return TaskSet(
            Task(
                id=f"win{difficulty}-{_mark(moves)}-{moves}",
                split=split,
                difficulty=difficulty,
                data={"moves": moves},
            )
            for split, difficulty, moves in _positions()[str(self.board)]
        )

    def default_seat(self, task: Task) -> str:
        """Returns the seat that moves first: it can force a win."""
        return self.seats[len(task.data["moves"]) % 2]

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Sets up the position, and describes it to both seats."""
        self._solver.forget()
        self.stones = EMPTY
        for move in task.data["moves"]:
            self.stones = self.board.drop(self.stones, int(move) - 1)
        (first,) = self.acting()
        return {
            seat: (
                f"You are {seat} and play {mark}: get {self.board.connect} in a row. "
                f"{'It is your turn.' if seat == first else f'It is the turn of {first}.'}"
                f"\n{self._picture()}"
            )
            for seat, mark in zip(self.seats, MARKS, strict=True)
        }

    def goal(self, seat: str) -> str:
        """Returns the goal, which is the same for both seats."""
        return f"get {self.board.connect} stones in a row"

    def acting(self) -> tuple[str, ...]:
        """Returns the seat to move."""
        return (self.seats[self.stones.mask.bit_count() % 2],)

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Drops a stone, or explains to the acting seat why the action is invalid."""
        ((seat, action),) = said.items()
        found = _DROP.fullmatch(command(action))
        column = int(found[1]) - 1 if found else -1
        if column not in self.board.legal(self.stones.mask):
            listed = ", ".join(self.actions(seat))
            text = f"Not an action: {echo(action)}\nPossible are: {listed}."
            return {
                s: Outcome(text if s == seat else "", 0.0, invalid=s == seat) for s in self.seats
            }
        won = column in self.board.winning(self.stones)
        self.stones = self.board.drop(self.stones, column)
        return self._after(seat, column, won)

    def actions(self, seat: str) -> list[str]:
        """Returns one action per column that is not full."""
        return [_drop(column) for column in self.board.legal(self.stones.mask)]

    def oracle(self, seat: str) -> str:
        """Returns a perfect move: the soonest win, else a draw, else the latest loss."""
        return _drop(self._solver.best(self.stones))

    def _after(self, seat: str, column: int, won: bool) -> Mapping[str, Outcome]:
        """Returns the outcomes of a drop: for the next seat, or for both when the game is over."""
        done = won or not self.board.legal(self.stones.mask)
        end = f" {seat} wins." if won else " A draw." if done else " It is your turn."
        text = f"{seat} drops into column {column + 1}.{end}\n{self._picture()}"
        return {
            s: Outcome(
                text if done or s != seat else "",
                1.0 * (s == seat) if won else 0.5 * done,
                done,
                won and s == seat,
            )
            for s in self.seats
        }

    def _picture(self) -> str:
        mine, mask = self.stones
        first = mine if mask.bit_count() % 2 == 0 else mine ^ mask
        return self.board.draw(first, mask)


@cache
def _positions() -> dict[str, list[tuple[str, int, str]]]:
    """Returns the split, the difficulty and the moves of each position, by board."""
    text = (files(__package__) / "positions.json").read_text(encoding="utf-8")
    return {name: [tuple(row) for row in rows] for name, rows in json.loads(text).items()}


def _mark(moves: str) -> str:
    """Returns the mark of the seat to move after these moves."""
    return MARKS[len(moves) % 2]


def _drop(column: int) -> str:
    return f"drop {column + 1}"
