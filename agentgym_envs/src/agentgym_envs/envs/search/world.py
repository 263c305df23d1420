"""The embedded corpus and its questions, made from ``facts.json``. That file names its sources.

A question of ``n`` hops needs ``n`` passages. The question names the first passage only, and each
passage names the next one.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from agentgym_envs.tasks import stable_hash

# Maximum number of questions of a kind with the same answer. Without this limit, one answer solved
# every fifth question of a kind.
ALIKE = 12


class Passage(NamedTuple):
    """A document of a corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class SearchQuestion:
    """A question with its answers.

    Attributes:
        id: unique in its file.
        text: the question.
        answers: all correct answers.
        gold: ids of the passages that lead to the answer, in the order of the hops.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    gold: tuple[str, ...] = ()


class Country(NamedTuple):
    """A country or territory of ``facts.json``."""

    code: str
    name: str
    capital: str
    continent: str
    currency: str
    area: int
    domain: str
    neighbours: list[str]


class City(NamedTuple):
    """A city of ``facts.json``."""

    name: str
    code: str
    population: int
    zone: str


class ChemicalElement(NamedTuple):
    """A chemical element of ``facts.json``."""

    number: int
    name: str
    symbol: str
    period: int
    block: str
    year: int | None


@cache
def facts() -> dict[str, Any]:
    """Returns the facts as named tuples, by "countries", "cities" and "elements"."""
    raw = json.loads((files(__package__) / "facts.json").read_text(encoding="utf-8"))
    return {
        "countries": {row[0]: Country(*row) for row in raw["countries"]},
        "cities": [City(*row) for row in raw["cities"]],
        "elements": [ChemicalElement(*row) for row in raw["elements"]],
    }


@cache
def corpus() -> tuple[Passage, ...]:
    """Returns all passages."""
    rows, countries = facts(), facts()["countries"]
    return (
        *[Passage(_country_id(c), c.name, _about_country(c)) for c in countries.values()],
        *[
            Passage(_city_id(c), c.name, _about_city(c, countries[c.code].name))
            for c in rows["cities"]
        ],
        *[Passage(_element_id(e), e.name, _about_element(e)) for e in rows["elements"]],
    )


@cache
def questions() -> tuple[SearchQuestion, ...]:
    """Returns all questions, fewest hops first.

    Questions that name a later passage are left out: one about Port Sudan would name Sudan.
    """
    titles = {p.id: p.title for p in corpus()}
    made = (*_one_hop(), *_two_hops(), *_three_hops())
    return tuple(
        _few_alike(q for q in made if not any(titles[later] in q.text for later in q.gold[1:]))
    )


def kind(question: SearchQuestion) -> str:
    """Returns the kind of an embedded question, from its hops and attribute: ``hop2-capital``."""
    return "-".join(question.id.split("-")[:2])


def _few_alike(made: Iterable[SearchQuestion]) -> Iterator[SearchQuestion]:
    """Yields the first ``ALIKE`` questions of each kind and answer."""
    seen = Counter[tuple[str, tuple[str, ...]]]()
    for question in made:
        seen[kind(question), question.answers] += 1
        if seen[kind(question), question.answers] <= ALIKE:
            yield question


def _country_id(c: Country) -> str:
    return f"country-{c.code}"


def _city_id(c: City) -> str:
    return f"city-{_slug(c.name)}"


def _element_id(e: ChemicalElement) -> str:
    return f"element-{e.symbol}"


def _about_country(c: Country) -> str:
    borders = (
        f" It borders {', '.join(c.neighbours)}." if c.neighbours else " It has no land border."
    )
    return (
        f"{c.name} is a country or territory in {c.continent}. Its capital is {c.capital} and its"
        f" currency is called {c.currency}. It covers {c.area:,} square kilometres and uses the"
        f" internet domain {c.domain}.{borders}"
    )


def _about_city(c: City, country: str) -> str:
    return (
        f"{c.name} is a city in {country}. GeoNames counts {c.population} inhabitants. Its time"
        f" zone is {c.zone}."
    )


def _about_element(e: ChemicalElement) -> str:
    year = f" It was discovered in {e.year}." if e.year else ""
    return (
        f"{e.name} is the chemical element with atomic number {e.number} and symbol {e.symbol}. "
        f"It stands in period {e.period} of the periodic table, in the {e.block}-block.{year}"
    )


def _one_hop() -> Iterator[SearchQuestion]:
    countries = facts()["countries"]
    for c in countries.values():
        yield _question(
            1, "capital", c.name, f"What is the capital of {c.name}?", c.capital, _country_id(c)
        )
        yield _question(
            1,
            "currency",
            c.name,
            f"What is the currency of {c.name} called?",
            c.currency,
            _country_id(c),
        )
    for e in facts()["elements"]:
        yield _question(
            1,
            "symbol",
            e.name,
            f"What is the chemical symbol of {e.name}?",
            e.symbol,
            _element_id(e),
        )
        if e.year:
            yield _question(
                1,
                "year",
                e.name,
                f"In which year was {e.name} discovered?",
                str(e.year),
                _element_id(e),
            )
    for c in _some_cities("country", 450):
        text = f"In which country or territory is the city of {c.name}?"
        yield _question(1, "country", c.name, text, countries[c.code].name, _city_id(c))


def _two_hops() -> Iterator[SearchQuestion]:
    countries, elements = facts()["countries"], facts()["elements"]
    for c in _some_cities("of-country", 2000):
        country = countries[c.code]
        if c.name != country.capital:
            where, gold = (
                f"the country or territory in which {c.name} is",
                (_city_id(c), _country_id(country)),
            )
            yield _question(
                2,
                "capital-of-country-of",
                c.name,
                f"What is the capital of {where}?",
                country.capital,
                *gold,
            )
            yield _question(
                2,
                "domain-of-country-of",
                c.name,
                f"What is the internet domain of {where}?",
                country.domain,
                *gold,
            )
    for country in countries.values():
        capital = _capital(country)
        if capital:
            text = f"How many inhabitants does GeoNames count in the capital of {country.name}?"
            gold = (_country_id(country), _city_id(capital))
            yield _question(
                2, "inhabitants-of-capital-of", country.name, text, str(capital.population), *gold
            )
    for e, following in itertools.pairwise(elements):
        text = (
            "What is the symbol of the chemical element whose atomic number is one more than that"
            f" of {e.name}?"
        )
        yield _question(
            2,
            "symbol-after",
            e.name,
            text,
            following.symbol,
            _element_id(e),
            _element_id(following),
        )


def _three_hops() -> Iterator[SearchQuestion]:
    countries = facts()["countries"]
    by_name = {c.name: c for c in countries.values()}
    for c in _some_cities("three", 3000):
        country = countries[c.code]
        where, capital = f"the country or territory in which {c.name} is", _capital(country)
        if capital and capital.name != c.name:
            text, gold = (
                f"How many inhabitants does GeoNames count in the capital of {where}?",
                (_city_id(c), _country_id(country)),
            )
            yield _question(
                3,
                "inhabitants-of-capital-of-country-of",
                c.name,
                text,
                str(capital.population),
                *gold,
                _city_id(capital),
            )
        if len(country.neighbours) == 1:
            other = by_name[country.neighbours[0]]
            text = f"What is the currency called of the only land neighbour of {where}?"
            path = (_city_id(c), _country_id(country), _country_id(other))
            yield _question(
                3, "currency-of-neighbour-of-country-of", c.name, text, other.currency, *path
            )


def _question(
    hops: int, kind: str, subject: str, text: str, answer: str, *gold: str
) -> SearchQuestion:
    return SearchQuestion(f"hop{hops}-{kind}-{_slug(subject)}", text, (answer,), gold)


def _some_cities(purpose: str, count: int) -> list[City]:
    """Returns a fixed choice of cities. Each purpose has a different choice."""
    return sorted(facts()["cities"], key=lambda c: stable_hash(f"{purpose} {c.name}"))[:count]


def _capital(country: Country) -> City | None:
    return _capitals().get((country.code, country.capital))


@cache
def _capitals() -> dict[tuple[str, str], City]:
    countries = facts()["countries"]
    return {(c.code, c.name): c for c in facts()["cities"] if c.name == countries[c.code].capital}


def _slug(text: str) -> str:
    return text.casefold().replace(" ", "_")
