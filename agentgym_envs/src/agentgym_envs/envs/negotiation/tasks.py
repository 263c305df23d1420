"""The scenarios: things to divide, their values for each side, and the good divisions.

All divisions are enumerated to find the good ones.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

from agentgym_envs.tasks import Task, TaskSet, split_of

# Six kinds: with three kinds every sixth guess at a division was the Nash solution.
ITEMS = ("book", "hat", "ball", "pen", "cup", "key")
TOTAL = 10  # value of all things together, for each side
THINGS = (6, 7, 8)  # numbers of things in a scenario
EACH = 2000  # scenarios per number of things

Bundle = tuple[int, ...]
"""The count of each item, in the order of ``ITEMS``."""


def sumproduct(one: Bundle, other: Bundle) -> int:
    """Returns the sum of the products: the value of a bundle at the given values per item."""
    return sum(a * b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class DivisionScenario:
    """The things to divide and their values.

    >>> DivisionScenario((1, 2), ((4, 3), (10, 0))).nash
    (0, 2)

    Attributes:
        counts: The count of each item.
        values: The value of one of each item, for the first side and for the second.
    """

    counts: Bundle
    values: tuple[Bundle, Bundle]

    @cached_property
    def divisions(self) -> tuple[Bundle, ...]:
        """All bundles that the first side can get."""
        return tuple(product(*(range(count + 1) for count in self.counts)))

    def rest(self, bundle: Bundle) -> Bundle:
        """Returns the bundle that is left for one side if the other gets ``bundle``."""
        return tuple(count - taken for count, taken in zip(self.counts, bundle, strict=True))

    def worths(self, first: Bundle) -> tuple[int, int]:
        """Returns the values of a division for both sides; ``first`` is the first side's bundle."""
        return sumproduct(first, self.values[0]), sumproduct(self.rest(first), self.values[1])

    def is_pareto(self, first: Bundle) -> bool:
        """Returns whether every division that is better for one side is worse for the other."""
        mine, theirs = self.worths(first)
        worths = map(self.worths, self.divisions)
        return not any(a >= mine and b >= theirs and (a, b) != (mine, theirs) for a, b in worths)

    @cached_property
    def nash(self) -> Bundle:
        """The first side's bundle in the Nash bargaining solution (Nash, 1950).

        The solution is the division with the largest product of both values. No deal has the value
        0 for both sides. Of several divisions the most even one counts, then the first.
        """
        return max(self.divisions, key=lambda first: _fairness(*self.worths(first)))


def _fairness(mine: int, theirs: int) -> tuple[int, int]:
    return mine * theirs, -abs(mine - theirs)


def written(bundle: Bundle) -> str:
    """Returns a bundle as text.

    >>> written((2, 1, 0, 0, 0, 0))
    '2 books, 1 hat'
    """
    some = [
        f"{n} {item}{'' if n == 1 else 's'}" for n, item in zip(bundle, ITEMS, strict=True) if n
    ]
    return ", ".join(some) or "nothing"


@cache
def tasks() -> TaskSet:
    """Returns the tasks. The difficulty is the number of things."""
    made = {_kind(s): s for things in THINGS for s in _scenarios(things)}
    return TaskSet(
        Task(id=_name(s), split=split_of(kind), difficulty=sum(s.counts), data={"scenario": s})
        for kind, s in made.items()
    )


def _scenarios(things: int) -> Iterator[DivisionScenario]:
    """Yields random scenarios.

    Each has at least one of each item. All things together have the value ``TOTAL`` for each side.
    Every item has a value above 0 for at least one side. Some division therefore gives both sides a
    value above 0.
    """
    rng, seen = random.Random(f"negotiation {things}"), set[str]()
    every = [
        counts
        for counts in product(range(1, things - len(ITEMS) + 2), repeat=len(ITEMS))
        if sum(counts) == things
    ]
    while len(seen) < EACH:
        counts = rng.choice(every)
        scenario = DivisionScenario(
            counts, (rng.choice(_values(counts)), rng.choice(_values(counts)))
        )
        if (
            all(map(any, zip(*scenario.values, strict=True)))
            and (kind := _kind(scenario)) not in seen
        ):
            seen.add(kind)
            yield scenario


@cache
def _values(counts: Bundle) -> list[Bundle]:
    """Returns all values per item at which the counts have the value ``TOTAL`` together."""
    return [tuple(values) for values in _valued(counts, TOTAL)]


def _valued(counts: Bundle, worth: int) -> Iterator[list[int]]:
    if not counts:
        yield from [[]] if worth == 0 else []
        return
    for value in range(worth // counts[0] + 1):
        for rest in _valued(counts[1:], worth - value * counts[0]):
            yield [value, *rest]


def _name(s: DivisionScenario) -> str:
    return "-".join(".".join(map(str, numbers)) for numbers in (s.counts, *s.values))


def _kind(s: DivisionScenario) -> str:
    """Returns the same text for scenarios that differ only in the names of items and sides."""
    first, second = s.values
    return str(
        min(
            sorted(zip(s.counts, *pair, strict=True)) for pair in ((first, second), (second, first))
        )
    )
