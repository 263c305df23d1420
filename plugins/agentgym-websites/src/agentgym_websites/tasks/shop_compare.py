"""Tasks in the shop without a product's name: comparisons, reviews, dates."""

import random
from collections.abc import Iterator
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, stop
from agentgym_websites.shop.data import ME
from agentgym_websites.site import day, money
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.shop import PRODUCTS, my_orders
from agentgym_websites.tasks.template import Made, World, becomes, only, template, visits

PAGE = 12  # products per page of a list
WISHED = f"SELECT product_id FROM wishlist WHERE customer_id = {ME} ORDER BY product_id"


def _by_kind(p: Any, order: str = "") -> list[Step]:
    sort = [choose("Sort by", order), click("Apply", "button")] if order else []
    return [click(p["department"], "button"), click(p["kind"], after=p["category"]), *sort]


def _by_brand(p: Any) -> list[Step]:
    return [*_by_kind(p), choose("Brand", p["brand"]), click("Apply", "button")]


def _families(world: World, rng: random.Random, most: int = 6) -> Iterator[list[Any]]:
    """Yields small groups of comparable products: one brand, one type."""
    sql = (
        PRODUCTS.replace("SELECT", "SELECT department,", 1)
        + "kind = ? AND brand = ? AND enabled = 1 ORDER BY p.name"
    )
    for pair in world.mixed(
        rng,
        "shop",
        "SELECT kind, brand FROM products GROUP BY 1, 2 HAVING count(*) BETWEEN 2 AND ?",
        most,
    ):
        yield world.rows("shop", sql, *pair)


@template("shop", "find", "Of the products of the type {kind} by {brand}, which one is the {what}?")
def _weights(world: World, rng: random.Random) -> Iterator[Made]:
    for found in _families(world, rng):
        what, best = rng.choice((("heaviest", max), ("lightest", min)))
        if p := only(found, "weight", best):
            steps = [*_by_brand(p), *visits([o["name"] for o in found]), stop(p["name"])]
            values = {"brand": p["brand"], "kind": p["kind"], "what": what}
            yield Made(values, answer.name(p["name"], answer.PRODUCTS), steps)


@template(
    "shop",
    "find",
    "How many pieces are in stock of the products of the type {kind} by {brand}, taken together?",
)
def _pieces(world: World, rng: random.Random) -> Iterator[Made]:
    for found in _families(world, rng):
        total, p = sum(o["stock"] for o in found), found[0]
        steps = [*_by_brand(p), *visits([o["name"] for o in found]), stop(total)]
        yield Made({"brand": p["brand"], "kind": p["kind"]}, answer.number(total), steps)


@template("shop", "find", "Which product of the type {kind} by {brand} has the {what} reviews?")
def _reviews(world: World, rng: random.Random) -> Iterator[Made]:
    for found in _families(world, rng, most=PAGE):
        what, best = rng.choice((("most", max), ("fewest", min)))
        if p := only(found, "reviews", best):
            values = {"brand": p["brand"], "kind": p["kind"], "what": what}
            yield Made(
                values, answer.name(p["name"], answer.PRODUCTS), [*_by_brand(p), stop(p["name"])]
            )


@template(
    "shop",
    "find",
    "What does the product of the type {kind} cost that has {rating} of 5 stars from {reviews} reviews?",
)
def _rated(world: World, rng: random.Random) -> Iterator[Made]:
    sql = PRODUCTS.replace(
        "SELECT",
        "SELECT department, count(*) OVER (PARTITION BY kind, rating, reviews) AS alike,",
        1,
    )
    for p in world.mixed(
        rng, "shop", f"SELECT * FROM ({sql} enabled = 1) WHERE alike = 1 AND reviews > 1"
    ):
        names = [
            r[0]
            for r in world.rows(
                "shop",
                "SELECT name FROM products WHERE kind = ? AND enabled = 1 ORDER BY name",
                p["kind"],
            )
        ]
        pages = names.index(p["name"]) // PAGE
        steps = [*_by_kind(p), *[click("Next page")] * pages, stop(money(p["price"]))]
        values = {"kind": p["kind"], "rating": p["rating"], "reviews": p["reviews"]}
        yield Made(values, answer.amount(money(p["price"])), steps)


def reviewed_products(
    world: World, rng: random.Random, condition: str
) -> Iterator[tuple[Any, list[Step]]]:
    """Yields reviews that alone fulfil a condition among their type of product.

    The plan reads reviews until it finds the one.
    """
    sql = (
        "SELECT r.*, p.name, p.kind, c.name AS category, department, p.reviews, count(*) OVER (PARTITION BY p.kind, {by}) AS alike FROM reviews r"
        " JOIN products p ON p.id = r.product_id JOIN categories c ON c.id = category_id WHERE r.status = 'approved' AND enabled = 1 AND "
    )
    by, condition = condition.split(": ", 1)
    for r in world.mixed(
        rng, "shop", f"SELECT * FROM ({sql.format(by=by)} {condition}) WHERE alike = 1"
    ):
        listed = world.rows(
            "shop",
            "SELECT name, reviews FROM products WHERE kind = ? AND enabled = 1 ORDER BY rating DESC, reviews DESC, name",
            r["kind"],
        )
        read = [
            p["name"]
            for p in listed[: [p["name"] for p in listed].index(r["name"]) + 1]
            if p["reviews"]
        ]
        if len(read) <= 6 and all(p["reviews"] <= 8 for p in listed[:PAGE]):
            yield r, [*_by_kind(r, "Best rated"), *visits(read)]


@template(
    "shop",
    "find",
    "Which product of the type {kind} was bought as a present for {friend}, according to a review?",
)
def _present(world: World, rng: random.Random) -> Iterator[Made]:
    for r, steps in reviewed_products(world, rng, "whom: whom LIKE 'my %'"):
        values = {"kind": r["kind"], "friend": r["whom"].replace("my ", "somebody's ", 1)}
        yield Made(values, answer.name(r["name"], answer.PRODUCTS), [*steps, stop(r["name"])])


@template(
    "shop",
    "find",
    "Which product of the type {kind} did somebody give {stars} of 5 stars after {owned} of use?",
)
def _after_use(world: World, rng: random.Random) -> Iterator[Made]:
    for r, steps in reviewed_products(world, rng, "owned, r.rating: owned <> ''"):
        values = {"kind": r["kind"], "stars": r["rating"], "owned": r["owned"]}
        yield Made(values, answer.name(r["name"], answer.PRODUCTS), [*steps, stop(r["name"])])


def dated_orders(world: World, rng: random.Random) -> Iterator[tuple[Any, list[Step]]]:
    """Yields orders that are the only ones of their day.

    The plan opens the page of the list with the order.
    """
    orders = my_orders(world)
    for place in rng.sample(range(len(orders)), len(orders)):
        if sum(o["placed"] == orders[place]["placed"] for o in orders) == 1:
            yield (
                orders[place],
                [click("My account"), click("My orders"), *[click("Next page")] * (place // 10)],
            )


@template("shop", "find", "What is the total of the order that I placed on {day}?")
def _order_of_day(world: World, rng: random.Random) -> Iterator[Made]:
    for o, steps in dated_orders(world, rng):
        yield Made(
            {"day": day(o["placed"])},
            answer.amount(money(o["total"])),
            [*steps, stop(money(o["total"]))],
        )


@template(
    "shop",
    "find",
    "Which of my orders from {begin} to {end} has the highest total? Answer with its number.",
)
def _highest(world: World, rng: random.Random) -> Iterator[Made]:
    orders = my_orders(world)
    while True:
        last, first = sorted(rng.sample(range(len(orders)), 2))
        if 2 < first - last < 15:
            begin, end = orders[first]["placed"], orders[last]["placed"]
            found = [o for o in orders if begin <= o["placed"] <= end]
            if o := only(found, "total", max):
                steps = [
                    click("My account"),
                    click("My orders"),
                    *[click("Next page")] * (orders.index(found[-1]) // 10),
                ]
                yield Made(
                    {"begin": day(begin), "end": day(end)},
                    answer.number(o["id"]),
                    [*steps, stop(o["id"])],
                )


@template(
    "shop", "change", "Put the {what} product of the order that I placed on {day} on my wish list."
)
def _wish_from_order(world: World, rng: random.Random) -> Iterator[Made]:
    wished = world.value("shop", f"SELECT group_concat(product_id) FROM ({WISHED})")
    held = [int(key) for key in (wished or "").split(",") if key]
    sql = "SELECT p.id, p.name, i.price FROM order_items i JOIN products p ON p.id = product_id WHERE order_id = ? AND enabled = 1"
    for o, steps in dated_orders(world, rng):
        items = world.rows("shop", sql, o["id"])
        what, best = rng.choice((("cheapest", min), ("most expensive", max)))
        p = only(items, "price", best) if len(items) > 1 else None
        if p and p["id"] not in held and sum(i["id"] == p["id"] for i in items) == 1:
            wanted = "\n".join(map(str, sorted([*held, p["id"]])))
            more = [
                click(f"Order #{o['id']}"),
                click(p["name"]),
                click("Add to wish list", "button"),
                stop(),
            ]
            yield Made(
                {"what": what, "day": day(o["placed"])},
                becomes("shop", WISHED, wanted),
                [*steps, *more],
            )


@template(
    "shop",
    "change",
    "Put the best rated product of the type {kind} that is in stock on my wish list.",
)
def _wish_best(world: World, rng: random.Random) -> Iterator[Made]:
    held = [r[0] for r in world.rows("shop", WISHED)]
    for (kind,) in world.mixed(rng, "shop", "SELECT DISTINCT kind FROM products"):
        sql = (
            PRODUCTS.replace("SELECT", "SELECT department,", 1)
            + "kind = ? AND enabled = 1 AND stock > 0"
        )
        found = world.rows("shop", sql, kind)
        if len(found) > 2 and (p := only(found, "rating", max)) and p["id"] not in held:
            steps = [
                click(p["department"], "button"), click(kind, after=p["category"]), choose("Sort by", "Best rated"), click("In stock only", "checkbox"),
                click("Apply", "button"), click(p["name"]), click("Add to wish list", "button"), stop(),
            ]  # fmt: skip
            yield Made(
                {"kind": kind},
                becomes("shop", WISHED, "\n".join(map(str, sorted([*held, p["id"]])))),
                steps,
            )


@template(
    "shop", "unachievable", "Which product of the type {kind} by {brand} costs less than ${limit}?"
)
def _none_so_cheap(world: World, rng: random.Random) -> Iterator[Made]:
    for found in _families(world, rng, most=PAGE):
        p, least = found[0], min(o["price"] for o in found)
        limit = least // 100 - rng.randint(0, 5)
        if limit > 5:
            steps = [*_by_brand(p), stop("N/A")]
            yield Made(
                {"brand": p["brand"], "kind": p["kind"], "limit": limit},
                answer.nothing("No product is so cheap."),
                steps,
            )
