"""Things that can be asked for: countries and chemical elements, from the facts of agentgym/Search (GeoNames, mendeleev)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from agentgym_envs.envs.search.world import facts
from agentgym_envs.envs.twenty_questions import words

Value = str | int | tuple[str, ...] | None
"""Of an attribute: a word, a number, several words, or unknown."""
COMMON = 5  # a word is offered as a question if so many things have it


class Thing(NamedTuple):
    """Something to be found."""

    name: str
    facts: Mapping[str, Value]

    def words(self, attribute: str) -> tuple[str, ...]:
        """Returns the words of an attribute: none if it is unknown."""
        known = self.facts[attribute]
        return known if isinstance(known, tuple) else () if known is None else (str(known),)


class Question(NamedTuple):
    """A question that can be answered with yes or no; its value is written as in the facts."""

    attribute: str
    relation: str
    value: str

    def __str__(self) -> str:
        return f"ask {self.attribute} {self.relation} {self.value}"

    def holds(self, thing: Thing) -> bool:
        """Says whether yes is right; nothing holds of an unknown value."""
        if self.relation == "above":
            known = thing.facts[self.attribute]
            return isinstance(known, int) and known > int(self.value)
        if self.relation == "is":
            return self.value in thing.words(self.attribute)
        wanted = words.folded(self.value)
        return any(words.folded(word).startswith(wanted) for word in thing.words(self.attribute))


class Attribute(NamedTuple):
    """An attribute of all things of a topic.

    Attributes:
        meaning: shown to the asker.
        others: other names of its words.
        units: ways to write its unit.
        single: each thing has a word of its own, so that first letters are offered as questions.
    """

    meaning: str
    others: Mapping[str, str] = {}
    units: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True)
class Topic:
    """A kind of things, all with the same attributes."""

    name: str
    attributes: Mapping[str, Attribute]
    things: Sequence[Thing]

    def find(self, name: str) -> Thing | None:
        """Returns the thing of a name, however it is spelt."""
        found = self.words("name").get(words.key(name))
        return next((thing for thing in self.things if thing.name == found), None)

    def words(self, attribute: str) -> Mapping[str, str]:
        """Returns all words of an attribute by their keys, other names included."""
        return _words(self.name, attribute)

    def range(self, attribute: str) -> tuple[int, int] | None:
        """Returns the smallest and the largest number of an attribute, or None if its values are words."""
        return _range(self.name, attribute)

    def offered(self, things: Sequence[Thing]) -> list[Question]:
        """Returns questions about all attributes: common words, first letters, quarters of each number among some things."""
        return [question for attribute in self.attributes for question in self._offered(attribute, things)]

    def _offered(self, attribute: str, things: Sequence[Thing]) -> list[Question]:
        if self.range(attribute):
            numbers = sorted(n for thing in things if isinstance(n := thing.facts[attribute], int))
            quarters = sorted({numbers[(len(numbers) - 1) * quarter // 4] for quarter in (1, 2, 3)}) if numbers else []
            return [Question(attribute, "above", str(number)) for number in quarters]
        return [Question(attribute, relation, value) for relation, value in _common(self.name, attribute)]


@lru_cache(maxsize=4096)  # the games about a topic share their first questions
def best_question(topic: str, left: tuple[str, ...]) -> Question | None:
    """Returns the offered question whose answer halves best the things that are left, or None if none tells them apart."""
    things = [thing for thing in topics()[topic].things if thing.name in left]
    halves = {q: abs(2 * sum(q.holds(thing) for thing in things) - len(things)) for q in topics()[topic].offered(things)}
    best = min(halves, key=lambda question: halves[question])
    return best if halves[best] < len(things) else None


@cache
def _words(topic: str, attribute: str) -> Mapping[str, str]:
    """Returns the words of an attribute by their keys. Any country can be named as a neighbour."""
    known = topics()[topic]
    source = "name" if attribute == "neighbour" else attribute
    return words.index((word for thing in known.things for word in thing.words(source)), known.attributes[attribute].others)


@cache
def _range(topic: str, attribute: str) -> tuple[int, int] | None:
    numbers = [n for thing in topics()[topic].things if isinstance(n := thing.facts[attribute], int)]
    return (min(numbers), max(numbers)) if numbers else None


@cache
def _common(topic: str, attribute: str) -> list[tuple[str, str]]:
    """Returns the words that several things have, or the first letters where each thing has a word of its own."""
    found: dict[tuple[str, str], int] = {}
    for thing in topics()[topic].things:
        for word in thing.words(attribute):
            key = ("begins with", word[0]) if topics()[topic].attributes[attribute].single else ("is", word)
            found[key] = found.get(key, 0) + 1
    return sorted(key for key, count in found.items() if count >= COMMON)


@cache
def topics() -> dict[str, Topic]:
    """Returns all topics by name."""
    rows = facts()
    countries = [_country(row) for row in rows["countries"].values()]
    elements = [Thing(e.name, {name: getattr(e, name) for name in _ELEMENT}) for e in rows["elements"]]
    return {"country": Topic("country", _COUNTRY, countries), "element": Topic("element", _ELEMENT, elements)}


def _country(row: Any) -> Thing:
    """Returns a country; its name is written without an article, as nobody would look for it under T."""
    name, neighbours = _plain(row.name), tuple(map(_plain, row.neighbours))
    attributes = {
        "name": name,
        "continent": row.continent,
        "capital": row.capital.strip(),
        "currency": row.currency,
        "area": row.area,
    }
    return Thing(name, {**attributes, "neighbour": neighbours, "neighbours": len(neighbours)})


def _plain(name: str) -> str:
    return name.removeprefix("The ")


_COUNTRY = {
    "name": Attribute("the name in English", words.COUNTRIES, single=True),
    "continent": Attribute("Africa, Asia, Europe, North America, Oceania or South America"),
    "capital": Attribute("the name of the capital", words.CAPITALS, single=True),
    "currency": Attribute("the name of the currency, such as Dollar", words.CURRENCIES),
    "area": Attribute(
        "in square kilometres (km2)",
        units=("km2", "km^2", "sq km", "sqkm", "square km", "square kilometres", "square kilometers"),
    ),
    "neighbour": Attribute("the name of a country or territory with a common land border", words.COUNTRIES),
    "neighbours": Attribute("the number of such countries and territories"),
}
_ELEMENT = {
    "name": Attribute("the name in English", words.ELEMENTS, single=True),
    "symbol": Attribute("the chemical symbol, such as Fe", single=True),
    "number": Attribute("the atomic number"),
    "period": Attribute("the row of the periodic table"),
    "block": Attribute("s, p, d or f", words.BLOCKS),
    "year": Attribute("the year of the discovery, which is unknown for some"),
}
