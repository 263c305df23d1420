"""The shop's products: categories, kinds, options, facts and drawings, and the rules of reviews.

The texts are in the data files beside this module. Blanks of the rules are facts of the product
and of the order (see ``texts.facts``) or other rules.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentgym_websites.grammar import Rules
from agentgym_websites.tables import tables

_CATALOGUE_TABLES = tables("shop/catalogue")
DEPARTMENTS: Mapping[str, tuple[str, ...]] = _CATALOGUE_TABLES["departments"]
BRANDS: Mapping[str, tuple[str, ...]] = _CATALOGUE_TABLES["brands"]
KINDS: Mapping[str, tuple[Any, ...]] = _CATALOGUE_TABLES["kinds"]
MORE: Mapping[str, tuple[str, ...]] = _CATALOGUE_TABLES["more"]
"""Further variants of each category, combined with its kinds."""
COLOURS = ("Sage", "Charcoal", "Ivory", "Navy", "Rust", "Sand")
SHIPPING: tuple[tuple[str, str, int], ...] = _CATALOGUE_TABLES["shipping"]
STATUSES = ("Processing", "Shipped", "Delivered", "Cancelled", "Returned")
# Topics of reviews.
PRAISE = ("Better than I hoped", "Daily companion", "Great value", "Lovely finish", "Perfect gift")
MIXED = ("Good, with one flaw", "Fine for the price", "Smaller than expected", "Slow delivery")
BLAME = ("Broke within a month", "Not as pictured", "Poor packaging", "Would not recommend")

COLOUR = "Color"


class Option(NamedTuple):
    """A choice that a customer makes.

    Attributes:
        name: name of the choice.
        values: values with their extra prices in dollars; empty: some colours, drawn for each
            product.
        preset: whether the first value is chosen by default.
    """

    name: str
    values: Sequence[tuple[str, int]] = ()
    preset: bool = True


# A task names the options of a product for the cart if its kind has mandatory ones.
OPTIONS: Mapping[str, Sequence[Option]] = {
    kind: tuple(Option(**of) for of in options) for kind, options in tables("shop/options").items()
}

_THINGS_TABLES = tables("shop/things")
PLURAL: tuple[str, ...] = _THINGS_TABLES["plural"]


class Thing(NamedTuple):
    """The facts about a kind of product.

    Attributes:
        parts: parts of the product.
        deeds: uses of the product.
        materials: materials, of which a product has one.
        measure: name of a measure.
        low: lowest value of the measure.
        high: highest value of the measure.
        unit: unit of the measure.
    """

    parts: Sequence[str]
    deeds: Sequence[str]
    materials: Sequence[str]
    measure: str
    low: int
    high: int
    unit: str


THINGS: Mapping[str, Thing] = {kind: Thing(**of) for kind, of in _THINGS_TABLES["things"].items()}
PLACES: Mapping[str, Sequence[str]] = _THINGS_TABLES["places"]
ON: tuple[str, ...] = _THINGS_TABLES["on"]
AT: tuple[str, ...] = _THINGS_TABLES["at"]
DURING: tuple[str, ...] = _THINGS_TABLES["during"]
"""Places and times that follow these words instead of "in"."""
VARIANTS: Mapping[str, str] = _THINGS_TABLES["variants"]
"""Variants of a product that name its material."""
ORIGINS = (
    "Portugal", "Sweden", "Japan", "Vermont", "Italy", "Ohio", "Denmark", "Taiwan", "Oregon", "Germany", "Poland", "Vietnam", "Mexico", "India",
)  # fmt: skip

FRIENDS = (
    "my sister", "my father", "my mother", "my brother", "my neighbor", "my nephew", "my grandmother", "a colleague", "my oldest friend",
    "my daughter", "my son", "my aunt", "my roommate", "my uncle", "my cousin", "our landlady", "my mother-in-law", "my godson", "my boss", "my niece",
)  # fmt: skip
_WORDS_TABLES = tables("shop/words")
TITLES: Rules = _WORDS_TABLES["titles"]
BODIES: Rules = _WORDS_TABLES["bodies"]
"""Layouts of sentences, by theme. An ending that fits the rating can follow."""
EXTRAS: Mapping[str, str] = _WORDS_TABLES["extras"]
"""Sentences that only some orders allow."""
RULES: Rules = _WORDS_TABLES["rules"]
DESCRIPTIONS: Rules = _WORDS_TABLES["descriptions"]

_DRAWINGS_TABLES = tables("shop/drawings")
DRAWINGS: Mapping[str, tuple[str, str]] = _DRAWINGS_TABLES["drawings"]
