"""What there is to do for the shop's staff."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym_envs.envs.web.sites.shop.admin import GROUPS, SALES
from agentgym_envs.envs.web.sites.site import ORIGINS, TODAY, day, money
from agentgym_envs.envs.web.sites.tasks import answer
from agentgym_envs.envs.web.sites.tasks.template import Made, World, becomes, each, ends_at, template
from agentgym_envs.envs.web.steps import Step, choose, click, fill, goto, search, stop

ADMIN = ORIGINS["admin"]
CUSTOMERS = (
    "SELECT c.*, c.name AS customer, (SELECT count(*) FROM orders WHERE customer_id = c.id) AS orders,"
    " (SELECT sum(total) FROM orders WHERE customer_id = c.id) AS total FROM customers c WHERE "
)
ORDERS = 'SELECT o.*, o.id AS "order", tracking AS number, c.name FROM orders o JOIN customers c ON c.id = customer_id WHERE '


def _menu(title: str, text: str) -> list[Step]:
    return [click(title, "button"), click(text)]


def _customer(name: str) -> list[Step]:
    return [search(name), click(name)]


def _product(product: Any) -> list[Step]:
    return [search(product["sku"]), click(product["name"])]


def _order(key: int) -> list[Step]:
    return [search(f"#{key}"), click(f"Order #{key}")]


def _periods(rng: random.Random) -> Iterator[tuple[str, str]]:
    while True:
        begin = TODAY - timedelta(days=rng.randint(60, 640))
        yield str(begin), str(begin + timedelta(days=rng.choice((14, 30, 45, 60, 90))))


def _report(begin: str, end: str) -> list[Step]:
    return [*_menu("Reports", "Sales report"), fill("From", begin), fill("To", end), click("Show", "button")]


each(
    "admin",
    "find",
    "How many orders has the customer {customer} placed? Answer with the number.",
    "shop",
    CUSTOMERS + "orders > 1",
    check=lambda c: answer.number(c["orders"]),
    steps=lambda c: [*_customer(c["name"]), stop(c["orders"])],
)


each(
    "admin",
    "find",
    "What do all orders of the customer {customer} amount to?",
    "shop",
    CUSTOMERS + "orders > 1",
    check=lambda c: answer.amount(money(c["total"])),
    steps=lambda c: [*_customer(c["name"]), stop(money(c["total"]))],
)


each(
    "admin",
    "find",
    "What is the telephone number of the customer {customer}?",
    "shop",
    CUSTOMERS + "1",
    check=lambda c: answer.codes(c["phone"]),
    steps=lambda c: [*_customer(c["name"]), stop(c["phone"])],
)


each(
    "admin",
    "find",
    "When did {customer} become a customer? Answer like Jun 2, 2026.",
    "shop",
    CUSTOMERS + "1",
    check=lambda c: answer.day(c["joined"]),
    steps=lambda c: [*_customer(c["name"]), stop(day(c["joined"]))],
)


each(
    "admin",
    "find",
    "Who placed order #{order}?",
    "shop",
    ORDERS + "o.id > 1020",
    check=lambda o: answer.name(o["name"], answer.CUSTOMERS),
    steps=lambda o: [*_order(o["id"]), stop(o["name"])],
)


@template("admin", "find", "Which SKUs does order #{order} contain?")
def _skus(world: World, rng: random.Random) -> Iterator[Made]:
    for o in world.mixed(rng, "shop", ORDERS + "o.id > 1020"):
        sql = "SELECT sku FROM order_items JOIN products p ON p.id = product_id WHERE order_id = ?"
        skus = [r[0] for r in world.rows("shop", sql, o["id"])]
        yield Made({"order": o["id"]}, answer.codes(*skus), [*_order(o["id"]), stop(", ".join(skus))])


@template("admin", "find", "What were the total sales from {begin} to {end}?")
def _sales(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        total = money(world.value("shop", f"SELECT sum(total) {SALES}", begin, end))
        yield Made({"begin": begin, "end": end}, answer.amount(total), [*_report(begin, end), stop(total)])


@template(
    "admin",
    "find",
    "How many orders were placed from {begin} to {end}, cancelled and returned ones left out? Answer with the number.",
)
def _number(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        count = world.value("shop", f"SELECT count(*) {SALES}", begin, end)
        yield Made({"begin": begin, "end": end}, answer.number(count), [*_report(begin, end), stop(count)])


@template("admin", "find", "What was the average value of an order from {begin} to {end}?")
def _average(world: World, rng: random.Random) -> Iterator[Made]:
    for begin, end in _periods(rng):
        mean = money(world.value("shop", f"SELECT round(avg(total)) {SALES}", begin, end))
        yield Made({"begin": begin, "end": end}, answer.amount(mean), [*_report(begin, end), stop(mean)])


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
        yield Made({"begin": begin, "end": end}, answer.name(name, answer.CUSTOMERS), [*_report(begin, end), stop(name)])


@template("admin", "find", "In which month from {begin} to {end} were sales the highest? Answer like 2026-03.")
def _best_month(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        first = date(TODAY.year - 1, rng.randint(1, 12), 1)
        begin, end = str(first), str(min(TODAY, first + timedelta(days=rng.choice((150, 180, 210)))))
        month = world.value("shop", f"SELECT substr(placed, 1, 7) AS m {SALES} GROUP BY m ORDER BY sum(total) DESC", begin, end)
        yield Made({"begin": begin, "end": end}, answer.month(month), [*_report(begin, end), stop(month)])


each(
    "admin",
    "find",
    "How many {group} customers live in {city}? Answer with the number.",
    "shop",
    'SELECT grp AS "group", city, count(*) AS n FROM customers GROUP BY grp, city HAVING n > 1',
    check=lambda r: answer.number(r["n"]),
    steps=lambda r: [
        *_menu("Customers", "All customers"),
        choose("Group", r["group"]),
        choose("City", r["city"]),
        click("Filter", "button"),
        stop(r["n"]),
    ],
)


each(
    "admin",
    "find",
    "How many products of the category {category} have fewer than 10 pieces in stock? Answer with the number.",
    "shop",
    "SELECT c.name AS category, sum(stock < 10) AS n FROM products p JOIN categories c ON c.id = category_id GROUP BY c.id",
    check=lambda r: answer.number(r["n"]),
    steps=lambda r: [
        *_menu("Catalog", "Products"),
        choose("Category", r["category"]),
        choose("Stock", "Fewer than 10"),
        click("Filter", "button"),
        stop(r["n"]),
    ],
)


@template("admin", "find", "How many {status} reviews with {stars} of 5 stars are there? Answer with the number.")
def _review_count(world: World, rng: random.Random) -> Iterator[Made]:
    for status, stars in ((s, n) for n in range(1, 6) for s in ("pending", "approved", "rejected")):
        count = world.value("shop", "SELECT count(*) FROM reviews WHERE status = ? AND rating = ?", status, stars)
        steps = [
            *_menu("Marketing", "Reviews"),
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
        yield Made({"begin": begin, "end": end}, ends_at(f"{ADMIN}/reports?from={begin}&to={end}"), [*_report(begin, end), stop()])


each(
    "admin",
    "navigate",
    "List all {status} orders of the customer {customer}.",
    "shop",
    "SELECT lower(status) AS status, status AS label, c.name AS customer FROM orders JOIN customers c ON c.id = customer_id GROUP BY label, c.id",
    check=lambda r: ends_at(f"{ADMIN}/orders?status={r['label']}&customer={r['customer'].replace(' ', '+')}"),
    steps=lambda r: [
        *_menu("Sales", "Orders"),
        choose("Status", r["label"]),
        fill("Customer", r["customer"]),
        click("Filter", "button"),
        stop(),
    ],
)


@template("admin", "change", "Set the price of the {product} to ${price}.")
def _price(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", "SELECT * FROM products"):
        cents = p["price"] + rng.choice((-200, 150, 300, 1000))
        steps = [*_product(p), fill("Price ($)", f"{cents / 100:.2f}"), click("Save", "button"), stop()]
        values = {"product": p["name"], "price": f"{cents / 100:.2f}"}
        yield Made(values, becomes("shop", f"SELECT price FROM products WHERE id = {p['id']}", cents), steps)


@template("admin", "change", "{count} more pieces of the {product} have arrived. Correct the stock.")
def _arrived(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", "SELECT * FROM products"):
        count = rng.randint(2, 30) * 5
        steps = [*_product(p), fill("Stock", p["stock"] + count), click("Save", "button"), stop()]
        yield Made(
            {"product": p["name"], "count": count},
            becomes("shop", f"SELECT stock FROM products WHERE id = {p['id']}", p["stock"] + count),
            steps,
        )


each(
    "admin",
    "change",
    "Hide the {product} from the shop.",
    "shop",
    "SELECT *, name AS product FROM products",
    check=lambda p: becomes("shop", f"SELECT enabled FROM products WHERE id = {p['id']}", 0),
    steps=lambda p: [*_product(p), click("Shown in the shop", "checkbox"), click("Save", "button"), stop()],
)


@template("admin", "change", "Mark order #{order} as shipped, with the tracking number {number}.")
def _shipped(world: World, rng: random.Random) -> Iterator[Made]:
    for o in world.mixed(rng, "shop", ORDERS + "status = 'Processing'"):
        number = f"HP{rng.randint(10**8, 10**9 - 1)}"
        steps = [*_order(o["id"]), choose("Status", "Shipped"), fill("Tracking number", number), click("Save", "button"), stop()]
        sql = f"SELECT status || ' ' || tracking FROM orders WHERE id = {o['id']}"
        yield Made({"order": o["id"], "number": number}, becomes("shop", sql, f"Shipped {number}"), steps)


NOTES = (
    "Customer asked for gift wrapping",
    "Call before delivery",
    "Leave at the back door",
    "Address confirmed by telephone",
    "Send the invoice by post",
)


@template("admin", "change", "Add the internal note “{note}” to order #{order}.")
def _note(world: World, rng: random.Random) -> Iterator[Made]:
    for o in world.mixed(rng, "shop", ORDERS + "o.id > 1020"):
        note = rng.choice(NOTES)
        steps = [*_order(o["id"]), fill("Internal note", note), click("Save", "button"), stop()]
        yield Made({"order": o["id"], "note": note}, becomes("shop", f"SELECT note FROM orders WHERE id = {o['id']}", note), steps)


@template("admin", "change", "Move the customer {customer} to the group {group}.")
def _regroup(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", CUSTOMERS + "1"):
        group = rng.choice([g for g in GROUPS if g != c["grp"]])
        steps = [*_customer(c["name"]), choose("Group", group), click("Save", "button"), stop()]
        yield Made(
            {"customer": c["name"], "group": group},
            becomes("shop", f"SELECT grp FROM customers WHERE id = {c['id']}", group),
            steps,
        )


def _moderate(button: str, wanted: str) -> None:
    each(
        "admin",
        "change",
        button + " the pending review of the {product} by {author}.",
        "shop",
        "SELECT r.*, p.name AS product, c.name AS author FROM reviews r JOIN products p ON p.id = r.product_id JOIN customers c ON c.id = customer_id"
        " WHERE r.status = 'pending' AND 1 = (SELECT count(*) FROM reviews o WHERE o.product_id = p.id AND o.status = 'pending')",
        check=lambda r: becomes("shop", f"SELECT coalesce((SELECT status FROM reviews WHERE id = {r['id']}), 'gone')", wanted),
        steps=lambda r: [
            *_menu("Marketing", "Reviews"),
            choose("Status", "pending"),
            fill("Product", r["product"]),
            click("Filter", "button"),
            click(button, "button"),
            stop(),
        ],
    )


_moderate("Approve", "approved")
_moderate("Delete", "gone")


@template("admin", "change", "Create the discount {code} of {percent} percent that ends on {ends}.")
def _discount(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        code, percent = f"{rng.choice(('AUTUMN', 'FRIENDS', 'FLASH', 'TEAM'))}{rng.randint(10, 99)}", rng.randint(1, 16) * 5
        ends = str(TODAY + timedelta(days=rng.randint(10, 200)))
        steps = [
            *_menu("Marketing", "Discounts"), fill("Code", code), fill("Percent", percent), fill("Ends (YYYY-MM-DD)", ends), click("Add discount", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT percent || ' ' || ends FROM discounts WHERE code = '{code}'"
        yield Made({"code": code, "percent": percent, "ends": ends}, becomes("shop", sql, f"{percent} {ends}"), steps)


@template("admin", "unachievable", "What is the telephone number of the customer {customer}?")
def _nobody(world: World, rng: random.Random) -> Iterator[Made]:
    from agentgym_envs.envs.web.sites.people import FIRST, LAST

    while True:
        name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        if not world.rows("shop", "SELECT 1 FROM customers WHERE name = ?", name):
            yield Made({"customer": name}, answer.nothing("There is no such customer."), [search(name), stop("N/A")])


@template(
    "admin shop",
    "change",
    "Look up in the shop which product of the category {category} is the cheapest, and set its stock to {count} in the admin.",
)
def _restock(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        found = world.rows("shop", "SELECT * FROM products WHERE category_id = ? ORDER BY price", c["id"])
        count = rng.randint(200, 400)
        if found[0]["price"] < found[1]["price"]:
            steps = [
                goto(ORIGINS["shop"]), click("Departments"), click(c["name"]), choose("Sort by", "Price, lowest first"), click("Apply", "button"),
                goto(ADMIN), *_product(found[0]), fill("Stock", count), click("Save", "button"), stop(),
            ]  # fmt: skip
            yield Made(
                {"category": c["name"], "count": count},
                becomes("shop", f"SELECT stock FROM products WHERE id = {found[0]['id']}", count),
                steps,
            )


@template(
    "admin code",
    "change",
    "Open an issue in the code host's project {project} with the title “Restock {sku}” and the name of the product with this SKU as its description.",
)
def _issue(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", "SELECT * FROM products WHERE stock = 0"):
        project = rng.choice(("tidepool", "inkwell", "glasswing", "osprey"))
        steps = [
            search(p["sku"]), goto(f"{ORIGINS['code']}/p/{project}/issues/new"), fill("Title", f"Restock {p['sku']}"), fill("Description", p["name"]),
            click("Open issue", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT p.name || '|' || body FROM issues i JOIN projects p ON p.id = project_id WHERE title = 'Restock {p['sku']}'"
        yield Made({"project": project, "sku": p["sku"]}, becomes("code", sql, f"{project}|{p['name']}"), steps)


MONTHS = (
    "SELECT lower(status) AS status, status AS label, date(placed, 'start of month') AS begin, date(placed, 'start of month', '+1 month', '-1 day') AS end,"
    " sum(total) AS amount FROM orders GROUP BY label, begin HAVING count(*) > 1 AND end < '2026-06-15'"
)
each(
    "admin",
    "find",
    "What do the {status} orders that were placed from {begin} to {end} amount to?",
    "shop",
    MONTHS,
    check=lambda r: answer.amount(money(r["amount"])),
    steps=lambda r: [
        *_menu("Sales", "Orders"),
        choose("Status", r["label"]),
        fill("From", r["begin"]),
        fill("To", r["end"]),
        click("Filter", "button"),
        stop(money(r["amount"])),
    ],
)


SPENT = "SELECT c.*, sum(total) AS spent FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id"
each(
    "admin",
    "find",
    "Which {group} customer in {city} has ordered for the highest amount, cancelled and returned orders included?",
    "shop",
    f'SELECT grp AS "group", city, name, max(spent) FROM ({SPENT}) GROUP BY grp, city HAVING count(*) > 2',
    check=lambda r: answer.name(r["name"], answer.CUSTOMERS),
    steps=lambda r: [
        *_menu("Customers", "All customers"),
        choose("Group", r["group"]),
        choose("City", r["city"]),
        click("Filter", "button"),
        click("Amount"),
        click("Amount ↑"),
        stop(r["name"]),
    ],
)


each(
    "admin",
    "change",
    "Everything that was delivered to the customer {customer} has come back. Change these orders from Delivered to Returned.",
    "shop",
    "SELECT c.id, c.name AS customer, sum(o.status = 'Delivered') AS count,"
    " (SELECT count(*) FROM orders WHERE status = 'Returned') AS returned FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id"
    " HAVING count BETWEEN 3 AND 20",
    check=lambda c: becomes(
        "shop",
        f"SELECT sum(customer_id = {c['id']} AND status = 'Delivered'), sum(status = 'Returned') FROM orders",
        f"0 | {c['returned'] + c['count']}",
    ),
    steps=lambda c: [
        *_menu("Sales", "Orders"),
        choose("Status", "Delivered"),
        fill("Customer", c["customer"]),
        click("Filter", "button"),
        click("Select all on this page", "checkbox"),
        choose("Actions", "Change status to Returned"),
        click("Submit", "button"),
        stop(),
    ],
)


each(
    "admin",
    "change",
    "Hide all products of the category {category} by {brand} from the shop, and no others.",
    "shop",
    "SELECT category, brand, group_concat(id, char(10)) AS hidden FROM (SELECT p.id, brand, c.name AS category FROM products p"
    " JOIN categories c ON c.id = category_id ORDER BY p.id) GROUP BY category, brand HAVING count(*) BETWEEN 3 AND 18",
    check=lambda r: becomes("shop", "SELECT id FROM products WHERE enabled = 0 ORDER BY id", r["hidden"]),
    steps=lambda r: [
        *_menu("Catalog", "Products"),
        fill("Name", r["brand"]),
        choose("Category", r["category"]),
        click("Filter", "button"),
        click("Select all on this page", "checkbox"),
        choose("Actions", "Hide from the shop"),
        click("Submit", "button"),
        stop(),
    ],
)


CLUES = (
    "SELECT r.*, CASE WHEN whom <> '' THEN 'tells of a present for ' || replace(replace(whom, 'my ', 'somebody''s '), 'our ', 'somebody''s ')"
    " WHEN owned <> '' THEN 'was written after ' || owned || ' of use' WHEN part <> '' THEN 'complains that the ' || part || ' arrived damaged' END AS clue,"
    " (SELECT count(*) FROM reviews o WHERE o.status = 'pending' AND o.rating = r.rating"
    " AND (o.written > r.written OR (o.written = r.written AND o.id < r.id))) AS before FROM reviews r WHERE r.status = 'pending' AND clue <> ''"
)
each(
    "admin",
    "change",
    "Reject the pending review with {stars} of 5 stars that {clue}.",
    "shop",
    f"SELECT *, rating AS stars FROM ({CLUES}) GROUP BY rating, clue HAVING count(*) = 1",
    check=lambda r: becomes("shop", "SELECT id FROM reviews WHERE status = 'rejected'", r["id"]),
    steps=lambda r: [
        *_menu("Marketing", "Pending reviews"),
        choose("Rating", str(r["stars"])),
        click("Filter", "button"),
        *[click("Next page")] * (r["before"] // 10),
        click("Reject", "button", after=f"Select review {r['id']}"),
        stop(),
    ],
)


each(
    "admin",
    "change",
    "From now on, the {product} with the {option} “{value}” costs ${extra} extra. Enter that.",
    "shop",
    "SELECT o.id, o.name AS option, o.value, o.product_id, p.sku, p.name, p.name AS product, (o.extra / 100 + 3) || '.50' AS extra,"
    " (SELECT sum(extra) + 350 FROM options WHERE product_id = p.id) AS after FROM options o JOIN products p ON p.id = o.product_id WHERE o.extra > 0",
    check=lambda o: becomes(
        "shop",
        f"SELECT extra, (SELECT sum(extra) FROM options WHERE product_id = {o['product_id']}) FROM options WHERE id = {o['id']}",
        f"{round(100 * float(o['extra']))} | {o['after']}",
    ),
    steps=lambda o: [
        *_product(o),
        fill(f"Extra for {o['value']} ($)", o["extra"]),
        click("Save", "button"),
        stop(),
    ],
)
