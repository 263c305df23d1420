"""Negotiation: two divide some things by turns of offers; neither knows the worth of a thing to the other."""

import random
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from agentgym_envs.core import Outcome, command, echo
from agentgym_envs.envs.negotiation.players import conceder, fair, propose
from agentgym_envs.envs.negotiation.tasks import ITEMS, TOTAL, Bundle, Scenario, sumproduct, tasks, written
from agentgym_envs.multi.game import Player, TextGame
from agentgym_envs.tasks import Task, TaskSet

TURNS = 10  # of both together
_PROPOSAL = re.compile(r"propose\s*:(.*)")
_SOME = re.compile(rf"(\d{{1,2}})\s+({'|'.join(ITEMS)})s?")
GRAMMAR = "Say 'propose: 2 books, 1 hat' with what you want to keep, 'propose: nothing', 'accept' or 'reject'."


class Negotiation(TextGame):
    """Two sides, six kinds of things, ten turns.

    Attributes:
        scenario: of the task.
        offer: what the side that acts now would get, if the other has made it an offer.
        history: for each turn the seat and the bundle that it proposed to keep, None for a rejection.
    """

    instructions = (
        "You and another divide books, hats, balls, pens, cups and keys. You know what each is worth to you, "
        "not what it is worth to the other. "
        f"All things together are worth {TOTAL} to either of you. You speak in turns:\n"
        "propose: 2 books, 1 hat      what you would keep; the other gets the rest\n"
        "propose: nothing\n"
        "accept      the last proposal, which makes it the deal\n"
        f"reject      it, without one of your own\nWithout a deal after {TURNS} turns, yours and the other's, both get nothing."
    )
    tools = MappingProxyType({"propose": "propose: {items}", "accept": "accept", "reject": "reject"})
    players: ClassVar[Mapping[str, Player]] = MappingProxyType({"conceder": conceder, "fair": fair})
    opponents = "conceder"

    def __init__(self) -> None:
        self.seats = ("negotiator_0", "negotiator_1")

    @property
    def turn(self) -> int:
        """Returns the number of turns taken by both sides."""
        return len(self.history)

    def make_tasks(self) -> TaskSet:
        """Returns every scenario."""
        return tasks()

    def begin(self, task: Task, rng: random.Random) -> Mapping[str, str]:
        """Tells each side what there is, and what it is worth to it."""
        self.scenario: Scenario = task.data["scenario"]
        self.history: list[tuple[str, Bundle | None]] = []
        self.offer: Bundle | None = None
        return {seat: self._opening(seat) for seat in self.seats}

    def goal(self, seat: str) -> str:
        """Returns the same for both."""
        return (
            "make a deal that is worth much to you, at least a fair share, and that could not be better for one of you "
            "without being worse for the other"
        )

    def acting(self) -> tuple[str, ...]:
        """Returns whose turn it is; the first side begins."""
        return (self.seats[self.turn % 2],)

    def act(self, said: Mapping[str, str]) -> Mapping[str, Outcome]:
        """Takes an offer or the answer to one."""
        ((seat, action),) = said.items()
        words = command(action, 1000).lower()
        if (wrong := self._wrong(words)) is not None:
            return {s: Outcome(wrong, 0.0, invalid=True) if s == seat else Outcome("", 0.0) for s in self.seats}
        if words == "accept":
            return self._deal(seat)
        kept = self._kept(words)
        self.history.append((seat, kept))
        self.offer = None if kept is None else self.scenario.rest(kept)
        texts = {s: _shown(s == seat, seat, kept, self.offer) for s in self.seats}
        if self.turn == TURNS:
            return {s: Outcome(f"{text}\nThe turns are over, and there is no deal.", 0.0, True) for s, text in texts.items()}
        return {s: Outcome(f"{text}\nTurn {self.turn + 1} of {TURNS} is {self.acting()[0]}'s.", 0.0) for s, text in texts.items()}

    def actions(self, seat: str) -> list[str]:
        """Returns all proposals, and the answers to an offer if there is one."""
        return [*(["accept", "reject"] if self.offer is not None else []), *map(propose, self.scenario.divisions)]

    def oracle(self, seat: str) -> str:
        """Proposes the Nash bargaining solution, and accepts an offer that succeeds; in the last turn it accepts any worth."""
        if self.offer is not None:
            last = self.turn == TURNS - 1
            if self._good(seat, self._first(seat, self.offer)) or (last and self.worth(seat, self.offer) > 0):
                return "accept"
        return propose(self.nash_share(seat))

    def secrets(self, seat: str) -> tuple[str, ...]:
        """Returns what things are worth to a seat."""
        values = self.scenario.values[self.seats.index(seat)]
        return (", ".join(f"a {item} {value}" for item, value in zip(ITEMS, values, strict=True)),)

    def nash_share(self, seat: str) -> Bundle:
        """Returns what a seat gets in the Nash bargaining solution."""
        return self._first(seat, self.scenario.nash)

    def worth(self, seat: str, bundle: Bundle) -> int:
        """Returns what a seat's bundle is worth to it."""
        return sumproduct(bundle, self.scenario.values[self.seats.index(seat)])

    def _first(self, seat: str, bundle: Bundle) -> Bundle:
        """Returns what the first side gets of a division in which a seat gets this; and the other way round."""
        return bundle if seat == self.seats[0] else self.scenario.rest(bundle)

    def _good(self, seat: str, first: Bundle) -> bool:
        """Says whether a division wastes nothing and is worth at least its Nash share to a seat."""
        enough = self.worth(seat, self._first(seat, first)) >= self.worth(seat, self.nash_share(seat))
        return enough and self.scenario.is_pareto(first)

    def _opening(self, seat: str) -> str:
        there, goal = f"You are {seat}. On the table: {written(self.scenario.counts)}.", self.goal(seat).capitalize()
        return f"{there}\n{goal}.\nTo you is worth: {self.secrets(seat)[0]}.\nTurn 1 of {TURNS} is {self.seats[0]}'s."

    def _wrong(self, words: str) -> str | None:
        """Says what is wrong with an action, or returns None."""
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
    """Reads a bundle; None if it is none, or names an item twice."""
    if text.strip() == "nothing":
        return (0,) * len(ITEMS)
    found = [_SOME.fullmatch(part.strip()) for part in re.split(r",|\band\b", text)]
    named = {match[2]: int(match[1]) for match in found if match}
    return tuple(named.get(item, 0) for item in ITEMS) if len(named) == len(found) else None


def _shown(own: bool, seat: str, kept: Bundle | None, rest: Bundle | None) -> str:
    """Returns what a side sees of an offer or a rejection."""
    if kept is None or rest is None:
        return "You reject." if own else f"{seat} rejects."
    if own:
        return f"You propose to keep {written(kept)}; the other would get {written(rest)}."
    return f"{seat} proposes to keep {written(kept)}; you would get {written(rest)}."
