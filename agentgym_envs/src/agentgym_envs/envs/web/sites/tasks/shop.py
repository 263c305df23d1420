"""What there is to do in the shop."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import quote_plus

from agentgym_envs.envs.web.sites.shop.catalogue import COLOURS
from agentgym_envs.envs.web.sites.shop.data import ME
from agentgym_envs.envs.web.sites.site import ORIGINS, money
from agentgym_envs.envs.web.sites.tasks import answer
from agentgym_envs.envs.web.sites.tasks.template import Made, World, becomes, each, ends_at, template
from agentgym_envs.envs.web.steps import Step, choose, click, fill, goto, search, stop

SHOP = ORIGINS["shop"]
PRODUCTS = "SELECT p.*, p.name AS product, c.name AS category FROM products p JOIN categories c ON c.id = category_id WHERE "
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def _open(product: Any) -> list[Step]:
    return [search(product["name"]), click(product["name"])]


def _orders(world: World, extra: str = "") -> list[Any]:
    return world.rows("shop", f"SELECT * FROM orders WHERE customer_id = {ME} {extra} ORDER BY placed DESC, id DESC")


def _open_order(world: World, order: Any) -> list[Step]:
    place = [o["id"] for o in _orders(world)].index(order["id"]) // 10
    return [click("My account"), click("My orders"), *[click("Next page")] * place, click(f"Order #{order['id']}")]


def _last_order() -> str:
    return f"(SELECT max(id) FROM orders WHERE customer_id = {ME})"


each(
    "shop",
    "find",
    "How much does the {product} cost?",
    "shop",
    PRODUCTS + "1",
    check=lambda p: answer.amount(money(p["price"])),
    steps=lambda p: [*_open(p), stop(money(p["price"]))],
)


each(
    "shop",
    "find",
    "What is the SKU of the {product}?",
    "shop",
    PRODUCTS + "1",
    check=lambda p: answer.codes(p["sku"]),
    steps=lambda p: [*_open(p), stop(p["sku"])],
)


each(
    "shop",
    "find",
    "How many pieces of the {product} are in stock?",
    "shop",
    PRODUCTS + "stock > 20",
    check=lambda p: answer.number(p["stock"]),
    steps=lambda p: [*_open(p), stop(p["stock"])],
)


@template("shop", "find", "What did I pay in all for my order #{order}?")
def _paid(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(_orders(world), 11):
        yield Made({"order": o["id"]}, answer.amount(money(o["total"])), [*_open_order(world, o), stop(money(o["total"]))])


@template("shop", "find", "What is the tracking number of my order #{order}?")
def _tracking(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(_orders(world, "AND tracking <> ''"), 11):
        yield Made({"order": o["id"]}, answer.codes(o["tracking"]), [*_open_order(world, o), stop(o["tracking"])])


@template("shop", "find", "How much money did I spend on orders that I placed in {month}, cancelled and returned ones left out?")
def _spent(world: World, rng: random.Random) -> Iterator[Made]:
    orders = _orders(world)
    months = sorted({o["placed"][:7] for o in orders})
    for month in rng.sample(months, len(months)):
        there = [n for n, o in enumerate(orders) if o["placed"].startswith(month)]
        total = money(sum(orders[n]["total"] for n in there if orders[n]["status"] not in ("Cancelled", "Returned")))
        if total != money(0):
            name = f"{MONTHS[int(month[5:]) - 1]} {month[:4]}"
            pages = there[-1] // 10
            yield Made(
                {"month": name},
                answer.amount(total),
                [click("My account"), click("My orders"), *[click("Next page")] * pages, stop(total)],
            )


def _extreme(world: World, rng: random.Random, order: str, label: str) -> Iterator[Made]:
    for c in world.mixed(rng, "shop", "SELECT * FROM categories"):
        for (brand,) in world.mixed(rng, "shop", "SELECT DISTINCT brand FROM products WHERE category_id = ?", c["id"])[:2]:
            found = world.rows("shop", PRODUCTS + f"category_id = ? AND brand = ? ORDER BY {order}", c["id"], brand)
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


@template("shop", "find", "Which product by {brand} in the category {category} is the most expensive?")
def _dearest(world: World, rng: random.Random) -> Iterator[Made]:
    yield from _extreme(world, rng, "price DESC", "Price, highest first")


each(
    "shop",
    "find",
    "Who wrote the review of the {product} with the title “{title}”?",
    "shop",
    "SELECT p.name, p.name AS product, r.title, c.name AS author FROM reviews r JOIN products p ON p.id = r.product_id JOIN customers c ON c.id = customer_id"
    " WHERE p.reviews BETWEEN 3 AND 8 AND status = 'approved' GROUP BY p.id, r.title HAVING count(*) = 1",
    check=lambda r: answer.name(r["author"], answer.CUSTOMERS),
    steps=lambda r: [*_open(r), stop(r["author"])],
)


each(
    "shop",
    "find",
    "How many products by {brand} are there in the category {category}? Answer with the number.",
    "shop",
    "SELECT c.name AS category, brand, count(*) AS n FROM products JOIN categories c ON c.id = category_id GROUP BY c.id, brand",
    check=lambda r: answer.number(r["n"]),
    steps=lambda r: [
        click("Departments"),
        click(r["category"]),
        choose("Brand", r["brand"]),
        click("Apply", "button"),
        stop(r["n"]),
    ],
)


@template("shop", "find", "Which is heavier, the {first} or the {second}?")
def _heavier(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in pairwise(world.mixed(rng, "shop", PRODUCTS + "1")):
        if a["weight"] != b["weight"] and a["category_id"] == b["category_id"]:
            best = max(a, b, key=lambda p: int(p["weight"]))["name"]
            yield Made(
                {"first": a["name"], "second": b["name"]}, answer.name(best, answer.PRODUCTS), [*_open(a), *_open(b), stop(best)]
            )


@template("shop", "find", "How many pieces did I buy in all with my order #{order}? Answer with the number.")
def _pieces(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT o.*, sum(quantity) AS n FROM orders o JOIN order_items ON order_id = o.id WHERE customer_id = ? GROUP BY o.id HAVING n > 2"
    for o in world.mixed(rng, "shop", sql, ME):
        yield Made({"order": o["id"]}, answer.number(o["n"]), [*_open_order(world, o), stop(o["n"])])


@template("shop", "find", "Which of the products in my order #{order} cost the most per piece?")
def _dearest_item(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(_orders(world), 26):
        items = world.rows(
            "shop",
            "SELECT name, i.price FROM order_items i JOIN products p ON p.id = product_id WHERE order_id = ? ORDER BY i.price DESC",
            o["id"],
        )
        if len(items) > 1 and items[0]["price"] > items[1]["price"]:
            yield Made(
                {"order": o["id"]}, answer.name(items[0]["name"], answer.PRODUCTS), [*_open_order(world, o), stop(items[0]["name"])]
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


@template("shop", "navigate", "Show the products of the category {category} that cost from ${low} to ${high}, the cheapest first.")
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


@template("shop", "navigate", "Show those products of the category {category} that are in stock and have {stars} stars or more.")
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
        yield Made({"product": r["name"]}, ends_at(f"{SHOP}/orders/{r['id']}"), [*_open_order(world, r), stop()])


READY = (
    PRODUCTS + "p.id NOT IN (SELECT product_id FROM options GROUP BY product_id, name HAVING max(chosen) = 0) AND "
)  # no option to choose
CART = f"SELECT product_id || ' x ' || quantity FROM cart WHERE customer_id = {ME} ORDER BY product_id"


@template("shop", "change", "Put {count} pieces of the {product} into my cart.")
def _add(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", READY + "stock > 10"):
        count = rng.randint(2, 6)
        steps = [*_open(p), fill("Quantity", count), click("Add to cart", "button"), stop()]
        yield Made({"product": p["name"], "count": count}, becomes("shop", CART, f"{p['id']} x {count}"), steps)


@template("shop", "change", "Put the {first} and the {second} into my cart, one of each.")
def _add_two(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in pairwise(world.mixed(rng, "shop", READY + "stock > 0")):
        wanted = "\n".join(f"{n} x 1" for n in sorted((a["id"], b["id"])))
        steps = [*_open(a), click("Add to cart", "button"), *_open(b), click("Add to cart", "button"), stop()]
        yield Made({"first": a["name"], "second": b["name"]}, becomes("shop", CART, wanted), steps)


@template("shop", "change", "Put the cheapest product by {brand} of the category {category} that is in stock into my cart.")
def _add_cheapest(world: World, rng: random.Random) -> Iterator[Made]:
    ready = {p["id"] for p in world.rows("shop", READY + "1")}
    for c in world.mixed(
        rng, "shop", "SELECT c.*, brand FROM categories c JOIN products p ON p.category_id = c.id GROUP BY c.id, brand"
    ):
        found = world.rows(
            "shop", PRODUCTS + "category_id = ? AND brand = ? AND stock > 0 ORDER BY price LIMIT 1", c["id"], c["brand"]
        )
        if found[0]["id"] in ready:
            steps = [
                click("Departments"), click(c["name"]), choose("Sort by", "Price, lowest first"), choose("Brand", c["brand"]),
                click("In stock only", "checkbox"), click("Apply", "button"), click(found[0]["name"]), click("Add to cart", "button"), stop(),
            ]  # fmt: skip
            yield Made({"category": c["name"], "brand": c["brand"]}, becomes("shop", CART, f"{found[0]['id']} x 1"), steps)


each(
    "shop",
    "change",
    "Put the {product} on my wish list.",
    "shop",
    PRODUCTS + f"p.id NOT IN (SELECT product_id FROM wishlist WHERE customer_id = {ME})",
    check=lambda p: becomes("shop", f"SELECT count(*) FROM wishlist WHERE customer_id = {ME} AND product_id = {p['id']}", 1),
    steps=lambda p: [*_open(p), click("Add to wish list", "button"), stop()],
)


SHIPPING = {"standard": "Standard, 5–7 days ($4.95)", "express": "Express, 2 days ($12.95)", "pickup": "Store pickup ($0.00)"}
DELIVERY = {"standard": "standard shipping", "express": "express shipping", "pickup": "store pickup"}
BOUGHT = (
    f"SELECT shipping || ' ' || payment || ' ' || group_concat(product_id || ' x ' || quantity) FROM orders o JOIN order_items i ON i.order_id = o.id"
    f" WHERE o.id = {_last_order()} AND placed = '2026-06-15'"
)


def _check_out(shipping: str, payment: str) -> list[Step]:
    return [click("Go to checkout"), click(SHIPPING[shipping], "radio"), choose("Payment", payment), click("Place order", "button")]


@template("shop", "change", "Buy the {product}: {shipping}, payment by {payment}.")
def _buy(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", READY + "stock > 0"):
        shipping, payment = rng.choice(sorted(SHIPPING)), rng.choice(("Card", "Invoice", "Gift card"))
        steps = [*_open(p), click("Add to cart", "button"), *_check_out(shipping, payment), stop()]
        values = {"product": p["name"], "shipping": DELIVERY[shipping], "payment": payment.lower()}
        yield Made(values, becomes("shop", BOUGHT, f"{shipping} {payment} {p['id']} x 1"), steps)


@template("shop", "change", "Order everything from my order #{order} once more, with {shipping} and payment by {payment}.")
def _again(world: World, rng: random.Random) -> Iterator[Made]:
    for o in rng.sample(_orders(world), 26):
        shipping, payment = rng.choice(sorted(SHIPPING)), rng.choice(("Card", "Invoice", "Gift card"))
        sql = "SELECT group_concat(id || ' x ' || quantity) FROM (SELECT p.id, quantity FROM order_items JOIN products p ON p.id = product_id WHERE order_id = ? ORDER BY p.name)"
        items = world.value("shop", sql, o["id"])
        steps = [*_open_order(world, o), click("Order again", "button"), *_check_out(shipping, payment), stop()]
        values = {"order": o["id"], "shipping": DELIVERY[shipping], "payment": payment.lower()}
        yield Made(values, becomes("shop", BOUGHT, f"{shipping} {payment} {items}"), steps)


@template("shop", "change", "Change the telephone number of my account to {phone}.")
def _phone(world: World, rng: random.Random) -> Iterator[Made]:
    while True:
        phone = f"555-{rng.randint(1000, 9999)}"
        steps = [click("My account"), fill("Telephone", phone), click("Save", "button"), stop()]
        yield Made({"phone": phone}, becomes("shop", f"SELECT phone FROM customers WHERE id = {ME}", phone), steps)


@template("shop", "change", "I have moved to {street} in {city}, {state} {zip}. Change the address of my account.")
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


@template("shop", "change", "Write a review of the {product} with {stars} stars, the title “{title}” and the text “{body}”")
def _review(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", PRODUCTS + "1"):
        stars, (title, body) = rng.randint(2, 5), rng.choice(WORDS)
        steps = [
            *_open(p), choose("Rating", f"{stars} stars"), fill("Title", title), fill("Your review", body), click("Send review", "button"), stop(),
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
        "shop", f"SELECT subject || '|' || body FROM messages WHERE customer_id = {ME}", f"{m['subject']}|{m['body']}"
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
    from agentgym_envs.envs.web.sites.shop.catalogue import BRANDS, KINDS

    brands = [b for department in BRANDS.values() for b in department]
    while True:
        kinds, variants, *_ = KINDS[rng.choice(sorted(KINDS))]
        other = rng.choice([c for c in sorted(KINDS) if KINDS[c][0] != kinds])
        name = f"{rng.choice(brands)} {rng.choice([v for v in KINDS[other][1] if v not in variants])} {rng.choice(kinds)}"
        if not world.rows("shop", "SELECT 1 FROM products WHERE name = ?", name):
            yield Made({"product": name}, answer.nothing("The shop has no such product."), [search(name), stop("N/A")])


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
            *_open(p), click("Add to cart", "button"), *_check_out(shipping, payment), goto(ORIGINS["admin"]), click(f"Order #{last}"),
            choose("Status", "Shipped"), fill("Tracking number", number), click("Save", "button"), stop(),
        ]  # fmt: skip
        sql = BOUGHT.replace("SELECT shipping", "SELECT status || ' ' || tracking || ' ' || shipping")
        values = {"product": p["name"], "shipping": DELIVERY[shipping], "payment": payment.lower(), "number": number}
        yield Made(values, becomes("shop", sql, f"Shipped {number} {shipping} {payment} {p['id']} x 1"), steps)


@template(
    "shop map",
    "change",
    "Change the street and the city of my account to those of the {place}: the street as the map writes it, the city is its town.",
)
def _place_address(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", "SELECT p.*, t.name AS town FROM places p JOIN towns t ON t.id = town_id"):
        steps = [
            goto(ORIGINS["map"]), search(p["name"]), click(p["name"]), goto(f"{SHOP}/account"), fill("Street", p["address"]),
            fill("City", p["town"]), click("Save", "button"), stop(),
        ]  # fmt: skip
        yield Made(
            {"place": p["name"]},
            becomes("shop", f"SELECT street || '|' || city FROM customers WHERE id = {ME}", f"{p['address']}|{p['town']}"),
            steps,
        )


REVIEWS = (
    "SELECT r.*, p.name, p.name AS product, c.name AS author,"
    " (SELECT count(*) FROM reviews o WHERE o.product_id = p.id AND o.status = 'approved' AND o.rating = r.rating) AS same"
    " FROM reviews r JOIN products p ON p.id = r.product_id JOIN customers c ON c.id = customer_id WHERE r.status = 'approved' AND p.reviews BETWEEN 4 AND 8 AND "
)
each(
    "shop",
    "find",
    "Who bought the {product} as a present for {friend}, according to the reviews?",
    "shop",
    REVIEWS.replace("SELECT", "SELECT replace(replace(whom, 'my ', 'their '), 'our ', 'their ') AS friend,", 1)
    + "whom <> '' AND 1 = (SELECT count(*) FROM reviews o WHERE o.product_id = p.id AND o.whom = r.whom)",
    check=lambda r: answer.name(r["author"], answer.CUSTOMERS),
    steps=lambda r: [*_open(r), stop(r["author"])],
)


OPTIONS = (
    "SELECT o.id, o.product_id, o.value, o.extra, o.chosen, o.name AS option, p.name, p.name AS product, price + o.extra AS cost, stock,"
    " (SELECT count(DISTINCT n.name) FROM options n WHERE n.product_id = p.id) AS options"
    " FROM options o JOIN products p ON p.id = o.product_id WHERE "
)


def _choose(option: Any) -> Step:
    extra = f" + {money(option['extra'])}" if option["extra"] else ""
    return choose(option["option"], f"{option['value']}{extra}")


each(
    "shop",
    "find",
    "What does the {product} cost with the {option} “{value}”?",
    "shop",
    OPTIONS + "o.extra > 0",
    check=lambda o: answer.amount(money(o["cost"])),
    steps=lambda o: [*_open(o), _choose(o), stop(money(o["cost"]))],
)


each(
    "shop",
    "find",
    "Which customer gave the {product} {stars} stars after {owned} of use?",
    "shop",
    REVIEWS.replace("SELECT", "SELECT r.rating AS stars,", 1)
    + "r.rating > 1 AND owned <> '' AND same > 1 AND 1 = (SELECT count(*) FROM reviews o WHERE o.product_id = p.id AND o.rating = r.rating AND o.owned = r.owned)",
    check=lambda r: answer.name(r["author"], answer.CUSTOMERS),
    steps=lambda r: [*_open(r), click(f"{r['stars']} stars {r['same']}"), stop(r["author"])],
)


each(
    "shop",
    "navigate",
    "Show the products of the type {kind} in the category {category} that are in stock, the best rated first.",
    "shop",
    "SELECT kind, c.name AS category, department, c.id FROM products JOIN categories c ON c.id = category_id GROUP BY kind",
    check=lambda r: ends_at(f"{SHOP}/category/{r['id']}?kind={quote_plus(r['kind'])}&sort=rating&available=1"),
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
        "shop", CART.replace("quantity", "quantity || ' ' || options"), f"{o['product_id']} x 3 {o['option']}: {o['value']}"
    ),
    steps=lambda o: [*_open(o), _choose(o), fill("Quantity", 3), click("Add to cart", "button"), stop()],
)


@template("shop", "change", "Buy the {product} in {colour}, with the {option} “{value}”: {shipping}, payment by {payment}.")
def _buy_options(world: World, rng: random.Random) -> Iterator[Made]:
    sql = OPTIONS.replace("SELECT", "SELECT c.value AS colour, c.chosen AS own, c.id < o.id AS first,", 1).replace(
        " WHERE", " JOIN options c ON c.product_id = p.id AND c.name = 'Color' AND o.name <> 'Color' WHERE"
    )
    for o in world.mixed(rng, "shop", sql + "stock > 0 AND options = 2 AND own = 0 AND o.chosen = 0"):
        shipping, payment = rng.choice(sorted(SHIPPING)), rng.choice(("Card", "Invoice", "Gift card"))
        steps = [
            *_open(o), click(o["colour"], "radio"), _choose(o), click("Add to cart", "button"), *_check_out(shipping, payment), stop(),
        ]  # fmt: skip
        texts = [f"Color: {o['colour']}", f"{o['option']}: {o['value']}"][:: 1 if o["first"] else -1]
        values = {"product": o["product"], "colour": o["colour"].lower(), "option": o["option"], "value": o["value"]}
        wanted = f"{shipping} {payment} {o['product_id']} x 1 {', '.join(texts)}"
        sql = BOUGHT.replace("' x ' || quantity", "' x ' || quantity || ' ' || options")
        yield Made({**values, "shipping": DELIVERY[shipping], "payment": payment.lower()}, becomes("shop", sql, wanted), steps)


@template("shop", "unachievable", "Put the {product} in {colour} into my cart.")
def _no_colour(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "shop", PRODUCTS + "p.id IN (SELECT product_id FROM options WHERE name = 'Color')"):
        offered = [r[0] for r in world.rows("shop", "SELECT value FROM options WHERE name = 'Color' AND product_id = ?", p["id"])]
        colour = rng.choice([c for c in COLOURS if c not in offered]).lower()
        yield Made(
            {"product": p["name"], "colour": colour},
            answer.nothing("The product does not come in this color."),
            [*_open(p), stop("N/A")],
        )
