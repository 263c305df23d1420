"""A third-party game for two players who act at the same time and must find a sum."""

import random
from collections.abc import Mapping

from agentgym_envs import Outcome, Task, TaskSet, TextGame


class Sum(TextGame):
    """Each player has a card. Both name a number, then both name the sum of the cards.

    A player whose action is invalid acts again.
    """

    instructions = (
        "Each has a card. First both tell a number, then both say the sum of the cards. Answer with"
        " the number alone."
    )
    seats = ("player_0", "player_1")

    def make_tasks(self) -> TaskSet:
        return TaskSet(
            Task(id=f"{s}-{n}", split=s) for s in ("train", "dev", "test") for n in range(4)
        )

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        self.cards = {seat: rng.randrange(100, 1000) for seat in self.seats}
        self.numbers, self.sums = dict[str, int](), dict[str, int]()
        return {seat: f"You are {seat}. Your card is {card}." for seat, card in self.cards.items()}

    def goal(self, seat: str) -> str:
        return "say the sum"

    def acting(self) -> tuple[str, ...]:
        return tuple(seat for seat in self.seats if seat not in self._round())

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        known, heard = (
            self._round(),
            {seat: word for seat, word in said.items() if word.isascii() and word[:9].isdigit()},
        )
        known |= {seat: int(word[:9]) for seat, word in heard.items()}
        if len(known) < 2:
            return {
                seat: Outcome(
                    "A number, please." * (w := seat in said.keys() - heard), 0.0, invalid=w
                )
                for seat in self.seats
            }
        done = known is self.sums
        right = done and set(known.values()) == {sum(self.cards.values())}
        text = " ".join(f"{seat} says {number}." for seat, number in sorted(known.items()))
        return {seat: Outcome(text, 1.0 if right else 0.25, done, right) for seat in self.seats}

    def actions(self, seat: str) -> list[str]:
        return list(dict.fromkeys([str(self.cards[seat]), self.oracle(seat)]))

    def oracle(self, seat: str) -> str:
        return str(sum(self.cards.values()) if len(self.numbers) == 2 else self.cards[seat])

    def secrets(self, seat: str) -> tuple[str, ...]:
        return (f"Your card is {self.cards[seat]}.",)

    def _round(self) -> dict[str, int]:
        return self.sums if len(self.numbers) == 2 else self.numbers
