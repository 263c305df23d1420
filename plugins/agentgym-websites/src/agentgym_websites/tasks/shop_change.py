"""Purchases and changes in the shop, and tasks that need reviews and options."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote_plus

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, goto, search, stop
from agentgym_websites.shop.catalogue import COLOURS
from agentgym_websites.shop.data import ME
from agentgym_websites.site import ORIGINS, money
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.shop import (
    PRODUCTS,
    SHOP,
    last_order,
    my_orders,
    open_my_order,
    open_product,
)
from agentgym_websites.tasks.template import (
    Made,
    World,
    asks,
    becomes,
    each,
    ends_at,
    template,
)

# no option must be chosen
READY = (
    PRODUCTS
    + "p.id NOT IN (SELECT product_id FROM options GROUP BY product_id, name HAVING max(chosen) = 0) AND "
)


CART = (
    f"SELECT product_id || ' x ' || quantity FROM cart WHERE customer_id = {ME} ORDER BY product_id"
)


@template("shop", "change", "Put {count} pieces of the {product} into my cart.")
def _add(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", READY + "stock > 10"):
        count = rng.randint(2, 6)
        steps = [*open_product(p), fill("Quantity", count), click("Add to cart", "button"), stop()]
        yield Made(
            {"product": p["name"], "count": count},
            becomes("shop", CART, f"{p['id']} x {count}"),
            steps,
        )


@template("shop", "change", "Put the {first} and the {second} into my cart, one of each.")
def _add_two(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in pairwise(world.mixed(rng, "shop", READY + "stock > 0")):
        wanted = "\n".join(f"{n} x 1" for n in sorted((a["id"], b["id"])))
        steps = [
            *open_product(a),
            click("Add to cart", "button"),
            *open_product(b),
            click("Add to cart", "button"),
            stop(),
        ]
        yield Made({"first": a["name"], "second": b["name"]}, becomes("shop", CART, wanted), steps)


@template(
    "shop",
    "change",
    "Put the cheapest product by {brand} of the category {category} that is in stock into my cart.",
)
def _add_cheapest(world: World, rng: random.Random) -> Iterator[Made]:
    ready = {p["id"] for p in world.rows("shop", READY + "1")}
    for c in world.mixed(
        rng,
        "shop",
        "SELECT c.*, brand FROM categories c JOIN products p ON p.category_id = c.id GROUP BY c.id, brand",
    ):
        found = world.rows(
            "shop",
            PRODUCTS + "category_id = ? AND brand = ? AND stock > 0 ORDER BY price",
            c["id"],
            c["brand"],
        )
        if found[0]["id"] in ready and (len(found) == 1 or found[0]["price"] < found[1]["price"]):
            steps = [
                click("Departments"), click(c["name"]), choose("Sort by", "Price, lowest first"), choose("Brand", c["brand"]),
                click("In stock only", "checkbox"), click("Apply", "button"), click(found[0]["name"]), click("Add to cart", "button"), stop(),
            ]  # fmt: skip
            yield Made(
                {"category": c["name"], "brand": c["brand"]},
                becomes("shop", CART, f"{found[0]['id']} x 1"),
                steps,
            )


each(
    "shop",
    "change",
    "Put the {product} on my wish list.",
    "shop",
    PRODUCTS + f"p.id NOT IN (SELECT product_id FROM wishlist WHERE customer_id = {ME})",
    check=lambda p: becomes(
        "shop",
        f"SELECT count(*) FROM wishlist WHERE customer_id = {ME} AND product_id = {p['id']}",
        1,
    ),
    steps=lambda p: [*open_product(p), click("Add to wish list", "button"), stop()],
)


SHIPPING = {
    "standard": "Standard, 5–7 days ($4.95)",
    "express": "Express, 2 days ($12.95)",
    "pickup": "Store pickup ($0.00)",
}


DELIVERY = {
    "standard": "standard shipping",
    "express": "express shipping",
    "pickup": "store pickup",
}


BOUGHT = (
    f"SELECT shipping || ' ' || payment || ' ' || group_concat(product_id || ' x ' || quantity) FROM orders o JOIN order_items i ON i.order_id = o.id"
    f" WHERE o.id = {last_order()} AND placed = '2026-06-15'"
)


def _check_out(shipping: str, payment: str) -> list[Step]:
    return [
        click("Go to checkout"),
        click(SHIPPING[shipping], "radio"),
        choose("Payment", payment),
        click("Place order", "button"),
    ]


@template("shop", "change", "Buy the {product}: {shipping}, payment by {payment}.")
def _buy(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", READY + "stock > 0"):
        shipping, payment = (
            rng.choice(sorted(SHIPPING)),
            rng.choice(("Card", "Invoice", "Gift card")),
        )
        steps = [
            *open_product(p),
            click("Add to cart", "button"),
            *_check_out(shipping, payment),
            stop(),
        ]
        values = {"product": p["name"], "shipping": DELIVERY[shipping], "payment": payment.lower()}
        yield Made(values, becomes("shop", BOUGHT, f"{shipping} {payment} {p['id']} x 1"), steps)


@template(
    "shop",
    "change",
    "Order everything from my order #{order} once more, with {shipping} and payment by {payment}.",
)
def _again(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(my_orders(world), 26):
        shipping, payment = (
            rng.choice(sorted(SHIPPING)),
            rng.choice(("Card", "Invoice", "Gift card")),
        )
        sql = "SELECT group_concat(id || ' x ' || quantity) FROM (SELECT p.id, quantity FROM order_items JOIN products p ON p.id = product_id WHERE order_id = ? ORDER BY p.name)"
        items = world.value("shop", sql, o["id"])
        steps = [
            *open_my_order(world, o),
            click("Order again", "button"),
            *_check_out(shipping, payment),
            stop(),
        ]
        values = {"order": o["id"], "shipping": DELIVERY[shipping], "payment": payment.lower()}
        yield Made(values, becomes("shop", BOUGHT, f"{shipping} {payment} {items}"), steps)


@template("shop", "change", "Change the telephone number of my account to {phone}.")
def _phone(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        phone = f"555-{rng.randint(1000, 9999)}"
        steps = [click("My account"), fill("Telephone", phone), click("Save", "button"), stop()]
        yield Made(
            {"phone": phone},
            becomes("shop", f"SELECT phone FROM customers WHERE id = {ME}", phone),
            steps,
        )


@template(
    "shop",
    "change",
    "I have moved to {street} in {city}, {state} {zip}. Change the address of my account.",
)
def _moved(world: World, rng: random.Random) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM customers WHERE id <> 1"):
        parts = {k: c[k] for k in ("street", "city", "state", "zip")}
        steps = [
            click("My account"), fill("Street", c["street"]), fill("City", c["city"]), choose("State", c["state"]), fill("ZIP code", c["zip"]),
            click("Save", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT street || '|' || city || '|' || state || '|' || zip FROM customers WHERE id = {ME}"
        yield Made(parts, becomes("shop", sql, "|".join(parts.values())), steps)


WORDS = (
    ("Does what it says", "No complaints after two weeks."), ("Sturdy and handsome", "The neighbors asked where I got it."),
    ("A bit loud", "It works, but I would not use it at night."), ("Returned it", "It did not fit in our kitchen."),
    ("Third one I own", "My children keep taking them."), ("Solid", "Just right for the weekend house."),
)  # fmt: skip


@template(
    "shop",
    "change",
    "Write a review of the {product} with {stars} stars, the title “{title}” and the text “{body}”",
)
def _review(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", PRODUCTS + "1"):
        stars, (title, body) = rng.randint(2, 5), rng.choice(WORDS)
        steps = [
            *open_product(p), choose("Rating", f"{stars} stars"), fill("Title", title), fill("Your review", body), click("Send review", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT rating || '|' || title || '|' || body FROM reviews WHERE customer_id = {ME} AND product_id = {p['id']}"
        yield Made(
            {"product": p["name"], "stars": stars, "title": title, "body": body},
            becomes("shop", sql, f"{stars}|{title}|{body}"),
            steps,
        )


each(
    "shop",
    "change",
    "Send the shop a message with the subject “{subject}” that asks: “{body}”",
    "shop",
    "SELECT 'Question about ' || sku AS subject, 'When will the ' || name || ' be in stock again?' AS body FROM products WHERE stock = 0",
    check=lambda m: becomes(
        "shop",
        f"SELECT subject || '|' || body FROM messages WHERE customer_id = {ME}",
        f"{m['subject']}|{m['body']}",
    ),
    steps=lambda m: [
        click("Contact"),
        fill("Subject", m["subject"]),
        fill("Message", m["body"]),
        click("Send message", "button"),
        stop(),
    ],
)


@template("shop", "unachievable", "How much does the {product} cost?")
def _no_price(world: World, rng: random.Random) -> Iterator[Made]:
    from agentgym_websites.shop.catalogue import BRANDS, KINDS

    brands = [b for department in BRANDS.values() for b in department]
    while True:
        kinds, variants, *_ = KINDS[rng.choice(sorted(KINDS))]
        other = rng.choice([c for c in sorted(KINDS) if KINDS[c][0] != kinds])
        name = f"{rng.choice(brands)} {rng.choice([v for v in KINDS[other][1] if v not in variants])} {rng.choice(kinds)}"
        if not world.rows("shop", "SELECT 1 FROM products WHERE name = ?", name):
            yield Made(
                {"product": name},
                answer.nothing("The shop has no such product."),
                [search(name), stop("N/A")],
            )


@template(
    "shop admin",
    "change",
    "Buy the {product} with {shipping} and payment by {payment}. Then mark that order as shipped in the shop's admin, with the tracking number {number}.",
)
def _ship(world: World, rng: random.Random) -> Iterator[Made]:
    last = world.value("shop", "SELECT max(id) FROM orders") + 1
    for p in world.mixed(rng, "shop", READY + "stock > 0"):
        shipping, payment, number = (
            rng.choice(sorted(SHIPPING)),
            rng.choice(("Card", "Invoice")),
            f"HP{rng.randint(10**8, 10**9 - 1)}",
        )
        steps = [
            *open_product(p), click("Add to cart", "button"), *_check_out(shipping, payment), goto(ORIGINS["admin"]), click(f"Order #{last}"),
            choose("Status", "Shipped"), fill("Tracking number", number), click("Save", "button"), stop(),
        ]  # fmt: skip
        sql = BOUGHT.replace(
            "SELECT shipping", "SELECT status || ' ' || tracking || ' ' || shipping"
        )
        values = {
            "product": p["name"],
            "shipping": DELIVERY[shipping],
            "payment": payment.lower(),
            "number": number,
        }
        yield Made(
            values,
            becomes("shop", sql, f"Shipped {number} {shipping} {payment} {p['id']} x 1"),
            steps,
        )


@template(
    "shop map",
    "change",
    "Change the street and the city of my account to those of the {place}: the street as the map writes it, the city is its town.",
)
def _place_address(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(
        rng, "map", "SELECT p.*, t.name AS town FROM places p JOIN towns t ON t.id = town_id"
    ):
        steps = [
            goto(ORIGINS["map"]), search(p["name"]), click(p["name"]), goto(f"{SHOP}/account"), fill("Street", p["address"]),
            fill("City", p["town"]), click("Save", "button"), stop(),
        ]  # fmt: skip
        yield Made(
            {"place": p["name"]},
            becomes(
                "shop",
                f"SELECT street || '|' || city FROM customers WHERE id = {ME}",
                f"{p['address']}|{p['town']}",
            ),
            steps,
        )


REVIEWS = (
    "SELECT r.*, p.name, p.name AS product, c.name AS author,"
    " (SELECT count(*) FROM reviews o WHERE o.product_id = p.id AND o.status = 'approved' AND o.rating = r.rating) AS same"
    " FROM reviews r JOIN products p ON p.id = r.product_id JOIN customers c ON c.id = customer_id WHERE r.status = 'approved' AND p.reviews BETWEEN 4 AND 8 AND "
)


asks(
    "shop",
    "shop",
    (
        "Who bought the {product} as a present for {friend}, according to the reviews?",
        REVIEWS.replace(
            "SELECT",
            "SELECT replace(replace(whom, 'my ', 'their '), 'our ', 'their ') AS friend,",
            1,
        )
        + "whom <> '' AND 1 = (SELECT count(*) FROM reviews o WHERE o.product_id = p.id AND o.whom = r.whom)",
        "author",
        answer.customer,
        open_product,
    ),
)


OPTIONS = (
    "SELECT o.id, o.product_id, o.value, o.extra, o.chosen, o.name AS option, p.name, p.name AS product, price + o.extra AS cost, stock,"
    " (SELECT count(DISTINCT n.name) FROM options n WHERE n.product_id = p.id) AS options"
    " FROM options o JOIN products p ON p.id = o.product_id WHERE "
)


def _choose(option: Any) -> Step:
    extra = f" + {money(option['extra'])}" if option["extra"] else ""
    return choose(option["option"], f"{option['value']}{extra}")


asks(
    "shop",
    "shop",
    (
        "What does the {product} cost with the {option} “{value}”?",
        OPTIONS + "o.extra > 0",
        lambda o: money(o["cost"]),
        answer.amount,
        lambda o: [*open_product(o), _choose(o)],
    ),
    (
        "Which customer gave the {product} {stars} stars after {owned} of use?",
        REVIEWS.replace("SELECT", "SELECT r.rating AS stars,", 1)
        + "r.rating > 1 AND owned <> '' AND same > 1 AND 1 = (SELECT count(*) FROM reviews o WHERE o.product_id = p.id AND o.rating = r.rating AND o.owned = r.owned)",
        "author",
        answer.customer,
        lambda r: [*open_product(r), click(f"{r['stars']} stars {r['same']}")],
    ),
)


each(
    "shop",
    "navigate",
    "Show the products of the type {kind} in the category {category} that are in stock, the best rated first.",
    "shop",
    "SELECT kind, c.name AS category, department, c.id FROM products JOIN categories c ON c.id = category_id GROUP BY kind",
    check=lambda r: ends_at(
        f"{SHOP}/category/{r['id']}?kind={quote_plus(r['kind'])}&sort=rating&available=1"
    ),
    steps=lambda r: [
        click(r["department"], "button"),
        click(r["kind"]),
        choose("Sort by", "Best rated"),
        click("In stock only", "checkbox"),
        click("Apply", "button"),
        stop(),
    ],
)


each(
    "shop",
    "change",
    "Put three pieces of the {product} into my cart. Choose the {option} “{value}”.",
    "shop",
    OPTIONS + "stock > 2 AND options = 1 AND chosen = 0 AND o.name <> 'Color'",
    check=lambda o: becomes(
        "shop",
        CART.replace("quantity", "quantity || ' ' || options"),
        f"{o['product_id']} x 3 {o['option']}: {o['value']}",
    ),
    steps=lambda o: [
        *open_product(o),
        _choose(o),
        fill("Quantity", 3),
        click("Add to cart", "button"),
        stop(),
    ],
)


@template(
    "shop",
    "change",
    "Buy the {product} in {colour}, with the {option} “{value}”: {shipping}, payment by {payment}.",
)
def _buy_options(world: World, rng: random.Random) -> Iterator[Made]:
    sql = OPTIONS.replace(
        "SELECT", "SELECT c.value AS colour, c.chosen AS own, c.id < o.id AS first,", 1
    ).replace(
        " WHERE",
        " JOIN options c ON c.product_id = p.id AND c.name = 'Color' AND o.name <> 'Color' WHERE",
    )
    for o in world.mixed(
        rng, "shop", sql + "stock > 0 AND options = 2 AND own = 0 AND o.chosen = 0"
    ):
        shipping, payment = (
            rng.choice(sorted(SHIPPING)),
            rng.choice(("Card", "Invoice", "Gift card")),
        )
        steps = [
            *open_product(o), click(o["colour"], "radio"), _choose(o), click("Add to cart", "button"), *_check_out(shipping, payment), stop(),
        ]  # fmt: skip
        texts = [f"Color: {o['colour']}", f"{o['option']}: {o['value']}"][
            :: 1 if o["first"] else -1
        ]
        values = {
            "product": o["product"],
            "colour": o["colour"].lower(),
            "option": o["option"],
            "value": o["value"],
        }
        wanted = f"{shipping} {payment} {o['product_id']} x 1 {', '.join(texts)}"
        sql = BOUGHT.replace("' x ' || quantity", "' x ' || quantity || ' ' || options")
        yield Made(
            {**values, "shipping": DELIVERY[shipping], "payment": payment.lower()},
            becomes("shop", sql, wanted),
            steps,
        )


@template("shop", "unachievable", "Put the {product} in {colour} into my cart.")
def _no_colour(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(
        rng, "shop", PRODUCTS + "p.id IN (SELECT product_id FROM options WHERE name = 'Color')"
    ):
        offered = [
            r[0]
            for r in world.rows(
                "shop", "SELECT value FROM options WHERE name = 'Color' AND product_id = ?", p["id"]
            )
        ]
        colour = rng.choice([c for c in COLOURS if c not in offered]).lower()
        yield Made(
            {"product": p["name"], "colour": colour},
            answer.nothing("The product does not come in this color."),
            [*open_product(p), stop("N/A")],
        )
