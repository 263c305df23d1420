"""The things to find: countries and chemical elements.

The facts are those of ``agentgym/Search`` (GeoNames, mendeleev).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from agentgym_envs.envs.search.world import facts
from agentgym_envs.envs.twenty_questions import words

Value = str | int | tuple[str, ...] | None
"""The value of an attribute: a word, a number, several words, or None if it is unknown."""
COMMON = 5  # number of things that share a word from which it is offered as a question


class HiddenThing(NamedTuple):
    """A thing to find."""

    name: str
    facts: Mapping[str, Value]

    def words(self, attribute: str) -> tuple[str, ...]:
        """Returns the words of an attribute. The tuple is empty if the value is unknown."""
        known = self.facts[attribute]
        return known if isinstance(known, tuple) else () if known is None else (str(known),)


class YesNoQuestion(NamedTuple):
    """A yes/no question. Its value is spelled as in the facts."""

    attribute: str
    relation: str
    value: str

    def __str__(self) -> str:
        return f"ask {self.attribute} {self.relation} {self.value}"

    def holds(self, thing: HiddenThing) -> bool:
        """Returns whether the true answer is yes. For an unknown value it is no."""
        if self.relation == "above":
            known = thing.facts[self.attribute]
            return isinstance(known, int) and known > int(self.value)
        if self.relation == "is":
            return self.value in thing.words(self.attribute)
        wanted = words.folded(self.value)
        return any(words.folded(word).startswith(wanted) for word in thing.words(self.attribute))


class ThingAttribute(NamedTuple):
    """An attribute of all things of a topic.

    Attributes:
        meaning: The explanation for the asker.
        synonyms: The words of the attribute by their other names.
        units: The spellings of its unit.
        single: Each thing has a different word. The offered questions are then about first letters.
    """

    meaning: str
    synonyms: Mapping[str, str] = {}
    units: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True)
class ThingTopic:
    """A kind of things with the same attributes."""

    name: str
    attributes: Mapping[str, ThingAttribute]
    things: Sequence[HiddenThing]

    def find(self, name: str) -> HiddenThing | None:
        """Returns the thing with this name, in any known spelling; None for other names."""
        found = self.words("name").get(words.key(name))
        return next((thing for thing in self.things if thing.name == found), None)

    def words(self, attribute: str) -> Mapping[str, str]:
        """Returns all words of an attribute by their keys, synonyms included."""
        return _words(self.name, attribute)

    def range(self, attribute: str) -> tuple[int, int] | None:
        """Returns the smallest and the largest number of an attribute; None for words."""
        return _range(self.name, attribute)

    def offered(self, things: Sequence[HiddenThing]) -> list[YesNoQuestion]:
        """Returns questions about all attributes, in the order of the attributes.

        They ask for common words, for first letters, and for the quartiles of each number among
        ``things``.
        """
        return [
            question
            for attribute in self.attributes
            for question in self._offered(attribute, things)
        ]

    def _offered(self, attribute: str, things: Sequence[HiddenThing]) -> list[YesNoQuestion]:
        if self.range(attribute):
            numbers = sorted(n for thing in things if isinstance(n := thing.facts[attribute], int))
            quarters = (
                sorted({numbers[(len(numbers) - 1) * quarter // 4] for quarter in (1, 2, 3)})
                if numbers
                else []
            )
            return [YesNoQuestion(attribute, "above", str(number)) for number in quarters]
        return [
            YesNoQuestion(attribute, relation, value)
            for relation, value in _common(self.name, attribute)
        ]


@lru_cache(maxsize=4096)  # the games about a topic share their first questions
def best_question(topic: str, left: tuple[str, ...]) -> YesNoQuestion | None:
    """Returns the offered question that splits the remaining things most evenly.

    Returns None if no offered question splits them.

    Args:
        topic: The name of the topic.
        left: The names of the remaining things.
    """
    things = [thing for thing in topics()[topic].things if thing.name in left]
    imbalance = {
        q: abs(2 * sum(q.holds(thing) for thing in things) - len(things))
        for q in topics()[topic].offered(things)
    }
    best = min(imbalance, key=lambda question: imbalance[question])
    return best if imbalance[best] < len(things) else None


@cache
def _words(topic: str, attribute: str) -> Mapping[str, str]:
    """Returns the words of an attribute by their keys. Every country is a valid neighbour."""
    known = topics()[topic]
    source = "name" if attribute == "neighbour" else attribute
    return words.index(
        (word for thing in known.things for word in thing.words(source)),
        known.attributes[attribute].synonyms,
    )


@cache
def _range(topic: str, attribute: str) -> tuple[int, int] | None:
    numbers = [
        n for thing in topics()[topic].things if isinstance(n := thing.facts[attribute], int)
    ]
    return (min(numbers), max(numbers)) if numbers else None


@cache
def _common(topic: str, attribute: str) -> list[tuple[str, str]]:
    """Returns relations and values that at least ``COMMON`` things share.

    The values are words, or first letters where each thing has a different word.
    """
    found: dict[tuple[str, str], int] = {}
    for thing in topics()[topic].things:
        for word in thing.words(attribute):
            key = (
                ("begins with", word[0])
                if topics()[topic].attributes[attribute].single
                else ("is", word)
            )
            found[key] = found.get(key, 0) + 1
    return sorted(key for key, count in found.items() if count >= COMMON)


@cache
def topics() -> dict[str, ThingTopic]:
    """Returns all topics by name."""
    rows = facts()
    countries = [_country(row) for row in rows["countries"].values()]
    elements = [
        HiddenThing(e.name, {name: getattr(e, name) for name in _ELEMENT}) for e in rows["elements"]
    ]
    return {
        "country": ThingTopic("country", _COUNTRY, countries),
        "element": ThingTopic("element", _ELEMENT, elements),
    }


def _country(row: Any) -> HiddenThing:
    """Returns a country from its row of facts."""
    name, neighbours = _without_article(row.name), tuple(map(_without_article, row.neighbours))
    single = {
        "name": name,
        "continent": row.continent,
        "capital": row.capital.strip(),
        "currency": row.currency,
        "area": row.area,
    }
    return HiddenThing(name, {**single, "neighbour": neighbours, "neighbours": len(neighbours)})


def _without_article(name: str) -> str:
    """Returns a name without "The ": the first letter of The Gambia is G."""
    return name.removeprefix("The ")


_COUNTRY = {
    "name": ThingAttribute("the name in English", words.COUNTRIES, single=True),
    "continent": ThingAttribute("Africa, Asia, Europe, North America, Oceania or South America"),
    "capital": ThingAttribute("the name of the capital", words.CAPITALS, single=True),
    "currency": ThingAttribute("the name of the currency, such as Dollar", words.CURRENCIES),
    "area": ThingAttribute(
        "in square kilometres (km2)",
        units=(
            "km2",
            "km^2",
            "sq km",
            "sqkm",
            "square km",
            "square kilometres",
            "square kilometers",
        ),
    ),
    "neighbour": ThingAttribute(
        "the name of a country or territory with a common land border", words.COUNTRIES
    ),
    "neighbours": ThingAttribute("the number of such countries and territories"),
}
_ELEMENT = {
    "name": ThingAttribute("the name in English", words.ELEMENTS, single=True),
    "symbol": ThingAttribute("the chemical symbol, such as Fe", single=True),
    "number": ThingAttribute("the atomic number"),
    "period": ThingAttribute("the row of the periodic table"),
    "block": ThingAttribute("s, p, d or f", words.BLOCKS),
    "year": ThingAttribute("the year of the discovery, which is unknown for some"),
}
