"""Debate: all seats write at once, read each other, and write again.

The answers of the last round are votes.
"""

import random
from collections.abc import Mapping
from textwrap import indent
from types import MappingProxyType
from typing import ClassVar

from agentgym_envs.core import Outcome, echo
from agentgym_envs.envs.debate.tasks import DebateProblem, choices, strangers, tasks
from agentgym_envs.envs.debate.votes import canonical, knows, majority, read_answer
from agentgym_envs.envs.search.world import Passage
from agentgym_envs.errors import ArgumentError
from agentgym_envs.multi.game import ScriptedPlayer, TextGame
from agentgym_envs.tasks import Task, TaskSet

MOST_DEBATERS, MOST_ROUNDS, MOST_STRANGERS = 8, 10, 5
VISIBLE = 2000  # characters of a message that other seats see


def listener(game: "Debate", seat: str, rng: random.Random) -> str:
    """Writes its passages in each round, and in the last round votes.

    It considers the answer that most other seats gave in the previous round. It votes for this
    answer if the answer is right and the listener knows every fact behind it. Facts count from its
    passages, and from messages as other seats see them. Otherwise it votes for a wrong answer, the
    same one in every seat. It never answers first: another debater has to find the answer.
    """
    own = [p.text for p in game.hands[seat]]
    if len(game.said) < game.rounds - 1:
        return "\n".join(own) or "I wait for an answer that I can check."
    messages = [
        {other: cut(text) for other, text in said.items() if other != seat} for said in game.said
    ]
    claimed = (
        majority({other: read_answer(text) for other, text in messages[-1].items()})
        if messages
        else None
    )
    right = canonical(game.problem.answer)
    if claimed == right and knows(
        game.problem.facts, [*own, *(text for said in messages for text in said.values())]
    ):
        return f"answer: {game.problem.answer}"
    return f"answer: {next(choice for choice in game.choices if canonical(choice) != right)}"


class Debate(TextGame):
    """Debaters answer one question by vote.

    Args:
        debaters: Number of seats, from 1 to 8.
        rounds: Number of rounds, from 1 to 10. All seats write in each round. The last is the vote.
        shared: Every debater sees all needed passages and no others.
        strangers: Number of distractor questions whose passages are dealt too, from 0 to 5.

    Raises:
        ArgumentError: A number is outside its range.

    Attributes:
        problem: The problem of the task.
        choices: The right answer and nine wrong ones, in random order.
        hands: The passages that each seat sees.
        said: The messages of each round, by seat.
    """

    instructions = (
        "Several debaters answer one question together, in rounds. In a round all write at once;"
        " then each sees what the others wrote. Some questions need short passages, and each"
        " debater sees other passages: tell the others what yours say.\nWrite what you like. To"
        " answer, end your message with the line\nanswer: X\nwith X as short as possible. Answer as"
        " soon as you know: the others can agree only with an answer that they have heard. In the"
        " last round everybody has to answer. The answer that most give then is the answer of all;"
        " of a tie, that of the first debater."
    )
    tools = MappingProxyType({"say": "{message}"})
    players: ClassVar[Mapping[str, ScriptedPlayer]] = MappingProxyType({"listener": listener})
    opponents = "listener"
    cooperative = True

    def __init__(
        self, *, debaters: int = 3, rounds: int = 3, shared: bool = False, strangers: int = 2
    ):
        _check("debaters", debaters, 1, MOST_DEBATERS)
        _check("rounds", rounds, 1, MOST_ROUNDS)
        _check("strangers", strangers, 0, MOST_STRANGERS)
        self.seats = tuple(f"debater_{n}" for n in range(debaters))
        self.rounds, self.shared, self.strangers = rounds, shared, strangers

    def make_tasks(self) -> TaskSet:
        """Returns the arithmetic tasks and the multi-hop questions."""
        return tasks()

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Deals the passages and returns each seat's first observation."""
        self.problem: DebateProblem = task.data["problem"]
        self.said: list[dict[str, str]] = []
        self.hands, likely = self._dealt(rng)
        self.choices = choices(self.problem, likely, rng)
        return {seat: self._opening(seat) for seat in self.seats}

    def goal(self, seat: str) -> str:
        """Returns the goal with the question."""
        return f"agree on the right answer: {self.problem.text}"

    def acting(self) -> tuple[str, ...]:
        """Returns all seats."""
        return self.seats

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Takes the messages of a round. The messages of the last round are votes."""
        self.said.append(
            {seat: said[seat].encode("utf-8", "replace").decode().strip() for seat in self.seats}
        )
        if len(self.said) < self.rounds:
            return {
                seat: Outcome(f"{self._heard(seat)}{self._round_line()}", 0.0)
                for seat in self.seats
            }
        answers = {seat: read_answer(text) for seat, text in self.said[-1].items()}
        voted = majority(answers)
        right = voted == canonical(self.problem.answer)
        result = f"{_votes_line(answers)}\nThe answer of all is {'right' if right else 'wrong'}."
        return {
            seat: Outcome(
                f"{self._heard(seat)}{result}", float(right), True, right, answers[seat] is None
            )
            for seat in self.seats
        }

    def actions(self, seat: str) -> list[str]:
        """Returns the seat's passages as one message, if it has any, and ten plausible answers.

        One of the answers is right.
        """
        passages = "\n".join(p.text for p in self.hands[seat])
        return [
            *([passages] if passages else []),
            *(f"answer: {choice}" for choice in self.choices),
        ]

    def oracle(self, seat: str) -> str:
        """Returns the right answer after its derivation."""
        return f"{self.problem.reason}\nanswer: {self.problem.answer}"

    def _dealt(self, rng: random.Random) -> tuple[dict[str, list[Passage]], list[str]]:
        """Deals the passages of the question and of the distractors round-robin from a random seat.

        Every seat gets at least one passage if the question has passages.

        Returns:
            The passages of each seat, and the answers of the distractors.
        """
        passages, count = list(self.problem.passages), len(self.seats)
        if self.shared or not passages:
            return {seat: list(passages) for seat in self.seats}, []
        distractors = strangers(self.problem, self.strangers + count, rng)
        more = [p for distractor in distractors for p in distractor.passages]
        dealt = passages + more[: max(len(passages) * self.strangers, count - len(passages))]
        order = rng.sample(self.seats, count)
        hands = {seat: dealt[order.index(seat) :: count] for seat in self.seats}
        wrong = [distractor.answer for distractor in distractors[: self.strangers]]
        return {seat: rng.sample(hand, len(hand)) for seat, hand in hands.items()}, wrong

    def _opening(self, seat: str) -> str:
        lines = [f"You are {seat}, one of {len(self.seats)}.", f"Question: {self.problem.text}"]
        lines += [f"You know: {p.text}" for p in self.hands[seat]]
        return "\n".join([*lines, self._round_line()])

    def _round_line(self) -> str:
        number = len(self.said) + 1
        last = ", the last: end with the line 'answer: X'" if number == self.rounds else ""
        return f"Round {number} of {self.rounds}{last}."

    def _heard(self, seat: str) -> str:
        """Returns the last messages of the other seats.

        The messages are indented: no message can imitate the header of another seat.
        """
        return "".join(
            f"{other} writes:\n{indent(cut(text), '  ')}\n"
            for other, text in self.said[-1].items()
            if other != seat
        )


def cut(text: str) -> str:
    """Returns the part of a message that other seats see. The last line is always part of it."""
    lines = text.splitlines()
    message = "\n".join(lines)
    return message if len(message) <= VISIBLE else f"{message[:VISIBLE]} … (cut)\n{echo(lines[-1])}"


def _votes_line(answers: Mapping[str, str | None]) -> str:
    return (
        "Votes: "
        + ", ".join(
            f"{seat} {'none' if answer is None else echo(answer)}"
            for seat, answer in answers.items()
        )
        + "."
    )


def _check(name: str, number: object, low: int, high: int) -> None:
    """Raises an ArgumentError unless the number is whole and from ``low`` to ``high``."""
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise ArgumentError(f"{name} must be a whole number from {low} to {high}, not {number!r}")
