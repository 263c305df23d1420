"""Tasks for the shop's staff without a name to search for: comparisons, groups, dates."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, stop
from agentgym_websites.shop.admin import GROUPS
from agentgym_websites.site import money
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.admin import ADMIN, open_menu
from agentgym_websites.tasks.template import (
    Made,
    World,
    becomes,
    ends_at,
    only,
    template,
)

ORDERS = "SELECT o.*, c.name, c.phone FROM orders o JOIN customers c ON c.id = customer_id WHERE "
STATUSES = ("Delivered", "Returned", "Cancelled", "Shipped", "Processing")


def months(world: World, rng: random.Random) -> list[tuple[str, str]]:
    """Returns the first and the last days of the months with orders, in random order."""
    found = []
    for (text,) in world.mixed(
        rng, "shop", "SELECT DISTINCT substr(placed, 1, 7) FROM orders WHERE placed < '2026-06'"
    ):
        first = date.fromisoformat(f"{text}-01")
        found.append(
            (str(first), str((first + timedelta(days=32)).replace(day=1) - timedelta(days=1)))
        )
    return found


def filtered_orders(begin: str, end: str, status: str = "") -> list[Step]:
    """Lists the orders of some days."""
    chosen = [choose("Status", status)] if status else []
    return [
        *open_menu("Sales", "Orders"),
        *chosen,
        fill("From", begin),
        fill("To", end),
        click("Filter", "button"),
    ]


def descending(column: str) -> list[Step]:
    """Sorts a grid in descending order."""
    return [click(column), click(f"{column} ↑")]


def brands_in_stock(
    world: World, rng: random.Random
) -> Iterator[tuple[Any, list[Any], list[Step]]]:
    """Yields a category and a brand with its products in stock.

    The plan lists all of them in the admin.
    """
    sql = "SELECT c.id, c.name AS category, brand FROM products p JOIN categories c ON c.id = category_id GROUP BY c.id, brand HAVING count(*) <= 20"
    for pair in world.mixed(rng, "shop", sql):
        found = world.rows(
            "shop",
            "SELECT * FROM products WHERE category_id = ? AND brand = ? AND stock > 0",
            pair["id"],
            pair["brand"],
        )
        if len(found) > 2:
            filters = [
                choose("Category", pair["category"]),
                fill("Name", pair["brand"]),
                click("Filter", "button"),
            ]
            yield pair, found, [*open_menu("Catalog", "Products"), *filters]


@template(
    "admin", "find", "Which product by {brand} in the category {category} has the {what} in stock?"
)
def _stock(world: World, rng: random.Random) -> Iterator[Made]:
    for pair, found, steps in brands_in_stock(world, rng):
        what, best = rng.choice((("most pieces", max), ("fewest pieces, but at least one,", min)))
        if p := only(found, "stock", best):
            sort = descending("Stock") if best is max else [click("Stock")]
            values = {"brand": pair["brand"], "category": pair["category"], "what": what}
            yield Made(
                values, answer.name(p["name"], answer.PRODUCTS), [*steps, *sort, stop(p["name"])]
            )


@template("admin", "find", "Which customer from {city} has been with us the {what}?")
def _longest(world: World, rng: random.Random) -> Iterator[Made]:
    for (city,) in world.mixed(
        rng, "shop", "SELECT city FROM customers GROUP BY city HAVING count(*) > 3"
    ):
        what, order = rng.choice((("longest", ""), ("shortest time", "DESC")))
        found = world.rows(
            "shop", f"SELECT * FROM customers WHERE city = ? ORDER BY joined {order}", city
        )
        if found[0]["joined"] != found[1]["joined"]:
            sort = descending("Since") if order else [click("Since")]
            steps = [
                *open_menu("Customers", "All customers"),
                choose("City", city),
                click("Filter", "button"),
                *sort,
                stop(found[0]["name"]),
            ]
            yield Made(
                {"city": city, "what": what}, answer.name(found[0]["name"], answer.CUSTOMERS), steps
            )


def _largest(world: World, rng: random.Random) -> Iterator[tuple[Any, dict[str, str], list[Step]]]:
    for begin, end in months(world, rng):
        found = world.rows(
            "shop", ORDERS + "placed BETWEEN ? AND ? ORDER BY total DESC", begin, end
        )
        if len(found) > 3 and found[0]["total"] > found[1]["total"]:
            yield (
                found[0],
                {"begin": begin, "end": end},
                [*filtered_orders(begin, end), *descending("Total")],
            )


@template("admin", "find", "Who placed the order with the highest total from {begin} to {end}?")
def _who(world: World, rng: random.Random) -> Iterator[Made]:
    for o, values, steps in _largest(world, rng):
        yield Made(values, answer.name(o["name"], answer.CUSTOMERS), [*steps, stop(o["name"])])


@template(
    "admin",
    "find",
    "What is the telephone number of the customer whose order from {begin} to {end} has the highest total?",
)
def _whose_phone(world: World, rng: random.Random) -> Iterator[Made]:
    for o, values, steps in _largest(world, rng):
        yield Made(values, answer.codes(o["phone"]), [*steps, click(o["name"]), stop(o["phone"])])


@template(
    "admin",
    "find",
    "How many orders that were placed from {begin} to {end} are {status} now? Answer with the number.",
)
def _how_many(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in months(world, rng):
        status = rng.choice(STATUSES[:3])
        count = world.value(
            "shop",
            "SELECT count(*) FROM orders WHERE status = ? AND placed BETWEEN ? AND ?",
            status,
            begin,
            end,
        )
        if count:
            values = {"begin": begin, "end": end, "status": status.lower()}
            yield Made(
                values, answer.number(count), [*filtered_orders(begin, end, status), stop(count)]
            )


def _reviews(status: str, stars: int, newest: bool) -> list[Step]:
    sort = descending("Written") if newest else [click("Written")]
    return [
        *open_menu("Marketing", "Reviews"),
        choose("Status", status),
        choose("Rating", str(stars)),
        click("Filter", "button"),
        *sort,
    ]


@template("admin", "find", "Who wrote the {age} of the {status} reviews with {stars} of 5 stars?")
def _first_review(world: World, rng: random.Random) -> Iterator[Made]:
    choices = [
        (status, stars, newest)
        for status in ("pending", "approved", "rejected")
        for stars in range(1, 6)
        for newest in (True, False)
    ]
    for status, stars, newest in rng.sample(choices, len(choices)):
        sql = "SELECT written, c.name FROM reviews r JOIN customers c ON c.id = customer_id WHERE status = ? AND rating = ? ORDER BY written"
        found = world.rows("shop", sql + " DESC" * newest, status, stars)
        if len(found) > 1 and found[0]["written"] != found[1]["written"]:
            values = {"age": "newest" if newest else "oldest", "status": status, "stars": stars}
            steps = [*_reviews(status, stars, newest), stop(found[0]["name"])]
            yield Made(values, answer.name(found[0]["name"], answer.CUSTOMERS), steps)


@template(
    "admin",
    "navigate",
    "List the products of the category {category} of which fewer than 10 pieces are in stock, the {order} first.",
)
def _list_low(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        words, key, column = rng.choice(
            (
                ("most expensive", "-price", "Price"),
                ("best rated", "-rating", "Rating"),
                ("cheapest", "price", "Price"),
            )
        )
        sort = descending(column) if key[0] == "-" else [click(column)]
        steps = [
            *open_menu("Catalog", "Low stock"),
            choose("Category", c["name"]),
            click("Filter", "button"),
            *sort,
            stop(),
        ]
        yield Made(
            {"category": c["name"], "order": words},
            ends_at(f"{ADMIN}/products?sort={key}&category={c['id']}&stock=low"),
            steps,
        )


@template(
    "admin",
    "change",
    "Raise the price of the most expensive product of the category {category} by ${dollars}.",
)
def _raise(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        found = world.rows(
            "shop", "SELECT * FROM products WHERE category_id = ? ORDER BY price DESC", c["id"]
        )
        p, dollars = found[0], rng.randint(2, 15)
        if p["price"] > found[1]["price"]:
            cents = p["price"] + 100 * dollars
            steps = [
                *open_menu("Catalog", "Products"), choose("Category", c["name"]), click("Filter", "button"), *descending("Price"), click(p["name"]),
                fill("Price ($)", f"{cents / 100:.2f}"), click("Save", "button"), stop(),
            ]  # fmt: skip
            check = becomes("shop", f"SELECT price FROM products WHERE id = {p['id']}", cents)
            yield Made({"category": c["name"], "dollars": dollars}, check, steps)


@template(
    "admin",
    "change",
    "Of the delivered orders from {begin} to {end}, the one with the highest total has come back. Mark it as returned.",
)
def _returned(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in months(world, rng):
        found = world.rows(
            "shop",
            ORDERS + "status = 'Delivered' AND placed BETWEEN ? AND ? ORDER BY total DESC",
            begin,
            end,
        )
        if len(found) > 2 and found[0]["total"] > found[1]["total"]:
            key = found[0]["id"]
            steps = [
                *filtered_orders(begin, end, "Delivered"), *descending("Total"), click(f"Order #{key}"), choose("Status", "Returned"), click("Save", "button"), stop(),
            ]  # fmt: skip
            yield Made(
                {"begin": begin, "end": end},
                becomes("shop", f"SELECT status FROM orders WHERE id = {key}", "Returned"),
                steps,
            )


@template(
    "admin",
    "change",
    "Move all customers of the group {group} who live in {city} to the group {other}.",
)
def _move(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT grp, city, group_concat(id) AS ids FROM customers GROUP BY grp, city HAVING count(*) BETWEEN 2 AND 15"
    for r in world.mixed(rng, "shop", sql):
        other = rng.choice([g for g in GROUPS if g != r["grp"]])
        steps = [
            *open_menu("Customers", "All customers"), choose("Group", r["grp"]), choose("City", r["city"]), click("Filter", "button"),
            click("Select all on this page", "checkbox"), choose("Actions", f"Move to the group {other}"), click("Submit", "button"), stop(),
        ]  # fmt: skip
        check = becomes(
            "shop", f"SELECT DISTINCT grp FROM customers WHERE id IN ({r['ids']})", other
        )
        yield Made({"group": r["grp"], "city": r["city"], "other": other}, check, steps)


@template(
    "admin", "change", "{what} all pending reviews with {stars} of 5 stars of products by {brand}."
)
def _mass_reviews(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT brand, r.rating AS stars, group_concat(r.id) AS ids FROM reviews r JOIN products p ON p.id = product_id WHERE status = 'pending'"
        " GROUP BY brand, r.rating HAVING count(*) BETWEEN 2 AND 10"
    )
    for r in world.mixed(rng, "shop", sql):
        what, wanted = rng.choice((("Approve", "approved"), ("Reject", "rejected")))
        steps = [
            *open_menu("Marketing", "Pending reviews"), choose("Rating", str(r["stars"])), fill("Product", r["brand"]), click("Filter", "button"),
            click("Select all on this page", "checkbox"), choose("Actions", what), click("Submit", "button"), stop(),
        ]  # fmt: skip
        check = becomes(
            "shop", f"SELECT DISTINCT status FROM reviews WHERE id IN ({r['ids']})", wanted
        )
        yield Made({"what": what, "stars": r["stars"], "brand": r["brand"]}, check, steps)


@template(
    "admin", "unachievable", "What is the total of the order that {customer} placed on {day}?"
)
def _no_order(world: World, rng: random.Random) -> Iterator[Made]:
    days = [r[0] for r in world.rows("shop", "SELECT DISTINCT placed FROM orders ORDER BY placed")]
    for c in world.mixed(rng, "shop", "SELECT * FROM customers"):
        text = rng.choice(days)
        if not world.value(
            "shop",
            "SELECT count(*) FROM orders WHERE customer_id = ? AND placed = ?",
            c["id"],
            text,
        ):
            steps = [
                *open_menu("Sales", "Orders"), fill("Customer", c["name"]), fill("From", text), fill("To", text), click("Filter", "button"), stop("N/A"),
            ]  # fmt: skip
            yield Made(
                {"customer": c["name"], "day": text},
                answer.nothing("There is no such order."),
                steps,
            )


@template(
    "admin",
    "find",
    "By how much do the delivered orders from {begin} to {end} exceed the returned ones, in dollars?",
)
def _exceed(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT coalesce(sum(total), 0) FROM orders WHERE status = ? AND placed BETWEEN ? AND ?"
    for begin, end in months(world, rng):
        good, bad = (
            world.value("shop", sql, status, begin, end) for status in ("Delivered", "Returned")
        )
        if bad and good > bad:
            text = money(good - bad)
            steps = [
                *filtered_orders(begin, end, "Delivered"),
                choose("Status", "Returned"),
                click("Filter", "button"),
                stop(text),
            ]
            yield Made({"begin": begin, "end": end}, answer.amount(text), steps)
