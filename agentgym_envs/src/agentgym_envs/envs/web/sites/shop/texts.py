"""Writes what products and their reviews say: about the product's own parts, color, weight and use, as the review's rating and theme demand."""

import random
import sqlite3
from collections.abc import Mapping

from agentgym_envs.envs.web.sites.grammar import compose
from agentgym_envs.envs.web.sites.shop.catalogue import COLOURS
from agentgym_envs.envs.web.sites.shop.things import PLACES, PLURAL, THINGS
from agentgym_envs.envs.web.sites.shop.words import BODIES, DESCRIPTIONS, FRIENDS, LONG, RULES, SHORT, TITLES

QUOTED = (160, 569, 618, 663, 671, 789, 790, 808, 827, 1195, 1260)
"""Reviews whose titles are their themes, because tasks quote them."""
TOLD: Mapping[str, tuple[str, ...]] = {
    "Better than I hoped": ("owned",),
    "Daily companion": ("owned",),
    "Great value": ("owned",),
    "Perfect gift": ("whom",),
    "Good, with one flaw": ("owned", "part"),
    "Fine for the price": ("owned",),
    "Broke within a month": ("owned", "part"),
    "Poor packaging": ("part",),
}
"""Facts that every review of a theme tells; they are kept as columns."""
OWN = ("thing", "brand", "colour", "part", "part2", "deed", "deed2")
"""Facts of the product: every review tells one of them."""
PRODUCTS = "SELECT p.*, g.name AS category FROM products p JOIN categories g ON g.id = category_id ORDER BY p.id"
REVIEWS = (
    "SELECT r.id, r.rating, r.theme, r.product_id, c.city FROM reviews r JOIN customers c ON c.id = r.customer_id ORDER BY r.id"
)


def facts(product: sqlite3.Row, rng: random.Random) -> dict[str, str]:
    """Returns what a text may tell of a product: some of it drawn, for each text anew."""
    kind, many = product["kind"], product["kind"] in PLURAL
    thing = kind.lower().replace("dutch", "Dutch").replace("french", "French")
    parts, deeds = (rng.sample(texts, 2) for texts in THINGS[kind])
    pronouns = ("they", "them", "are", "were", "have", "do", "these") if many else ("it", "it", "is", "was", "has", "does", "this")
    return {
        "thing": thing,
        "a_thing": thing if many else f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}",
        **dict(zip(("it", "them", "is", "was", "has", "do", "this"), pronouns, strict=True)),
        "brand": product["brand"],
        "variant": product["name"].removeprefix(product["brand"]).removesuffix(kind).strip(),
        "colour": product["colour"].lower(),
        "other": rng.choice([c for c in COLOURS if c != product["colour"]]).lower(),
        "weight": f"{product['weight']:,} g",
        "place": rng.choice(PLACES[product["category"]]),
        "part": parts[0],
        "part2": parts[1],
        "deed": deeds[0],
        "deed2": deeds[1],
    }


def write_texts(db: sqlite3.Connection) -> None:
    """Writes the products' descriptions and their reviews."""
    rng = random.Random("shop texts")
    products = {p["id"]: p for p in db.execute(PRODUCTS).fetchall()}
    for key, product in products.items():
        text = compose(
            rng, {}, f"{{variant}} {{thing}} by {{brand}} in {{colour}}. {rng.choice(DESCRIPTIONS)}", **facts(product, rng)
        )
        db.execute("UPDATE products SET description = ? WHERE id = ?", (text, key))
    _write_reviews(db, products, rng)


def _write_reviews(db: sqlite3.Connection, products: Mapping[int, sqlite3.Row], rng: random.Random) -> None:
    """Gives every review a title, a text and the facts in it; no product has a title twice, and no text is written twice."""
    titles, bodies = set[tuple[int, str]](), set[str]()
    for review in db.execute(REVIEWS).fetchall():
        theme, product = review["theme"], products[review["product_id"]]
        rules = {**RULES, "end": RULES[f"end_{review['rating']}"]}
        while True:
            known = {
                **facts(product, rng),
                "city": review["city"],
                "owned": rng.choice(SHORT if theme == "Broke within a month" else LONG),
                "whom": rng.choice(FRIENDS),
                "days": str(rng.randint(8, 24)),
                "odor": rng.choice(RULES["odor"]),
            }
            body = compose(rng, rules, rng.choice(BODIES[theme]), **known)
            title = theme if review["id"] in QUOTED else compose(rng, {}, rng.choice(TITLES[theme]), **known)
            about = any(known[name].lower() in body.lower() for name in OWN)
            if about and body not in bodies and (product["id"], title) not in titles:
                break
        bodies.add(body)
        titles.add((product["id"], title))
        told = [known[name] if name in TOLD.get(theme, ()) else "" for name in ("owned", "whom", "part")]
        sql = "UPDATE reviews SET title = ?, body = ?, owned = ?, whom = ?, part = ? WHERE id = ?"
        db.execute(sql, (title, body, *told, review["id"]))
