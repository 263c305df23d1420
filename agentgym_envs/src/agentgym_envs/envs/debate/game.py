"""Debate: all write at once, hear each other, and write again; the answers of the last round are votes."""

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

MOST_DEBATERS, MOST_ROUNDS, MOST_STRANGERS = 8, 10, 5
VISIBLE = 2000  # characters of a message that the others see


def listener(game: "Debate", seat: str, rng: random.Random) -> str:
    """Tells its passages, and in the last round votes on the answer that most others gave in the round before.

    It agrees if that answer is right and it knows all that leads to it, from its passages and from messages as others see them.
    Else it votes for a wrong answer, the same in every seat. It never answers by itself: another debater has to know the answer.
    """
    own = [p.text for p in game.hands[seat]]
    if len(game.said) < game.rounds - 1:
        return "\n".join(own) or "I wait for an answer that I can check."
    messages = [{other: cut(text) for other, text in said.items() if other != seat} for said in game.said]
    claimed = majority({other: read_answer(text) for other, text in messages[-1].items()}) if messages else None
    right = canonical(game.problem.answer)
    if claimed == right and knows(game.problem.facts, [*own, *(text for said in messages for text in said.values())]):
        return f"answer: {game.problem.answer}"
    return f"answer: {next(choice for choice in game.choices if canonical(choice) != right)}"


class Debate(TextGame):
    """Several debaters, one question, a majority vote.

    Args:
        debaters: seats, from 1 to 8.
        rounds: in which all speak at once, from 1 to 10; the last is the vote.
        shared: every debater sees all passages that are needed, and no other.
        strangers: other questions of the kind whose passages are dealt too, from 0 to 5.

    Raises:
        ArgumentError: a number that cannot be.

    Attributes:
        problem: of the task.
        choices: the right answer and nine wrong ones.
        hands: the passages that each seat sees.
        said: each round's messages by seat.
    """

    instructions = (
        "Several debaters answer one question together, in rounds. In a round all write at once; then each sees what the others "
        "wrote. Some questions need short passages, and each debater sees other passages: tell the others what yours say.\n"
        "Write what you like. To answer, end your message with the line\nanswer: X\nwith X as short as possible. Answer as soon "
        "as you know: the others can agree only with an answer that they have heard. In the last round everybody has to answer. "
        "The answer that most give then is the answer of all; of a tie, that of the first debater."
    )
    tools = MappingProxyType({"say": "{message}"})
    players: ClassVar[Mapping[str, Player]] = MappingProxyType({"listener": listener})
    opponents = "listener"
    cooperative = True

    def __init__(self, *, debaters: int = 3, rounds: int = 3, shared: bool = False, strangers: int = 2):
        _check("debaters", debaters, 1, MOST_DEBATERS)
        _check("rounds", rounds, 1, MOST_ROUNDS)
        _check("strangers", strangers, 0, MOST_STRANGERS)
        self.seats = tuple(f"debater_{n}" for n in range(debaters))
        self.rounds, self.shared, self.strangers = rounds, shared, strangers

    def make_tasks(self) -> TaskSet:
        """Returns arithmetic and the questions of several hops."""
        return tasks()

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Deals the passages and asks the question."""
        self.problem: Problem = task.data["problem"]
        self.said: list[dict[str, str]] = []
        self.hands, likely = self._dealt(rng)
        self.choices = choices(self.problem, likely, rng)
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
        """Returns the seat's passages as a message, if it has any, and ten plausible answers, the right one among them."""
        passages = "\n".join(p.text for p in self.hands[seat])
        return [*([passages] if passages else []), *(f"answer: {choice}" for choice in self.choices)]

    def oracle(self, seat: str) -> str:
        """Returns the right answer, with all that leads to it."""
        return f"{self.problem.reason}\nanswer: {self.problem.answer}"

    def _dealt(self, rng: random.Random) -> tuple[dict[str, list[Passage]], list[str]]:
        """Deals the passages of the question and of strangers in turn, beginning anywhere; no seat goes without a passage.

        Returns:
            The hands, and the strangers' answers.
        """
        passages, count = list(self.problem.passages), len(self.seats)
        if self.shared or not passages:
            return {seat: list(passages) for seat in self.seats}, []
        others = strangers(self.problem, self.strangers + count, rng)
        more = [p for other in others for p in other.passages]
        dealt = passages + more[: max(len(passages) * self.strangers, count - len(passages))]
        order = rng.sample(self.seats, count)
        hands = {seat: dealt[order.index(seat) :: count] for seat in self.seats}
        return {seat: rng.sample(hand, len(hand)) for seat, hand in hands.items()}, [o.answer for o in others[: self.strangers]]

    def _opening(self, seat: str) -> str:
        lines = [f"You are {seat}, one of {len(self.seats)}.", f"Question: {self.problem.text}"]
        lines += [f"You know: {p.text}" for p in self.hands[seat]]
        return "\n".join([*lines, self._asked()])

    def _asked(self) -> str:
        number = len(self.said) + 1
        last = ", the last: end with the line 'answer: X'" if number == self.rounds else ""
        return f"Round {number} of {self.rounds}{last}."

    def _heard(self, seat: str) -> str:
        """Returns what the others have just written, set in, so that nobody can write in another's name."""
        return "".join(f"{other} writes:\n{indent(cut(text), '  ')}\n" for other, text in self.said[-1].items() if other != seat)


def cut(text: str) -> str:
    """Returns as much of a message as others see, its last line always."""
    lines = text.splitlines()
    whole = "\n".join(lines)
    return whole if len(whole) <= VISIBLE else f"{whole[:VISIBLE]} … (cut)\n{echo(lines[-1])}"


def _counted(answers: Mapping[str, str | None]) -> str:
    return "Votes: " + ", ".join(f"{seat} {'none' if answer is None else echo(answer)}" for seat, answer in answers.items()) + "."


def _check(name: str, number: object, least: int, most: int) -> None:
    """Raises an ArgumentError for a number that cannot be."""
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise ArgumentError(f"{name} must be a whole number from {least} to {most}, not {number!r}")
