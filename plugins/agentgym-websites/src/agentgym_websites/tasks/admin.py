"""Tasks for the shop's staff."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, search, stop
from agentgym_websites.shop.admin import SALES
from agentgym_websites.site import ORIGINS, TODAY, money
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.template import Made, World, asks, each, ends_at, template

ADMIN = ORIGINS["admin"]
CUSTOMERS = (
    "SELECT c.*, c.name AS customer, (SELECT count(*) FROM orders WHERE customer_id = c.id) AS orders,"
    " (SELECT sum(total) FROM orders WHERE customer_id = c.id) AS total FROM customers c WHERE "
)
ORDERS = 'SELECT o.*, o.id AS "order", tracking AS number, c.name FROM orders o JOIN customers c ON c.id = customer_id WHERE '


def open_menu(title: str, text: str) -> list[Step]:
    """Opens a page of the menu."""
    return [click(title, "button"), click(text)]


def open_customer(name: str) -> list[Step]:
    """Opens a customer by name."""
    return [search(name), click(name)]


def open_product(product: Any) -> list[Step]:
    """Opens a product by SKU."""
    return [search(product["sku"]), click(product["name"])]


def open_order(key: int) -> list[Step]:
    """Opens an order by number."""
    return [search(f"#{key}"), click(f"Order #{key}")]


def _periods(rng: random.Random) -> Iterator[tuple[str, str]]:
    while True:
        begin = TODAY - timedelta(days=rng.randint(60, 640))
        yield str(begin), str(begin + timedelta(days=rng.choice((14, 30, 45, 60, 90))))


def _report(begin: str, end: str) -> list[Step]:
    return [
        *open_menu("Reports", "Sales report"),
        fill("From", begin),
        fill("To", end),
        click("Show", "button"),
    ]


asks(
    "admin",
    "shop",
    (
        "How many orders has the customer {customer} placed? Answer with the number.",
        CUSTOMERS + "orders > 1",
        "orders",
        answer.number,
        lambda c: [*open_customer(c["name"])],
    ),
    (
        "What do all orders of the customer {customer} amount to?",
        CUSTOMERS + "orders > 1",
        lambda c: money(c["total"]),
        answer.amount,
        lambda c: [*open_customer(c["name"])],
    ),
    (
        "What is the telephone number of the customer {customer}?",
        CUSTOMERS + "1",
        "phone",
        answer.codes,
        lambda c: [*open_customer(c["name"])],
    ),
    (
        "When did {customer} become a customer? Answer like Jun 2, 2026.",
        CUSTOMERS + "1",
        "joined",
        answer.day,
        lambda c: [*open_customer(c["name"])],
    ),
    (
        "Who placed order #{order}?",
        ORDERS + "o.id > 1020",
        "name",
        answer.customer,
        lambda o: [*open_order(o["id"])],
    ),
)


@template("admin", "find", "Which SKUs does order #{order} contain?")
def _skus(world: World, rng: random.Random) -> Iterator[Made]:
    for o in world.mixed(rng, "shop", ORDERS + "o.id > 1020"):
        sql = "SELECT sku FROM order_items JOIN products p ON p.id = product_id WHERE order_id = ?"
        skus = [r[0] for r in world.rows("shop", sql, o["id"])]
        yield Made(
            {"order": o["id"]}, answer.codes(*skus), [*open_order(o["id"]), stop(", ".join(skus))]
        )


@template("admin", "find", "What were the total sales from {begin} to {end}?")
def _sales(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        total = money(world.value("shop", f"SELECT sum(total) {SALES}", begin, end))
        yield Made(
            {"begin": begin, "end": end}, answer.amount(total), [*_report(begin, end), stop(total)]
        )


@template(
    "admin",
    "find",
    "How many orders were placed from {begin} to {end}, cancelled and returned ones left out? Answer with the number.",
)
def _number(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        count = world.value("shop", f"SELECT count(*) {SALES}", begin, end)
        yield Made(
            {"begin": begin, "end": end}, answer.number(count), [*_report(begin, end), stop(count)]
        )


@template("admin", "find", "What was the average value of an order from {begin} to {end}?")
def _average(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        mean = money(world.value("shop", f"SELECT round(avg(total)) {SALES}", begin, end))
        yield Made(
            {"begin": begin, "end": end}, answer.amount(mean), [*_report(begin, end), stop(mean)]
        )


@template("admin", "find", "Which product sold best, by number of pieces, from {begin} to {end}?")
def _best(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        found = world.rows(
            "shop", f"SELECT p.name, sum(i.quantity) AS sold FROM order_items i JOIN products p ON p.id = i.product_id WHERE i.order_id IN"
            f" (SELECT o.id {SALES}) GROUP BY p.id ORDER BY sold DESC LIMIT 2", begin, end,
        )  # fmt: skip
        if found[0]["sold"] > found[1]["sold"]:
            yield Made(
                {"begin": begin, "end": end},
                answer.name(found[0]["name"], answer.PRODUCTS),
                [*_report(begin, end), stop(found[0]["name"])],
            )


@template("admin", "find", "Which customer spent the most from {begin} to {end}?")
def _best_customer(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        sql = f"SELECT c.name FROM (SELECT * {SALES}) JOIN customers c ON c.id = customer_id GROUP BY c.id ORDER BY sum(total) DESC"
        name = world.value("shop", sql, begin, end)
        yield Made(
            {"begin": begin, "end": end},
            answer.name(name, answer.CUSTOMERS),
            [*_report(begin, end), stop(name)],
        )


@template(
    "admin",
    "find",
    "In which month from {begin} to {end} were sales the highest? Answer like 2026-03.",
)
def _best_month(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        first = date(TODAY.year - 1, rng.randint(1, 12), 1)
        begin, end = (
            str(first),
            str(min(TODAY, first + timedelta(days=rng.choice((150, 180, 210))))),
        )
        month = world.value(
            "shop",
            f"SELECT substr(placed, 1, 7) AS m {SALES} GROUP BY m ORDER BY sum(total) DESC",
            begin,
            end,
        )
        yield Made(
            {"begin": begin, "end": end}, answer.month(month), [*_report(begin, end), stop(month)]
        )


asks(
    "admin",
    "shop",
    (
        "How many {group} customers live in {city}? Answer with the number.",
        'SELECT grp AS "group", city, count(*) AS n FROM customers GROUP BY grp, city HAVING n > 1',
        "n",
        answer.number,
        lambda r: [
            *open_menu("Customers", "All customers"),
            choose("Group", r["group"]),
            choose("City", r["city"]),
            click("Filter", "button"),
        ],
    ),
    (
        "How many products of the category {category} have fewer than 10 pieces in stock? Answer with the number.",
        "SELECT c.name AS category, sum(stock < 10) AS n FROM products p JOIN categories c ON c.id = category_id GROUP BY c.id",
        "n",
        answer.number,
        lambda r: [
            *open_menu("Catalog", "Products"),
            choose("Category", r["category"]),
            choose("Stock", "Fewer than 10"),
            click("Filter", "button"),
        ],
    ),
)


@template(
    "admin",
    "find",
    "How many {status} reviews with {stars} of 5 stars are there? Answer with the number.",
)
def _review_count(world: World, rng: random.Random) -> Iterator[Made]:
    for status, stars in ((s, n) for n in range(1, 6) for s in ("pending", "approved", "rejected")):
        count = world.value(
            "shop", "SELECT count(*) FROM reviews WHERE status = ? AND rating = ?", status, stars
        )
        steps = [
            *open_menu("Marketing", "Reviews"),
            choose("Status", status),
            choose("Rating", str(stars)),
            click("Filter", "button"),
            stop(count),
        ]
        yield Made({"status": status, "stars": stars}, answer.number(count), steps)


each(
    "admin",
    "navigate",
    "Open the order with the tracking number {number}.",
    "shop",
    ORDERS + "tracking <> ''",
    check=lambda o: ends_at(f"{ADMIN}/orders/{o['id']}"),
    steps=lambda o: [search(o["tracking"]), click(f"Order #{o['id']}"), stop()],
)


@template("admin", "navigate", "Show the sales report from {begin} to {end}.")
def _show_report(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        yield Made(
            {"begin": begin, "end": end},
            ends_at(f"{ADMIN}/reports?from={begin}&to={end}"),
            [*_report(begin, end), stop()],
        )


each(
    "admin",
    "navigate",
    "List all {status} orders of the customer {customer}.",
    "shop",
    "SELECT lower(status) AS status, status AS label, c.name AS customer FROM orders JOIN customers c ON c.id = customer_id GROUP BY label, c.id",
    check=lambda r: ends_at(
        f"{ADMIN}/orders?status={r['label']}&customer={r['customer'].replace(' ', '+')}"
    ),
    steps=lambda r: [
        *open_menu("Sales", "Orders"),
        choose("Status", r["label"]),
        fill("Customer", r["customer"]),
        click("Filter", "button"),
        stop(),
    ],
)
