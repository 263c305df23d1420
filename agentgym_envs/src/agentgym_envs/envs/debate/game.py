"""Debate: all answer the same question at once, hear each other, and answer again; the last answers are votes."""

import random
from collections.abc import Mapping
from textwrap import indent
from types import MappingProxyType
from typing import ClassVar

from agentgym_envs.core import Outcome, echo
from agentgym_envs.envs.debate.tasks import Problem, choices, strangers, tasks
from agentgym_envs.envs.debate.votes import canonical, knows, majority, read_answer
from agentgym_envs.envs.search.world import Passage
from agentgym_envs.errors import ArgumentError
from agentgym_envs.multi.game import Player, TextGame
from agentgym_envs.tasks import Task, TaskSet

MOST_DEBATERS, MOST_ROUNDS = 8, 10
HEARD = 2000  # characters of a message that the others see


def listener(game: "Debate", seat: str, rng: random.Random) -> str:
    """Tells its passages and guesses; votes for the right answer once it knows all that leads to it, else guesses again."""
    own = [p.text for p in game.hands[seat]]
    heard = [text for said in game.said for other, text in said.items() if other != seat]
    if game.said and knows(game.problem.facts, [*own, *heard]):
        return f"answer: {game.problem.answer}"
    return "\n".join([*own, rng.choice(game.actions(seat))])


class Debate(TextGame):
    """Several debaters, one question, a majority vote.

    Args:
        debaters: seats, from 1 to 8.
        rounds: in which all speak at once, from 1 to 10; the last is the vote.
        shared: every debater sees all passages that are needed, and no other.

    Raises:
        ArgumentError: a number that cannot be.

    Attributes:
        problem: of the task.
        hands: the passages that each seat sees.
        said: each round's messages by seat.
    """

    instructions = (
        "Several debaters answer one question together, in rounds. In a round all write at once; then each sees what the others "
        "wrote. Some questions need short passages, and each debater sees other passages: tell the others what yours say.\n"
        "Write what you like. To answer, end your message with the line\nanswer: X\nwith X as short as possible. In the last round "
        "everybody has to answer. The answer that most give then is the answer of all; of a tie, that of the first debater."
    )
    tools = MappingProxyType({"say": "{message}"})
    players: ClassVar[Mapping[str, Player]] = MappingProxyType({"listener": listener})
    others = "listener"
    cooperative = True

    def __init__(self, *, debaters: int = 3, rounds: int = 2, shared: bool = False):
        for name, number, most in (("debaters", debaters, MOST_DEBATERS), ("rounds", rounds, MOST_ROUNDS)):
            if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
                raise ArgumentError(f"{name} must be a whole number from 1 to {most}, not {number!r}")
        self.seats = tuple(f"debater_{n}" for n in range(debaters))
        self.rounds, self.shared = rounds, shared

    def make_tasks(self) -> TaskSet:
        """Returns arithmetic and the questions of several hops."""
        return tasks()

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Deals the passages and asks the question."""
        self.problem: Problem = task.data["problem"]
        self.said: list[dict[str, str]] = []
        self._choices = choices(self.problem, rng)
        self.hands = self._dealt(rng)
        return {seat: self._opening(seat) for seat in self.seats}

    def goal(self, seat: str) -> str:
        """Returns the question."""
        return f"agree on the right answer: {self.problem.text}"

    def acting(self) -> tuple[str, ...]:
        """Returns all."""
        return self.seats

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Takes the messages of a round; those of the last are votes."""
        self.said.append({seat: said[seat].encode("utf-8", "replace").decode().strip() for seat in self.seats})
        if len(self.said) < self.rounds:
            return {seat: Outcome(f"{self._heard(seat)}{self._asked()}", 0.0) for seat in self.seats}
        answers = {seat: read_answer(text) for seat, text in self.said[-1].items()}
        voted = majority(answers)
        right = voted == canonical(self.problem.answer)
        result = f"{_counted(answers)}\nThe answer of all is {'right' if right else 'wrong'}."
        return {
            seat: Outcome(f"{self._heard(seat)}{result}", float(right), True, right, answers[seat] is None) for seat in self.seats
        }

    def actions(self, seat: str) -> list[str]:
        """Returns a few plausible answers, the right one among them."""
        return [f"answer: {choice}" for choice in self._choices]

    def oracle(self, seat: str) -> str:
        """Returns the right answer, with all that leads to it."""
        return f"{self.problem.reason}\nanswer: {self.problem.answer}"

    def _dealt(self, rng: random.Random) -> dict[str, list[Passage]]:
        """Deals the passages in turn, beginning anywhere; who would have none gets one that does not help."""
        passages = self.problem.passages
        if self.shared or not passages:
            return {seat: list(passages) for seat in self.seats}
        order = rng.sample(self.seats, len(self.seats))
        more = strangers(self.problem, max(len(order) - len(passages), 0), rng)
        dealt = [*passages, *more]
        return {seat: dealt[order.index(seat) :: len(order)] for seat in self.seats}

    def _opening(self, seat: str) -> str:
        told = [f"You are {seat}, one of {len(self.seats)}.", f"Question: {self.problem.text}"]
        told += [f"You know: {p.text}" for p in self.hands[seat]]
        return "\n".join([*told, self._asked()])

    def _asked(self) -> str:
        number = len(self.said) + 1
        last = ", the last: end with the line 'answer: X'" if number == self.rounds else ""
        return f"Round {number} of {self.rounds}{last}."

    def _heard(self, seat: str) -> str:
        """Returns what the others have just written, set in, so that nobody can write in another's name."""
        return "".join(f"{other} writes:\n{indent(_cut(text), '  ')}\n" for other, text in self.said[-1].items() if other != seat)


def _cut(text: str) -> str:
    """Returns as much of a message as others see, its last line always."""
    lines = text.splitlines()
    whole = "\n".join(lines)
    return whole if len(whole) <= HEARD else f"{whole[:HEARD]} … (cut)\n{echo(lines[-1])}"


def _counted(answers: Mapping[str, str | None]) -> str:
    return "Votes: " + ", ".join(f"{seat} {'none' if answer is None else echo(answer)}" for seat, answer in answers.items()) + "."
