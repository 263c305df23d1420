"""Policies for Negotiation that ignore the values; they count things and follow offers."""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

Bundle = dict[str, int]
Choice = Callable[[Bundle, Bundle | None, int, random.Random], Bundle | str]
"""Returns "accept", "reject" or a bundle to keep.

The arguments are the things on the table, the latest offer, the turn and a random generator.
"""


class Policy:
    """Remembers the things on the table and asks a function for the choice.

    Args:
        choose: returns the choice of each turn.
    """

    def __init__(self, choose: Choice):
        self.choose, self.table = choose, Bundle()

    def __call__(self, observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        """Returns the action."""
        if info["turn"] == 0:
            self.table = bundle(re.findall(r"On the table: (.*)\.", observation)[0])
        offers = re.findall(r"you would get (.*)\.", observation)
        chosen = self.choose(self.table, bundle(offers[-1]) if offers else None, info["turn"], rng)
        return chosen if isinstance(chosen, str) else proposal(chosen)


def bundle(text: str) -> Bundle:
    """Parses a text such as "2 books, 1 hat"."""
    return {item.rstrip("s"): int(count) for count, item in re.findall(r"(\d+) (\w+)", text)}


def proposal(kept: Bundle) -> str:
    """Returns the action that proposes to keep a bundle."""
    return "propose: " + (
        ", ".join(f"{count} {item}s" for item, count in kept.items() if count) or "nothing"
    )


def half(table: Bundle, *_: object) -> Bundle:
    """Returns half of each kind, rounded up."""
    return {item: (count + 1) // 2 for item, count in table.items()}


def all_but_one(table: Bundle, offer: object, turn: int, rng: random.Random) -> Bundle:
    """Returns everything but one thing."""
    left = rng.choice(list(table))
    return {item: count - (item == left) for item, count in table.items()}


def half_of_the_kinds(table: Bundle, offer: object, turn: int, rng: random.Random) -> Bundle:
    """Returns all things of three kinds."""
    kinds = rng.sample(list(table), len(table) // 2)
    return {item: table[item] for item in kinds}


def accept_at(last: int) -> Choice:
    """Returns a choice that asks for half, then rejects, and accepts from turn ``last`` on."""

    def choose(table: Bundle, offer: Bundle | None, turn: int, rng: random.Random) -> Bundle | str:
        if offer is None:
            return half(table)
        return "accept" if turn >= last else "reject"

    return choose


def offer_and(more: int) -> Choice:
    """Returns a choice that asks for the offer and ``more`` things.

    It prefers kinds that the offer contains.
    """

    def choose(table: Bundle, offer: Bundle | None, turn: int, rng: random.Random) -> Bundle:
        if offer is None:
            return half(table)
        kept = {item: offer.get(item, 0) for item in table}
        for _ in range(more):
            left = [item for item in table if kept[item] < table[item]]
            started = [item for item in left if kept[item]] or left
            if started:
                kept[rng.choice(started)] += 1
        return kept

    return choose


def wait_for_offer_and_one(
    table: Bundle, offer: Bundle | None, turn: int, rng: random.Random
) -> Bundle | str:
    """Rejects offers before the fourth turn, then asks for the offer and one thing more."""
    return offer_and(1)(table, offer, turn, rng) if offer is None or turn >= 3 else "reject"


def opposite_side(table: Bundle, offer: Bundle | None, turn: int, rng: random.Random) -> Bundle:
    """Returns the bundle that the other side wants to keep."""
    return {item: count - (offer or {}).get(item, 0) for item, count in table.items()}


def everything_then_accept(
    table: Bundle, offer: Bundle | None, turn: int, rng: random.Random
) -> Bundle | str:
    """Asks for everything first and then accepts."""
    return table if offer is None else "accept"


POLICIES: dict[str, dict[str, Policy]] = {
    "agentgym/Negotiation-v1": {
        "everything, then accept": Policy(everything_then_accept),
        "everything in each turn": Policy(lambda table, offer, turn, rng: table),
        "everything but one thing": Policy(all_but_one),
        "nothing": Policy(lambda table, offer, turn, rng: {}),
        "half of each kind": Policy(half),
        "all of three kinds": Policy(half_of_the_kinds),
        "proposal of the other side": Policy(opposite_side),
        "reject, accept in the third turn": Policy(accept_at(2)),
        "reject, accept in the last turn": Policy(accept_at(4)),
        "offer and one thing more": Policy(offer_and(1)),
        "reject twice, then offer and one thing more": Policy(wait_for_offer_and_one),
        "offer and two things more": Policy(offer_and(2)),
    }
}
