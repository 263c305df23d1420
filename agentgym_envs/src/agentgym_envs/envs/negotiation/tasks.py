"""Things to divide, the worth of each to either side, and the good divisions, found by counting all out."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

from agentgym_envs.tasks import Task, TaskSet, split_of

ITEMS = ("book", "hat", "ball", "pen", "cup", "key")  # with three kinds every sixth guess at a division was the Nash solution
TOTAL = 10  # what everything is worth to each side
THINGS = (6, 7, 8)  # in all
EACH = 2000  # scenarios with so many things

Bundle = tuple[int, ...]
"""How many of each item."""


def sumproduct(one: Bundle, other: Bundle) -> int:
    """Returns what a bundle is worth at given values."""
    return sum(a * b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Scenario:
    """What two have to divide.

    Attributes:
        counts: how many there are of each item.
        values: what one of each is worth, to the first side and to the second.
    """

    counts: Bundle
    values: tuple[Bundle, Bundle]

    @cached_property
    def divisions(self) -> tuple[Bundle, ...]:
        """All that the first side may get."""
        return tuple(product(*(range(count + 1) for count in self.counts)))

    def rest(self, bundle: Bundle) -> Bundle:
        """Returns what one side gets if the other gets this."""
        return tuple(count - taken for count, taken in zip(self.counts, bundle, strict=True))

    def worths(self, first: Bundle) -> tuple[int, int]:
        """Returns what a division is worth to both sides; ``first`` is what the first one gets."""
        return sumproduct(first, self.values[0]), sumproduct(self.rest(first), self.values[1])

    def is_pareto(self, first: Bundle) -> bool:
        """Says whether no other division is better for one side and as good for the other."""
        mine, theirs = self.worths(first)
        others = map(self.worths, self.divisions)
        return not any(a >= mine and b >= theirs and (a, b) != (mine, theirs) for a, b in others)

    @cached_property
    def nash(self) -> Bundle:
        """The first side's worth in the division with the largest product of worths (Nash, 1950).

        Of several, the most even one; of those, the one that comes first. No deal is worth nothing to either side.
        """
        return max(self.divisions, key=lambda first: _fairness(*self.worths(first)))


def _fairness(mine: int, theirs: int) -> tuple[int, int]:
    return mine * theirs, -abs(mine - theirs)


def written(bundle: Bundle) -> str:
    """Writes a bundle: ``2 books, 1 hat``."""
    some = [f"{n} {item}{'' if n == 1 else 's'}" for n, item in zip(bundle, ITEMS, strict=True) if n]
    return ", ".join(some) or "nothing"


@cache
def tasks() -> TaskSet:
    """Returns the tasks; the difficulty is the number of things."""
    made = {_kind(s): s for things in THINGS for s in _scenarios(things)}
    return TaskSet(
        Task(id=_name(s), split=split_of(kind), difficulty=sum(s.counts), data={"scenario": s}) for kind, s in made.items()
    )


def _scenarios(things: int) -> Iterator[Scenario]:
    """Yields random scenarios.

    There is one of each item at least, everything is worth ``TOTAL`` to either side, and every item is worth something to one of
    them. So there always is a division in which both get something.
    """
    rng, seen = random.Random(f"negotiation {things}"), set[str]()
    every = [counts for counts in product(range(1, things - len(ITEMS) + 2), repeat=len(ITEMS)) if sum(counts) == things]
    while len(seen) < EACH:
        counts = rng.choice(every)
        scenario = Scenario(counts, (rng.choice(_values(counts)), rng.choice(_values(counts))))
        if all(map(any, zip(*scenario.values, strict=True))) and (kind := _kind(scenario)) not in seen:
            seen.add(kind)
            yield scenario


@cache
def _values(counts: Bundle) -> list[Bundle]:
    """Returns the values of one of each item at which all are worth ``TOTAL``."""
    return [tuple(values) for values in _valued(counts, TOTAL)]


def _valued(counts: Bundle, worth: int) -> Iterator[list[int]]:
    if not counts:
        yield from [[]] if worth == 0 else []
        return
    for value in range(worth // counts[0] + 1):
        for others in _valued(counts[1:], worth - value * counts[0]):
            yield [value, *others]


def _name(s: Scenario) -> str:
    return "-".join(".".join(map(str, numbers)) for numbers in (s.counts, *s.values))


def _kind(s: Scenario) -> str:
    """Returns what scenarios share that are the same but for the names of the items and the sides."""
    first, second = s.values
    return str(min(sorted(zip(s.counts, *pair, strict=True)) for pair in ((first, second), (second, first))))
