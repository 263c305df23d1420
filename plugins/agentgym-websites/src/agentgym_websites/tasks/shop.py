"""Tasks in the shop."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, search, stop
from agentgym_websites.shop.data import ME
from agentgym_websites.site import ORIGINS, money
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.template import Made, World, asks, each, ends_at, template

SHOP = ORIGINS["shop"]
PRODUCTS = "SELECT p.*, p.name AS product, c.name AS category FROM products p JOIN categories c ON c.id = category_id WHERE "
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def open_product(product: Any) -> list[Step]:
    """Opens a product by name."""
    return [search(product["name"]), click(product["name"])]


def my_orders(world: World, extra: str = "") -> list[Any]:
    """Returns my orders in the order of their list."""
    return world.rows(
        "shop",
        f"SELECT * FROM orders WHERE customer_id = {ME} {extra} ORDER BY placed DESC, id DESC",
    )


def open_my_order(world: World, order: Any) -> list[Step]:
    """Opens one of my orders from their list."""
    place = [o["id"] for o in my_orders(world)].index(order["id"]) // 10
    return [
        click("My account"),
        click("My orders"),
        *[click("Next page")] * place,
        click(f"Order #{order['id']}"),
    ]


def last_order() -> str:
    """Returns the query for my newest order."""
    return f"(SELECT max(id) FROM orders WHERE customer_id = {ME})"


asks(
    "shop",
    "shop",
    (
        "How much does the {product} cost?",
        PRODUCTS + "1",
        lambda p: money(p["price"]),
        answer.amount,
        open_product,
    ),
    ("What is the SKU of the {product}?", PRODUCTS + "1", "sku", answer.codes, open_product),
    (
        "How many pieces of the {product} are in stock?",
        PRODUCTS + "stock > 20",
        "stock",
        answer.number,
        open_product,
    ),
)


@template("shop", "find", "What did I pay in all for my order #{order}?")
def _paid(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(my_orders(world), 11):
        yield Made(
            {"order": o["id"]},
            answer.amount(money(o["total"])),
            [*open_my_order(world, o), stop(money(o["total"]))],
        )


@template("shop", "find", "What is the tracking number of my order #{order}?")
def _tracking(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(my_orders(world, "AND tracking <> ''"), 11):
        yield Made(
            {"order": o["id"]},
            answer.codes(o["tracking"]),
            [*open_my_order(world, o), stop(o["tracking"])],
        )


@template(
    "shop",
    "find",
    "How much money did I spend on orders that I placed in {month}, cancelled and returned ones left out?",
)
def _spent(world: World, rng: random.Random) -> Iterator[Made]:
    orders = my_orders(world)
    months = sorted({o["placed"][:7] for o in orders})
    for month in rng.sample(months, len(months)):
        there = [n for n, o in enumerate(orders) if o["placed"].startswith(month)]
        total = money(
            sum(
                orders[n]["total"]
                for n in there
                if orders[n]["status"] not in ("Cancelled", "Returned")
            )
        )
        if total != money(0):
            name = f"{MONTHS[int(month[5:]) - 1]} {month[:4]}"
            pages = there[-1] // 10
            yield Made(
                {"month": name},
                answer.amount(total),
                [
                    click("My account"),
                    click("My orders"),
                    *[click("Next page")] * pages,
                    stop(total),
                ],
            )


def _extreme(world: World, rng: random.Random, order: str, label: str) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        for (brand,) in world.mixed(
            rng, "shop", "SELECT DISTINCT brand FROM products WHERE category_id = ?", c["id"]
        )[:2]:
            found = world.rows(
                "shop", PRODUCTS + f"category_id = ? AND brand = ? ORDER BY {order}", c["id"], brand
            )
            if len(found) > 1 and found[0]["price"] != found[1]["price"]:
                steps = [
                    click("Departments"),
                    click(c["name"]),
                    choose("Sort by", label),
                    choose("Brand", brand),
                    click("Apply", "button"),
                ]
                yield Made(
                    {"category": c["name"], "brand": brand},
                    answer.name(found[0]["name"], answer.PRODUCTS),
                    [*steps, stop(found[0]["name"])],
                )


@template("shop", "find", "Which product by {brand} in the category {category} is the cheapest?")
def _cheapest(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _extreme(world, rng, "price", "Price, lowest first")


@template(
    "shop", "find", "Which product by {brand} in the category {category} is the most expensive?"
)
def _dearest(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _extreme(world, rng, "price DESC", "Price, highest first")


asks(
    "shop",
    "shop",
    (
        "Who wrote the review of the {product} with the title “{title}”?",
        "SELECT p.name, p.name AS product, r.title, c.name AS author FROM reviews r JOIN products p ON p.id = r.product_id JOIN customers c ON c.id = customer_id"
        " WHERE p.reviews BETWEEN 3 AND 8 AND status = 'approved' GROUP BY p.id, r.title HAVING count(*) = 1",
        "author",
        answer.customer,
        open_product,
    ),
    (
        "How many products by {brand} are there in the category {category}? Answer with the number.",
        "SELECT c.name AS category, brand, count(*) AS n FROM products JOIN categories c ON c.id = category_id GROUP BY c.id, brand",
        "n",
        answer.number,
        lambda r: [
            click("Departments"),
            click(r["category"]),
            choose("Brand", r["brand"]),
            click("Apply", "button"),
        ],
    ),
)


@template("shop", "find", "Which is heavier, the {first} or the {second}?")
def _heavier(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in pairwise(world.mixed(rng, "shop", PRODUCTS + "1")):
        if a["weight"] != b["weight"] and a["category_id"] == b["category_id"]:
            best = max(a, b, key=lambda p: int(p["weight"]))["name"]
            yield Made(
                {"first": a["name"], "second": b["name"]},
                answer.name(best, answer.PRODUCTS),
                [*open_product(a), *open_product(b), stop(best)],
            )


@template(
    "shop",
    "find",
    "How many pieces did I buy in all with my order #{order}? Answer with the number.",
)
def _pieces(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT o.*, sum(quantity) AS n FROM orders o JOIN order_items ON order_id = o.id WHERE customer_id = ? GROUP BY o.id HAVING n > 2"
    for o in world.mixed(rng, "shop", sql, ME):
        yield Made(
            {"order": o["id"]}, answer.number(o["n"]), [*open_my_order(world, o), stop(o["n"])]
        )


@template("shop", "find", "Which of the products in my order #{order} cost the most per piece?")
def _dearest_item(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(my_orders(world), 26):
        items = world.rows(
            "shop",
            "SELECT name, i.price FROM order_items i JOIN products p ON p.id = product_id WHERE order_id = ? ORDER BY i.price DESC",
            o["id"],
        )
        if len(items) > 1 and items[0]["price"] > items[1]["price"]:
            yield Made(
                {"order": o["id"]},
                answer.name(items[0]["name"], answer.PRODUCTS),
                [*open_my_order(world, o), stop(items[0]["name"])],
            )


each(
    "shop",
    "navigate",
    "Open the page of the product with the SKU {sku}.",
    "shop",
    PRODUCTS + "1",
    check=lambda p: ends_at(f"{SHOP}/product/{p['id']}"),
    steps=lambda p: [search(p["sku"]), click(p["name"]), stop()],
)


@template(
    "shop",
    "navigate",
    "Show the products of the category {category} that cost from ${low} to ${high}, the cheapest first.",
)
def _range(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        low = rng.randint(2, 8) * 5
        high = low + rng.randint(3, 9) * 5
        steps = [
            click("Departments"), click(c["name"]), choose("Sort by", "Price, lowest first"), fill("Price from ($)", low), fill("Price to ($)", high),
            click("Apply", "button"), stop(),
        ]  # fmt: skip
        url = f"{SHOP}/category/{c['id']}?sort=price&from={low}&to={high}"
        yield Made({"category": c["name"], "low": low, "high": high}, ends_at(url), steps)


@template(
    "shop",
    "navigate",
    "Show those products of the category {category} that are in stock and have {stars} stars or more.",
)
def _stars(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        stars = rng.choice((3, 4))
        steps = [
            click("Departments"), click(c["name"]), choose("Rating", f"{stars} stars and more"), click("In stock only", "checkbox"),
            click("Apply", "button"), stop(),
        ]  # fmt: skip
        url = f"{SHOP}/category/{c['id']}?sort=name&stars={stars}&available=1"
        yield Made({"category": c["name"], "stars": stars}, ends_at(url), steps)


@template("shop", "navigate", "Open my order that contains the {product}.")
def _order_page(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        f"SELECT o.id, p.name FROM orders o JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id WHERE customer_id = {ME}"
        " GROUP BY p.id HAVING count(*) = 1"
    )
    for r in world.mixed(rng, "shop", sql):
        yield Made(
            {"product": r["name"]},
            ends_at(f"{SHOP}/orders/{r['id']}"),
            [*open_my_order(world, r), stop()],
        )
