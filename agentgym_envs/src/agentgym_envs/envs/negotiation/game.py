"""Negotiation: two sides divide things by offers in turns.

Neither side knows the values of the other.
"""

import random
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from agentgym_envs.core import Outcome, command, echo
from agentgym_envs.envs.negotiation.players import conceder, fair, propose
from agentgym_envs.envs.negotiation.tasks import (
    ITEMS,
    TOTAL,
    Bundle,
    DivisionScenario,
    sumproduct,
    tasks,
    written,
)
from agentgym_envs.multi.game import ScriptedPlayer, TextGame
from agentgym_envs.tasks import Task, TaskSet

TURNS = 10  # turns of both sides together
_PROPOSAL = re.compile(r"propose\s*:(.*)")
_SOME = re.compile(rf"(\d{{1,2}})\s+({'|'.join(ITEMS)})s?")
GRAMMAR = (
    "Say 'propose: 2 books, 1 hat' with what you want to keep, 'propose: nothing', 'accept' or"
    " 'reject'."
)


class Negotiation(TextGame):
    """Two sides divide six kinds of things.

    They have ten turns.

    Attributes:
        scenario: The scenario of the task.
        offer: The bundle that the open proposal leaves to the acting side; None without a proposal.
        history: The seat of each turn and the bundle that it proposed to keep; None if it
            rejected.
    """

    instructions = (
        "You and another divide books, hats, balls, pens, cups and keys. You know what each is"
        f" worth to you, not what it is worth to the other. All things together are worth {TOTAL}"
        " to either of you. You speak in turns:\npropose: 2 books, 1 hat      what you would keep;"
        " the other gets the rest\npropose: nothing\naccept      the last proposal, which makes it"
        f" the deal\nreject      it, without one of your own\nWithout a deal after {TURNS} turns,"
        " yours and the other's, both get nothing."
    )
    tools = MappingProxyType(
        {"propose": "propose: {items}", "accept": "accept", "reject": "reject"}
    )
    players: ClassVar[Mapping[str, ScriptedPlayer]] = MappingProxyType(
        {"conceder": conceder, "fair": fair}
    )
    opponents = "conceder"

    def __init__(self) -> None:
        self.seats = ("negotiator_0", "negotiator_1")

    @property
    def turn(self) -> int:
        """The number of turns that both sides have taken."""
        return len(self.history)

    def make_tasks(self) -> TaskSet:
        """Returns every scenario."""
        return tasks()

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Returns each side's first observation: the things and their values for this side."""
        self.scenario: DivisionScenario = task.data["scenario"]
        self.history: list[tuple[str, Bundle | None]] = []
        self.offer: Bundle | None = None
        return {seat: self._opening(seat) for seat in self.seats}

    def goal(self, seat: str) -> str:
        """Returns the goal, which is the same for both sides."""
        return (
            "make a deal that is worth much to you, at least a fair share, and that could not be"
            " better for one of you without being worse for the other"
        )

    def acting(self) -> tuple[str, ...]:
        """Returns the seat to act; the first side begins."""
        return (self.seats[self.turn % 2],)

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Takes a proposal, or the response to one."""
        ((seat, action),) = said.items()
        words = command(action, 1000).lower()
        if (error := self._error(words)) is not None:
            return {
                s: Outcome(error, 0.0, invalid=True) if s == seat else Outcome("", 0.0)
                for s in self.seats
            }
        if words == "accept":
            return self._deal(seat)
        kept = self._kept(words)
        self.history.append((seat, kept))
        self.offer = None if kept is None else self.scenario.rest(kept)
        texts = {s: _description(s == seat, seat, kept, self.offer) for s in self.seats}
        if self.turn == TURNS:
            return {
                s: Outcome(f"{text}\nThe turns are over, and there is no deal.", 0.0, True)
                for s, text in texts.items()
            }
        return {
            s: Outcome(f"{text}\nTurn {self.turn + 1} of {TURNS} is {self.acting()[0]}'s.", 0.0)
            for s, text in texts.items()
        }

    def actions(self, seat: str) -> list[str]:
        """Returns all proposals, and the responses to the open proposal if there is one."""
        return [
            *(["accept", "reject"] if self.offer is not None else []),
            *map(propose, self.scenario.divisions),
        ]

    def oracle(self, seat: str) -> str:
        """Returns the proposal of the Nash bargaining solution, or the acceptance of a good offer.

        An offer is good if it leads to success. In the last turn any offer above 0 is good enough.
        """
        if self.offer is not None:
            last = self.turn == TURNS - 1
            if self._good(seat, self._first(seat, self.offer)) or (
                last and self.worth(seat, self.offer) > 0
            ):
                return "accept"
        return propose(self.nash_share(seat))

    def secrets(self, seat: str) -> tuple[str, ...]:
        """Returns the sentence with a seat's values."""
        values = self.scenario.values[self.seats.index(seat)]
        return (", ".join(f"a {item} {value}" for item, value in zip(ITEMS, values, strict=True)),)

    def nash_share(self, seat: str) -> Bundle:
        """Returns the bundle of a seat in the Nash bargaining solution."""
        return self._first(seat, self.scenario.nash)

    def worth(self, seat: str, bundle: Bundle) -> int:
        """Returns the value of a bundle for a seat."""
        return sumproduct(bundle, self.scenario.values[self.seats.index(seat)])

    def _first(self, seat: str, bundle: Bundle) -> Bundle:
        """Converts between the bundle of a seat and the bundle of the first side in one division.

        The function is its inverse.
        """
        return bundle if seat == self.seats[0] else self.scenario.rest(bundle)

    def _good(self, seat: str, first: Bundle) -> bool:
        """Returns whether a division is Pareto-optimal and gives a seat at least its Nash value."""
        enough = self.worth(seat, self._first(seat, first)) >= self.worth(
            seat, self.nash_share(seat)
        )
        return enough and self.scenario.is_pareto(first)

    def _opening(self, seat: str) -> str:
        there, goal = (
            f"You are {seat}. On the table: {written(self.scenario.counts)}.",
            self.goal(seat).capitalize(),
        )
        return (
            f"{there}\n{goal}.\nTo you is worth: {self.secrets(seat)[0]}.\nTurn 1 of {TURNS} is"
            f" {self.seats[0]}'s."
        )

    def _error(self, words: str) -> str | None:
        """Returns the error message of an invalid action, or None for a valid one."""
        if words in ("accept", "reject"):
            return f"There is no proposal to {words}. {GRAMMAR}" if self.offer is None else None
        match = _PROPOSAL.fullmatch(words)
        if not match:
            return f"'{echo(words)}' is not understood. {GRAMMAR}"
        kept = _read(match[1])
        if kept is None:
            return f"'{echo(words)}' is no proposal. {GRAMMAR}"
        if any(wanted > count for wanted, count in zip(kept, self.scenario.counts, strict=True)):
            return f"That is more than there is on the table: {written(self.scenario.counts)}."
        return None

    def _kept(self, words: str) -> Bundle | None:
        match = _PROPOSAL.fullmatch(words)
        return _read(match[1]) if match else None

    def _deal(self, seat: str) -> Mapping[str, Outcome]:
        assert self.offer is not None
        first = self._first(seat, self.offer)
        outcomes = {}
        for s in self.seats:
            share = self._first(s, first)
            worth = self.worth(s, share)
            text = f"{seat} accepts. You get {written(share)}, worth {worth} of {TOTAL} to you."
            outcomes[s] = Outcome(text, worth / TOTAL, True, self._good(s, first))
        return outcomes


def _read(text: str) -> Bundle | None:
    """Returns the bundle that a text lists; None for other text and for an item named twice."""
    if text.strip() == "nothing":
        return (0,) * len(ITEMS)
    found = [_SOME.fullmatch(part.strip()) for part in re.split(r",|\band\b", text)]
    named = {match[2]: int(match[1]) for match in found if match}
    return tuple(named.get(item, 0) for item in ITEMS) if len(named) == len(found) else None


def _description(own: bool, seat: str, kept: Bundle | None, rest: Bundle | None) -> str:
    """Returns the text in which a side sees a proposal or a rejection.

    ``own`` is True for the side that acted.
    """
    if kept is None or rest is None:
        return "You reject." if own else f"{seat} rejects."
    if own:
        return f"You propose to keep {written(kept)}; the other would get {written(rest)}."
    return f"{seat} proposes to keep {written(kept)}; you would get {written(rest)}."
