"""Writes the texts of products and reviews from the product's attributes and its order."""

import random
import sqlite3
from collections.abc import Mapping
from datetime import date
from typing import Any

from agentgym_websites.grammar import Author, article, compose
from agentgym_websites.shop.catalogue import (
    AT,
    BODIES,
    BRANDS,
    COLOURS,
    DESCRIPTIONS,
    DURING,
    EXTRAS,
    FRIENDS,
    ON,
    PLACES,
    PLURAL,
    RULES,
    THINGS,
    TITLES,
)
from agentgym_websites.tables import tables

_TABLES = tables("shop/texts")
TOLD: Mapping[str, tuple[str, ...]] = _TABLES["told"]
"""Facts that every review of a theme tells; they are kept as columns."""
PRODUCTS: str = _TABLES["products"]
REVIEWS: str = _TABLES["reviews"]
NUMBERS: tuple[str, ...] = _TABLES["numbers"]
ORDINALS: tuple[str, ...] = _TABLES["ordinals"]
SINGULAR: Mapping[str, str] = _TABLES["singular"]
MANY: Mapping[str, str] = _TABLES["many"]


def day(text: str) -> str:
    """Writes a day without its year: March 3."""
    found = date.fromisoformat(text)
    return f"{found:%B} {found.day}"


def span(days: int) -> str:
    """Writes for how long somebody has owned something."""
    if days < 20:
        return f"{NUMBERS[days]} days"
    if days < 70:
        return f"{NUMBERS[days // 7]} weeks"
    months = round(days / 30.4)
    return "half a year" if months == 6 else f"{NUMBERS[months]} months"


def about(product: sqlite3.Row, size: Mapping[int, tuple[str, str]]) -> dict[str, Any]:
    """Returns what every text may tell of a product."""
    kind, many = product["kind"], product["kind"] in PLURAL
    thing = kind.lower().replace("dutch", "Dutch").replace("french", "French")
    measure, length = size[product["id"]]
    variant = product["name"].removeprefix(product["brand"]).removesuffix(kind).strip()
    brands = [b for b in BRANDS[product["department"]] if b != product["brand"]]
    return {
        "thing": thing, "a_thing": thing if many else f"{article(thing)} {thing}",
        **(MANY if many else SINGULAR), "many": many, "brand": product["brand"], "brands": brands,
        "model": _model(variant, thing), "colour": product["colour"].lower(),
        "material": product["material"], "measure": measure.lower(), "size": length,
        "origin": product["origin"], "weight": f"{product['weight']:,} g",
    }  # fmt: skip


def _preposition(place: str) -> str:
    words = {"on": ON, "at": AT, "during": DURING}
    return next((word for word, places in words.items() if place in places), "in")


def _model(variant: str, thing: str) -> str:
    """Names a product by its variant: an oak bookcase, a set of 4 mugs."""
    if variant.startswith("Set of "):
        return f"{variant.lower()} {thing}{'es' if thing.endswith('s') else 's'}"
    return f"{variant} {thing}"


def drawn(rng: random.Random, product: sqlite3.Row, known: Mapping[str, Any]) -> dict[str, Any]:
    """Returns facts of a product for one text, some of them drawn."""
    parts, deeds = (
        rng.sample(list(dict.fromkeys(texts)), 2) for texts in THINGS[product["kind"]][:2]
    )
    brand2, place = rng.choice(known["brands"]), rng.choice(PLACES[product["category"]])
    return {
        **known, "part": parts[0], "part2": parts[1], "deed": deeds[0], "deed2": deeds[1],
        "place": place,
        "at_place": f"{_preposition(place)} {place}",
        "brand2": brand2, "a_brand2": brand2 if known["many"] else f"{article(brand2)} {brand2}",
    }  # fmt: skip


def write_texts(db: sqlite3.Connection) -> None:
    """Writes the products' descriptions and their reviews."""
    rng = random.Random("shop texts")
    products = {p["id"]: p for p in db.execute(PRODUCTS).fetchall()}
    sizes = {
        p: (name, value)
        for p, name, value in db.execute(
            "SELECT * FROM attributes WHERE name NOT IN ('Material', 'Made in')"
        )
    }
    known = {key: about(product, sizes) for key, product in products.items()}
    writer, texts = Author(rng, DESCRIPTIONS), list[tuple[str, int]]()
    for key, product in products.items():
        made = writer.write("{made}", drawn(rng, product, known[key]))
        texts.append(
            (
                compose(
                    rng,
                    {},
                    f"{{Model}} by {{brand}} in {{colour}}. {made} Two-year guarantee.",
                    known[key],
                ),
                key,
            )
        )
    db.executemany("UPDATE products SET description = ? WHERE id = ?", texts)
    _write_reviews(db, products, known, rng)


def _ordered(rng: random.Random, review: sqlite3.Row) -> dict[str, Any]:
    """Returns facts of the order: the chosen options, the dates, what came with it."""
    placed, arrived, written = (
        date.fromisoformat(review[name]) for name in ("placed", "delivered", "written")
    )
    chosen = dict(
        option.split(": ", 1) for option in review["options"].split(", ") if ": " in option
    )
    colour = chosen.pop("Color", None)
    name, value = next(iter(chosen.items()), ("", ""))
    waited = (arrived - placed).days
    return {
        **({"colour": colour.lower()} if colour else {}), "option": f"{name}: {value}",
        "option_name": name.lower(), "option_value": value,
        "other_product": review["companion"], "price": f"${review['price'] / 100:.2f}",
        "city": review["city"], "month": f"{placed:%B}", "date": day(review["placed"]),
        "arrived": day(review["delivered"]), "wrote": day(review["written"]),
        "days": f"{waited} day{'' if waited == 1 else 's'}", "way": review["shipping"].capitalize(),
        "owned": span((written - arrived).days), "nth": ORDINALS[review["nth"] - 1],
        "order": f"{ORDINALS[review['nth'] - 1]} order",
        "nth_count": NUMBERS[review["nth"]], "joined": review["joined"][:4],
        "whom": rng.choice(FRIENDS), "n": NUMBERS[rng.randint(2, 9)],
        "odor": rng.choice(RULES["odor"]),
    }  # fmt: skip


def _layout(rng: random.Random, review: sqlite3.Row) -> str:
    """Returns the layout of a review: its theme, what its order allows, an ending."""
    layout, allowed = rng.choice(BODIES[review["theme"]]), []
    if (
        review["options"].partition(": ")[0] not in ("", "Color")
        and ": None" not in review["options"]
        and "Without" not in review["options"]
    ):
        allowed.append(EXTRAS["option"])
    if review["companion"]:
        allowed.append(EXTRAS["other"])
    if review["nth"] > 2:
        allowed.append(EXTRAS["early"])
    if allowed and rng.random() < 0.45:
        layout += f" {rng.choice(allowed)}"
    return layout + (f" {{end_{review['rating']}}}" if rng.random() < 0.6 else "")


def _write_reviews(
    db: sqlite3.Connection,
    products: Mapping[int, sqlite3.Row],
    known: Mapping[int, dict[str, Any]],
    rng: random.Random,
) -> None:
    """Gives every review a title, a text and the facts in it.

    No product has a title twice, and no sentence comes twice.
    """
    writer, titles, made = Author(rng, RULES), set[tuple[int, str]](), list[tuple[Any, ...]]()
    for review in db.execute(REVIEWS).fetchall():
        theme, product = review["theme"], products[review["product_id"]]
        facts = {**drawn(rng, product, known[product["id"]]), **_ordered(rng, review)}
        facts["other"] = rng.choice([c for c in COLOURS if c.lower() != facts["colour"]]).lower()
        body = writer.write(_layout(rng, review), facts)
        while (
            product["id"],
            title := compose(rng, {}, rng.choice(TITLES[theme]), facts),
        ) in titles:
            pass
        titles.add((product["id"], title))
        told = [
            facts[name] if name in TOLD.get(theme, ()) else "" for name in ("owned", "whom", "part")
        ]
        made.append((title, body, *told, review["id"]))
    db.executemany(
        "UPDATE reviews SET title = ?, body = ?, owned = ?, whom = ?, part = ? WHERE id = ?", made
    )
