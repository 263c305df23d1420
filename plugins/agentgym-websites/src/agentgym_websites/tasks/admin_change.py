"""Changes for the shop's staff, and tasks that need grids."""

import random
from collections.abc import Iterator
from datetime import timedelta

from agentgym_envs.envs.web.embedded import choose, click, fill, goto, search, stop
from agentgym_websites.shop.admin import GROUPS
from agentgym_websites.site import ORIGINS, TODAY, money
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.admin import (
    ADMIN,
    CUSTOMERS,
    ORDERS,
    open_customer,
    open_menu,
    open_order,
    open_product,
)
from agentgym_websites.tasks.template import (
    Made,
    World,
    asks,
    becomes,
    each,
    each_of,
    template,
)


@template("admin", "change", "Set the price of the {product} to ${price}.")
def _price(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", "SELECT * FROM products"):
        cents = p["price"] + rng.choice((-200, 150, 300, 1000))
        steps = [
            *open_product(p),
            fill("Price ($)", f"{cents / 100:.2f}"),
            click("Save", "button"),
            stop(),
        ]
        values = {"product": p["name"], "price": f"{cents / 100:.2f}"}
        yield Made(
            values,
            becomes("shop", f"SELECT price FROM products WHERE id = {p['id']}", cents),
            steps,
        )


@template(
    "admin", "change", "{count} more pieces of the {product} have arrived. Correct the stock."
)
def _arrived(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", "SELECT * FROM products"):
        count = rng.randint(2, 30) * 5
        steps = [
            *open_product(p),
            fill("Stock", p["stock"] + count),
            click("Save", "button"),
            stop(),
        ]
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
    steps=lambda p: [
        *open_product(p),
        click("Shown in the shop", "checkbox"),
        click("Save", "button"),
        stop(),
    ],
)


@template("admin", "change", "Mark order #{order} as shipped, with the tracking number {number}.")
def _shipped(world: World, rng: random.Random) -> Iterator[Made]:
    for o in world.mixed(rng, "shop", ORDERS + "status = 'Processing'"):
        number = f"HP{rng.randint(10**8, 10**9 - 1)}"
        steps = [
            *open_order(o["id"]),
            choose("Status", "Shipped"),
            fill("Tracking number", number),
            click("Save", "button"),
            stop(),
        ]
        sql = f"SELECT status || ' ' || tracking FROM orders WHERE id = {o['id']}"
        yield Made(
            {"order": o["id"], "number": number}, becomes("shop", sql, f"Shipped {number}"), steps
        )


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
        steps = [*open_order(o["id"]), fill("Internal note", note), click("Save", "button"), stop()]
        yield Made(
            {"order": o["id"], "note": note},
            becomes("shop", f"SELECT note FROM orders WHERE id = {o['id']}", note),
            steps,
        )


@template("admin", "change", "Move the customer {customer} to the group {group}.")
def _regroup(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", CUSTOMERS + "1"):
        group = rng.choice([g for g in GROUPS if g != c["grp"]])
        steps = [*open_customer(c["name"]), choose("Group", group), click("Save", "button"), stop()]
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
        check=lambda r: becomes(
            "shop",
            f"SELECT coalesce((SELECT status FROM reviews WHERE id = {r['id']}), 'gone')",
            wanted,
        ),
        steps=lambda r: [
            *open_menu("Marketing", "Reviews"),
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
        code, percent = (
            f"{rng.choice(('AUTUMN', 'FRIENDS', 'FLASH', 'TEAM'))}{rng.randint(10, 99)}",
            rng.randint(1, 16) * 5,
        )
        ends = str(TODAY + timedelta(days=rng.randint(10, 200)))
        steps = [
            *open_menu("Marketing", "Discounts"), fill("Code", code), fill("Percent", percent), fill("Ends (YYYY-MM-DD)", ends), click("Add discount", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT percent || ' ' || ends FROM discounts WHERE code = '{code}'"
        yield Made(
            {"code": code, "percent": percent, "ends": ends},
            becomes("shop", sql, f"{percent} {ends}"),
            steps,
        )


@template("admin", "unachievable", "What is the telephone number of the customer {customer}?")
def _nobody(world: World, rng: random.Random) -> Iterator[Made]:
    from agentgym_websites.people import FIRST, LAST

    while True:
        name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        if not world.rows("shop", "SELECT 1 FROM customers WHERE name = ?", name):
            yield Made(
                {"customer": name},
                answer.nothing("There is no such customer."),
                [search(name), stop("N/A")],
            )


@template(
    "admin shop",
    "change",
    "Look up in the shop which product of the category {category} is the cheapest, and set its stock to {count} in the admin.",
)
def _restock(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        found = world.rows(
            "shop", "SELECT * FROM products WHERE category_id = ? ORDER BY price", c["id"]
        )
        count = rng.randint(200, 400)
        if found[0]["price"] < found[1]["price"]:
            steps = [
                goto(ORIGINS["shop"]), click("Departments"), click(c["name"]), choose("Sort by", "Price, lowest first"), click("Apply", "button"),
                goto(ADMIN), *open_product(found[0]), fill("Stock", count), click("Save", "button"), stop(),
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
        yield Made(
            {"project": project, "sku": p["sku"]},
            becomes("code", sql, f"{project}|{p['name']}"),
            steps,
        )


MONTHS = (
    "SELECT lower(status) AS status, status AS label, date(placed, 'start of month') AS begin, date(placed, 'start of month', '+1 month', '-1 day') AS end,"
    " sum(total) AS amount FROM orders GROUP BY label, begin HAVING count(*) > 1 AND end < '2026-06-15'"
)


asks(
    "admin",
    "shop",
    (
        "What do the {status} orders that were placed from {begin} to {end} amount to?",
        MONTHS,
        lambda r: money(r["amount"]),
        answer.amount,
        lambda r: [
            *open_menu("Sales", "Orders"),
            choose("Status", r["label"]),
            fill("From", r["begin"]),
            fill("To", r["end"]),
            click("Filter", "button"),
        ],
    ),
)


SPENT = "SELECT c.*, sum(total) AS spent FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id"


asks(
    "admin",
    "shop",
    (
        "Which {group} customer in {city} has ordered for the highest amount, cancelled and returned orders included?",
        f'SELECT grp AS "group", city, name, max(spent) FROM ({SPENT}) GROUP BY grp, city HAVING count(*) > 2',
        "name",
        answer.customer,
        lambda r: [
            *open_menu("Customers", "All customers"),
            choose("Group", r["group"]),
            choose("City", r["city"]),
            click("Filter", "button"),
            click("Amount"),
            click("Amount ↑"),
        ],
    ),
)


each_of(
    "admin",
    "change",
    "shop",
    (
        "Everything that was delivered to the customer {customer} has come back. Change these orders from Delivered to Returned.",
        "SELECT c.id, c.name AS customer, sum(o.status = 'Delivered') AS count,"
        " (SELECT count(*) FROM orders WHERE status = 'Returned') AS returned FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id"
        " HAVING count BETWEEN 3 AND 20",
        lambda c: becomes(
            "shop",
            f"SELECT sum(customer_id = {c['id']} AND status = 'Delivered'), sum(status = 'Returned') FROM orders",
            f"0 | {c['returned'] + c['count']}",
        ),
        lambda c: [
            *open_menu("Sales", "Orders"),
            choose("Status", "Delivered"),
            fill("Customer", c["customer"]),
            click("Filter", "button"),
            click("Select all on this page", "checkbox"),
            choose("Actions", "Change status to Returned"),
            click("Submit", "button"),
            stop(),
        ],
    ),
    (
        "Hide all products of the category {category} by {brand} from the shop, and no others.",
        "SELECT category, brand, group_concat(id, char(10)) AS hidden FROM (SELECT p.id, brand, c.name AS category FROM products p"
        " JOIN categories c ON c.id = category_id ORDER BY p.id) GROUP BY category, brand HAVING count(*) BETWEEN 3 AND 18",
        lambda r: becomes(
            "shop", "SELECT id FROM products WHERE enabled = 0 ORDER BY id", r["hidden"]
        ),
        lambda r: [
            *open_menu("Catalog", "Products"),
            fill("Name", r["brand"]),
            choose("Category", r["category"]),
            click("Filter", "button"),
            click("Select all on this page", "checkbox"),
            choose("Actions", "Hide from the shop"),
            click("Submit", "button"),
            stop(),
        ],
    ),
)


CLUES = (
    "SELECT r.*, CASE WHEN whom <> '' THEN 'tells of a present for ' || replace(replace(whom, 'my ', 'somebody''s '), 'our ', 'somebody''s ')"
    " WHEN owned <> '' THEN 'was written after ' || owned || ' of use' WHEN part <> '' THEN 'complains that the ' || part || ' arrived damaged' END AS clue,"
    " (SELECT count(*) FROM reviews o WHERE o.status = 'pending' AND o.rating = r.rating"
    " AND (o.written > r.written OR (o.written = r.written AND o.id < r.id))) AS before FROM reviews r WHERE r.status = 'pending' AND clue <> ''"
)


each_of(
    "admin",
    "change",
    "shop",
    (
        "Reject the pending review with {stars} of 5 stars that {clue}.",
        f"SELECT *, rating AS stars FROM ({CLUES}) GROUP BY rating, clue HAVING count(*) = 1",
        lambda r: becomes("shop", "SELECT id FROM reviews WHERE status = 'rejected'", r["id"]),
        lambda r: [
            *open_menu("Marketing", "Pending reviews"),
            choose("Rating", str(r["stars"])),
            click("Filter", "button"),
            *[click("Next page")] * (r["before"] // 10),
            click("Reject", "button", after=f"Select review {r['id']}"),
            stop(),
        ],
    ),
    (
        "From now on, the {product} with the {option} “{value}” costs ${extra} extra. Enter that.",
        "SELECT o.id, o.name AS option, o.value, o.product_id, p.sku, p.name, p.name AS product, (o.extra / 100 + 3) || '.50' AS extra,"
        " (SELECT sum(extra) + 350 FROM options WHERE product_id = p.id) AS after FROM options o JOIN products p ON p.id = o.product_id WHERE o.extra > 0",
        lambda o: becomes(
            "shop",
            f"SELECT extra, (SELECT sum(extra) FROM options WHERE product_id = {o['product_id']}) FROM options WHERE id = {o['id']}",
            f"{round(100 * float(o['extra']))} | {o['after']}",
        ),
        lambda o: [
            *open_product(o),
            fill(f"Extra for {o['value']} ($)", o["extra"]),
            click("Save", "button"),
            stop(),
        ],
    ),
)
