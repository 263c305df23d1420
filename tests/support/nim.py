"""Nim with one pile, a third-party game: the player who takes the last stone wins."""

import random
from collections.abc import Mapping
from types import MappingProxyType

from agentgym_envs import Outcome, Task, TaskSet, TextGame


class Nim(TextGame):
    """Two players alternate and take one to three stones."""

    players = MappingProxyType({"greedy": lambda game, seat, rng: game.actions(seat)[-1]})
    instructions = "Take 1, 2 or 3 stones: answer with the number. Who takes the last stone wins."

    def __init__(self, *, most: int = 3):
        self.seats, self.most = ("player_0", "player_1"), most

    def make_tasks(self) -> TaskSet:
        return TaskSet(
            Task(id=f"pile-{n}", split=("train", "dev", "test")[n % 5 % 3], data={"pile": n})
            for n in range(5, 32)
            if n % (self.most + 1)
        )

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        self.pile, self.turn = task.data["pile"], 0
        return {seat: f"You are {seat}. There are {self.pile} stones." for seat in self.seats}

    def goal(self, seat: str) -> str:
        return "take the last stone"

    def acting(self) -> tuple[str, ...]:
        return (self.seats[self.turn],)

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        ((seat, action),) = said.items()
        if action not in self.actions(seat):
            return {
                s: Outcome("Answer with a number of stones." * (s == seat), 0.0, invalid=s == seat)
                for s in self.seats
            }
        self.pile -= int(action)
        self.turn = 1 - self.turn
        text, done = f"{seat} takes {action}. There are {self.pile} stones.", self.pile == 0
        return {
            s: Outcome(text, float(done and s == seat), done, done and s == seat)
            for s in self.seats
        }

    def actions(self, seat: str) -> list[str]:
        return [str(n) for n in range(1, min(self.most, self.pile) + 1)]

    def oracle(self, seat: str) -> str:
        return str(self.pile % (self.most + 1) or 1)
