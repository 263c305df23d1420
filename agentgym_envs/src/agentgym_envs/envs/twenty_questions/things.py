"""What can be asked for: countries and chemical elements, from the facts of agentgym/Search (GeoNames, mendeleev)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from agentgym_envs.envs.search.world import facts

Value = str | int | tuple[str, ...] | None
"""Of an attribute: a word, a number, several words, or unknown."""
_QUESTION = re.compile(r"ask\s+([a-z]+)\s+(is|above|begins with)\s+(.{1,60}?)\??", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,12}")
NAMES = ("name", "capital", "symbol")  # attributes in which each thing has a word of its own
COMMON = 5  # a word is offered as a question if so many things have it


class Thing(NamedTuple):
    """Something to be found."""

    name: str
    facts: Mapping[str, Value]


class Question(NamedTuple):
    """A question that can be answered with yes or no."""

    attribute: str
    relation: str
    value: str

    def __str__(self) -> str:
        return f"ask {self.attribute} {self.relation} {self.value}"

    def holds(self, thing: Thing) -> bool:
        """Says whether yes is right; what is unknown has no value that it could be."""
        known = thing.facts[self.attribute]
        if self.relation == "above":
            return isinstance(known, int) and known > int(self.value)
        words = known if isinstance(known, tuple) else () if known is None else (str(known),)
        wanted = self.value.casefold()
        if self.relation == "is":
            return any(word.casefold() == wanted for word in words)
        return any(word.casefold().startswith(wanted) for word in words)


@dataclass(frozen=True)
class Topic:
    """A kind of things, all with the same attributes."""

    name: str
    things: Sequence[Thing]

    @property
    def attributes(self) -> list[str]:
        """Their names."""
        return list(self.things[0].facts)

    def read(self, action: str) -> Question | None:
        """Reads a question, or returns None if it is none about this topic."""
        found = _QUESTION.fullmatch(action)
        if not found:
            return None
        attribute, relation, value = found[1].lower(), found[2].lower(), found[3].strip()
        if attribute not in self.attributes or (relation == "above" and not (_NUMBER.fullmatch(value) and self._counts(attribute))):
            return None
        return Question(attribute, relation, value)

    def find(self, name: str) -> Thing | None:
        """Returns the thing of a name."""
        return next((thing for thing in self.things if thing.name.casefold() == name.casefold()), None)

    def offered(self, things: Sequence[Thing]) -> list[Question]:
        """Returns questions about all attributes: common words, first letters, quarters of each number among some things."""
        return [question for attribute in self.attributes for question in self._offered(attribute, things)]

    def _offered(self, attribute: str, things: Sequence[Thing]) -> list[Question]:
        if self._counts(attribute):
            numbers = sorted(n for thing in things if isinstance(n := thing.facts[attribute], int))
            quarters = sorted({numbers[(len(numbers) - 1) * quarter // 4] for quarter in (1, 2, 3)}) if numbers else []
            return [Question(attribute, "above", str(number)) for number in quarters]
        return [Question(attribute, relation, value) for relation, value in _common(self.name, attribute)]

    def _counts(self, attribute: str) -> bool:
        return any(isinstance(thing.facts[attribute], int) for thing in self.things)


@lru_cache(maxsize=4096)  # the games about a topic share their first questions
def best_question(topic: str, left: tuple[str, ...]) -> Question | None:
    """Returns the offered question whose answer halves best the things that are left, or None if none tells them apart."""
    things = [thing for thing in topics()[topic].things if thing.name in left]
    halves = {q: abs(2 * sum(q.holds(thing) for thing in things) - len(things)) for q in topics()[topic].offered(things)}
    best = min(halves, key=lambda question: halves[question])
    return best if halves[best] < len(things) else None


@cache
def _common(topic: str, attribute: str) -> list[tuple[str, str]]:
    """Returns the words that several things have, or for a name its first letters, with how they are asked for."""
    found: dict[tuple[str, str], int] = {}
    for thing in topics()[topic].things:
        known = thing.facts[attribute]
        for word in known if isinstance(known, tuple) else (str(known),):
            key = ("begins with", word[0]) if attribute in NAMES else ("is", word)
            found[key] = found.get(key, 0) + 1
    return sorted(key for key, count in found.items() if count >= COMMON)


@cache
def topics() -> dict[str, Topic]:
    """Returns all topics by name."""
    rows = facts()
    countries = [
        Thing(
            c.name,
            {
                **{"name": c.name, "continent": c.continent, "capital": c.capital, "currency": c.currency, "area": c.area},
                **{"neighbour": tuple(c.neighbours), "neighbours": len(c.neighbours)},
            },
        )
        for c in rows["countries"].values()
    ]
    elements = [
        Thing(
            e.name, {"name": e.name, "symbol": e.symbol, "number": e.number, "period": e.period, "block": e.block, "year": e.year}
        )
        for e in rows["elements"]
    ]
    return {"country": Topic("country", countries), "element": Topic("element", elements)}
