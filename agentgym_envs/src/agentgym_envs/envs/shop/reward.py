"""The reward of a purchase, as WebShop (Yao et al., 2022) defines it.

The reward is the product of two factors. ``r_type`` says whether the product is of the right kind.
The other factor is the share of satisfied requirements: the attributes, the options and the price.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from agentgym_envs.envs.shop.catalogue import Product, ShoppingGoal
from agentgym_envs.envs.shop.words import LOOKS

SIMILAR = 85
"""Texts that are more similar than this count as equal."""

_COLOURS = """
alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown
burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac
copper coral cranberry cream crystal dark denim eggplant elephant espresso fuchsia gold granite
grape graphite grass gray green grey heather indigo ivory ivy khaki lavender lemon leopard light
lilac lime magenta maroon mauve merlot midnight mint mocha multicolor mushroom mustard natural
navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand sapphire
seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet
walnut wheat white wine yellow
"""
COLOURS = tuple(_COLOURS.split())
"""The list of the original (MIT licence: see NOTICE). An option counts as the first one it has."""

_NOT_NOUNS = """
a an and at by for from in into is it its of off on or our that the this to up with without you
your all any extra more most new non not very no best black blue broad brown clean clear cold cool
deep double dry easy fast fine flat free full good great green grey gray half heavy high hot large
left light long low mini modern natural old orange organic original outdoor perfect pink plain
premium purple quick raw real red right safe short silver single small smooth soft solid strong
super sweet thick thin ultra warm white wide wild yellow young adjustable anti certified comfortable
cute durable electric fashionable flexible handmade healthy mechanical reusable stylish washable
waterproof wireless
"""
NOT_NOUNS = frozenset(_NOT_NOUNS.split()).union(*LOOKS.values())
"""Words of titles that do not count as nouns; the original asks a tagger."""

_LATIN_1 = dict.fromkeys(range(128, 256))
_NO_WORD = re.compile(r"\W")
_TITLE_WORD = re.compile(r"[^\W\d_]+")


def reward(
    bought: Product, chosen: Collection[str], goal: ShoppingGoal
) -> tuple[float, dict[str, Any]]:
    """Returns the reward of a purchase, and its parts under the names of the original.

    Args:
        bought: the product.
        chosen: the chosen values of its options.
        goal: the requirements of the instruction.
    """
    kind = type_reward(bought, goal.product)
    attributes = sum(has_attribute(bought, wanted) for wanted in goal.attributes)
    options = count_options(chosen, goal.options)
    price = bought.price <= goal.price_limit
    wanted = len(goal.attributes) + len(goal.options) + 1
    parts = {
        **kind,
        "r_att": attributes / len(goal.attributes),
        "r_option": options / len(goal.options) if goal.options else None,
        "r_price": price,
    }
    return (attributes + options + price) / wanted * kind["r_type"], parts


def type_reward(bought: Product, wanted: Product) -> dict[str, Any]:
    """Returns ``r_type`` and its reasons.

    It is 1 for the same query, two common levels of the category or similar titles, otherwise 0.5.
    Titles with few common nouns reduce it to 0.1, and titles without a common noun to 0.
    """
    nouns = title_nouns(wanted.title)
    common = set(nouns) & set(title_nouns(bought.title))
    title = len(common) / len(nouns) if nouns else 0.2
    query = bought.query == wanted.query
    category = len(levels(bought) & levels(wanted)) >= 2
    factor = 1.0 if query or category or title > 0.2 else 0.5
    factor = 0.0 if title == 0 else 0.1 if title < 0.1 else factor
    return {
        "r_type": factor,
        "query_match": query,
        "category_match": category,
        "title_score": title,
    }


def levels(product: Product) -> set[str]:
    """Returns the levels of a product's category."""
    return {level.strip() for level in product.path.split("›")}


def title_nouns(title: str) -> tuple[str, ...]:
    """Returns the words of a title that are not in ``NOT_NOUNS``, in lower case.

    >>> title_nouns("Modern Area Rug for Bedroom, 2 Inches Thick")
    ('area', 'rug', 'bedroom', 'inches')
    """
    return tuple(word for word in _TITLE_WORD.findall(title.lower()) if word not in NOT_NOUNS)


def has_attribute(product: Product, wanted: str) -> bool:
    """Returns whether a product has an attribute, or a text of the product mentions it."""
    return any(similarity(one, wanted) > SIMILAR for one in product.attributes) or any(
        wanted in text.lower()
        for text in (product.title, " ".join(product.bullets), product.description)
    )


def count_options(chosen: Collection[str], wanted: Sequence[str | tuple[str, str]]) -> int:
    """Returns how many of the wanted options are among the chosen values."""
    return sum(
        any(option_similarity(value, option) > SIMILAR for value in chosen) for option in wanted
    )


def option_similarity(value: str, wanted: str | tuple[str, str]) -> int:
    """Returns how similar a value is to a wanted option; their colours stand for them."""
    return similarity(str(colour(value)), str(colour(wanted)))


def most_similar(wanted: str | tuple[str, str], values: Iterable[str]) -> str:
    """Returns the value that is most similar to a wanted option; an equal value comes first."""
    exact = wanted[1] if isinstance(wanted, tuple) else wanted
    return max(values, key=lambda value: (value == exact, option_similarity(value, wanted)))


def colour(option: str | tuple[str, str]) -> str | tuple[str, str]:
    """Returns the first of ``COLOURS`` that an option contains, otherwise the option.

    A name and a value in a tuple contain only what is equal to one of them, as in the original.

    >>> colour("dark red"), colour("x-large")
    ('dark', 'x-large')
    """
    return next((one for one in COLOURS if one in option), option)


def similarity(first: str, second: str) -> int:
    """Returns how similar two texts are, from 0 to 100, in any order of their words.

    The rules are those of ``token_set_ratio`` in thefuzz 0.19.0, the version of the original. Two
    texts are as similar as the best of three pairs: the common words, and the common words with the
    other words of one of the texts.

    >>> similarity("cotton, organic", "organic cotton fabric"), similarity("navy", "ivory")
    (100, 44)
    """
    one, other = _words(first), _words(second)
    if not (one and other):
        return 0
    common = sorted(one & other)
    texts = [" ".join(common + sorted(rest)) for rest in (set(), one - other, other - one)]
    return max(_ratio(*pair) for pair in combinations(texts, 2))


def _words(text: str) -> set[str]:
    return set(_NO_WORD.sub(" ", text.translate(_LATIN_1)).lower().split())


def _ratio(first: str, second: str) -> int:
    if first == second:
        return 100
    if not (first and second):
        return 0
    return round(100 * SequenceMatcher(None, first, second).ratio())
