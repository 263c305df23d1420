"""Products, goals and their search engine; the embedded catalogue of 60 kinds of products.

``words.py`` and ``attributes.py`` have the words. A generator per kind makes the products, in the
same order everywhere.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from agentgym_envs.envs.shop.attributes import ATTRIBUTES, ProductAttribute
from agentgym_envs.envs.shop.ranking import BM25Ranking
from agentgym_envs.envs.shop.words import (
    KINDS,
    LOOKS,
    MAKER_BACK,
    MAKER_FRONT,
    OPTIONS,
    USES,
    ProductKind,
)

PER_KIND = 180
NO_LIMIT = 1_000_000.0
"""The price limit of a goal without one, as in the original."""
CEILINGS = tuple(10.0 * n for n in range(1, 100))
"""Price limits of goals, in dollars, as in the original."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product. The fields are those of the original's files, under shorter names.

    Attributes:
        asin: the code that the buyer clicks.
        title: the original's ``name``.
        description: the text on the page "Description".
        bullets: the lines on the page "Features".
        price_tag: the price as shown, one or a range.
        price: the price that the reward compares, in dollars.
        options: the values of each option.
        query: the name of the kind, which the reward compares.
        category: the department.
        path: the original's ``product_category``; "›" separates the levels.
        attributes: the properties that the reward compares.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    price_tag: str
    price: float
    options: dict[str, tuple[str, ...]]
    query: str
    category: str
    path: str
    attributes: tuple[str, ...]

    def text(self) -> str:
        """Returns the text that the search engine reads: without all features but the first."""
        options = ", and ".join(
            f"{name}: {', '.join(values)}" for name, values in self.options.items()
        )
        return " ".join((self.title, self.description, *self.bullets[:1], options)).lower()


@dataclass(frozen=True, slots=True)
class ShoppingGoal:
    """The requirements of an instruction.

    Attributes:
        product: a product that satisfies everything.
        instruction: the text that the buyer reads.
        attributes: the properties to find.
        options: the values to choose, or pairs of name and value.
        price_limit: the highest price in dollars.
    """

    product: Product
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str | tuple[str, str], ...]
    price_limit: float


class ProductCatalogue:
    """Products and goals.

    Args:
        products: the products; the first of equally good ones is found first.
        goals: the goals, in the order of their numbers.
    """

    def __init__(self, products: Sequence[Product], goals: Sequence[ShoppingGoal]):
        self.products, self.goals = products, goals

    @cached_property
    def _ranking(self) -> BM25Ranking:
        return BM25Ranking(product.text() for product in self.products)

    def search(self, query: str, count: int) -> list[Product]:
        """Returns at most ``count`` products, best first."""
        return [self.products[place] for place in self._ranking.search(query, count)]


@cache
def embedded() -> ProductCatalogue:
    """Returns the embedded catalogue. All environments of a process share it."""
    products: list[Product] = []
    goals: list[list[ShoppingGoal]] = []
    for kind in KINDS:
        rng = random.Random(f"shop {kind.slug}")
        made = [_product(kind, number, rng) for number in range(PER_KIND)]
        products += made
        goals.append([_goal(kind, *place, rng) for place in enumerate(made[::3])])
    return ProductCatalogue(products, [goal for row in zip(*goals, strict=True) for goal in row])


def requirements(kind: ProductKind, number: int) -> tuple[int, int]:
    """Returns how many attributes and how many options the goal with a number has.

    >>> requirements(KINDS[0], 4)
    (2, 2)
    """
    return 1 + number % 3, min(1 + number // 3 % 2, len(kind.options))


def draw_price_limit(price: float, rng: random.Random) -> tuple[float, str]:
    """Returns a limit above a price, and the end of the instruction.

    As in the original, it is the higher one of two of the next four multiples of ten.
    """
    above = [limit for limit in CEILINGS if limit > price][:4]
    if len(above) < 2:
        return NO_LIMIT, ""
    limit = max(rng.sample(above, 2))
    return limit, f", and price lower than {limit:.2f} dollars"


def _goal(kind: ProductKind, number: int, product: Product, rng: random.Random) -> ShoppingGoal:
    """Draws what an instruction asks for from a product."""
    attributes, options = requirements(kind, number)
    wanted = rng.sample(product.attributes, attributes)
    chosen = {
        name: rng.choice(product.options[OPTIONS[name].name])
        for name in sorted(rng.sample(kind.options, options), key=kind.options.index)
    }
    wishes = [_pool(kind)[name].wish for name in wanted]
    wishes += [OPTIONS[name].wish.format(value) for name, value in chosen.items()]
    limit, price_text = draw_price_limit(product.price, rng)
    opening = rng.choice(_OPENINGS).format(_one_of(kind))
    instruction = f"{opening} {_joined(wishes)}{price_text}"
    return ShoppingGoal(product, instruction, tuple(wanted), tuple(chosen.values()), limit)


_OPENINGS = (
    "i am looking for {}",
    "i need {}",
    "find me {}",
    "i would like to buy {}",
    "please show me {}",
    "i want {}",
    "help me to find {}",
    "my sister needs {}",
)


_SETS = {"fashion": "pair", "grocery": "bag"}


def _one_of(kind: ProductKind) -> str:
    """Returns the name of a kind with an article; a plural becomes a pair, a bag or a set."""
    if kind.name.endswith("s") and not kind.name.endswith("ss"):
        return f"a {_SETS.get(kind.department, 'set')} of {kind.name}"
    return _with_article(kind.name)


def _with_article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _joined(parts: Sequence[str]) -> str:
    """Joins parts with commas, and the last one with "and"."""
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]


@cache
def _pool(kind: ProductKind) -> dict[str, ProductAttribute]:
    """Returns the attributes that fit a kind, by name."""
    return {one.name: one for group in kind.attributes for one in ATTRIBUTES[group]}


def _product(kind: ProductKind, number: int, rng: random.Random) -> Product:
    pool = _pool(kind)
    attributes = _some(list(pool), 4, rng)
    use, other = _some(USES[kind.department], 2, rng)
    look = _one(LOOKS[kind.department], rng)
    words = {
        "maker": _one(MAKER_FRONT, rng) + _one(MAKER_BACK, rng),
        "name": kind.name,
        "look": look,
        "a_look": _with_article(look).capitalize(),
        "use": use,
        "other": other,
        "extra": _one((*attributes[:2], "new model", "gift idea", "top seller"), rng),
        "foreign": _one([pool[name].wish for name in pool if name not in attributes], rng),
        "year": 1950 + _below(66, rng),
    }
    features = [pool[name].feature for name in attributes]
    sentences = _some(_SENTENCES, 3, rng)
    bullets = [*_some(_BULLETS, 2, rng), *features]
    turn = _below(len(bullets), rng)
    price = _price(kind, rng)
    return Product(
        asin=_code(kind, number),
        title=" ".join(map(_capital, _one(_TITLES, rng).format(**words).split())),
        description=" ".join(sentences).format(**words),
        bullets=tuple(text.format(**words) for text in bullets[turn:] + bullets[:turn]),
        price_tag=f"${price}",
        price=price,
        options=dict(_options(kind, rng)),
        query=kind.name,
        category=kind.department,
        path=f"{kind.department.capitalize()} › {kind.path}",
        attributes=tuple(sorted(attributes)),
    )


_TITLES = (
    "{maker} {look} {name} for {use}, {extra}",
    "{maker} {name}, {extra}, {look} for {use} and {other}",
    "{look} {name} by {maker} with {extra}",
    "{name} for {use} - {look}, {extra} - {maker}",
    "{maker} {use} {name}, {look} for {other}",
)
_SENTENCES = (
    "{a_look} {name} for {use}.",
    "{maker} has made each {name} in one small house since {year}.",
    "Made for {other}, and at home in {use} too.",
    "Our customers choose this {name} for {use}.",
    "The {look} choice for {other}.",
    "Ask the people at {maker} if you have a question.",
    "A present for friends who think of {use} first.",
    "Do you want one {foreign}? Ask us for our other {name}.",
    "Not the right choice for buyers who look for one {foreign}.",
    "Thought through to the last detail, from the box to the label.",
)
_BULLETS = (
    "Ships within two days from the house of {maker}.",
    "Tested by two hundred buyers in {year}.",
    "{a_look} companion for {use}.",
    "Send it back within thirty days for any reason.",
    "Packed by hand in a plain box.",
    "Fits {use} and {other}.",
)


def _capital(word: str) -> str:
    return word if word in ("for", "by", "and", "with", "-") else word.capitalize()


def _price(kind: ProductKind, rng: random.Random) -> float:
    low, high = kind.prices
    dollars = low + _below(high - low, rng)
    return round(dollars + (0.49, 0.95, 0.99)[_below(3, rng)], 2)


def _options(kind: ProductKind, rng: random.Random) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the options of a product, with half of all values."""
    for key in kind.options:
        values = OPTIONS[key].values
        chosen = set(_some(values, (len(values) + 1) // 2, rng))
        yield OPTIONS[key].name, tuple(value for value in values if value in chosen)


# These take a third of the time of random.choice, sample and randrange.


def _below(limit: int, rng: random.Random) -> int:
    return int(rng.random() * limit)


def _one(values: Sequence[str], rng: random.Random) -> str:
    return values[_below(len(values), rng)]


def _some(values: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Returns ``count`` of the values in random order."""
    keys = {value: rng.random() for value in values}
    return sorted(keys, key=keys.__getitem__)[:count]


def _code(kind: ProductKind, number: int) -> str:
    """Returns a product's code: ten letters and digits that depend on kind and number alone."""
    digest = hashlib.blake2b(f"{kind.slug} {number}".encode(), digest_size=5).hexdigest()
    return f"S{int(digest, 16) % 10**9:09d}"
