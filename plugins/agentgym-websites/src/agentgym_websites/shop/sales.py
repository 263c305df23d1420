"""Draws the shop's orders, and the reviews of delivered products."""

import random
import sqlite3
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate
from typing import Any

from agentgym_websites.shop.catalogue import BLAME, MIXED, PRAISE, SHIPPING
from agentgym_websites.site import TODAY, add

ORDERS, MINE = 3600, 90  # number of orders; one in this many belongs to the episode's customer
DAYS = {"standard": (5, 7), "express": (2, 2), "pickup": (1, 3)}
LATE = 9  # days of a delivery that a review calls slow
LONG = (
    "Better than I hoped",
    "Daily companion",
    "Great value",
    "Good, with one flaw",
    "Fine for the price",
)
"""Themes of reviews that are written after weeks of use."""
PURCHASES = (
    "SELECT o.id, o.customer_id, o.status, o.shipping, o.placed, o.delivered, i.product_id FROM orders o"
    " JOIN order_items i ON i.order_id = o.id WHERE delivered <> '' AND customer_id <> ? AND delivered <= ? ORDER BY i.product_id, o.id"
)


def add_orders(db: sqlite3.Connection, rng: random.Random, me: int) -> None:
    """Adds orders, oldest first; customers have joined before their first order."""
    prices = dict(db.execute("SELECT id, price FROM products").fetchall())
    popular = list(accumulate(rng.choice((1, 2, 2, 3, 6)) for _ in prices))
    customers = [tuple(r) for r in db.execute("SELECT id, street, city, state, zip FROM customers")]
    orders, items = list[tuple[Any, ...]](), list[tuple[int, int, int, int]]()
    for n, ago in enumerate(sorted((rng.randint(0, 700) for _ in range(ORDERS)), reverse=True), 1):
        customer = customers[me - 1] if n % MINE == 7 else rng.choice(customers)
        placed = TODAY - timedelta(days=ago)
        chosen = dict.fromkeys(
            rng.choices(
                range(1, len(prices) + 1), cum_weights=popular, k=rng.choice((1, 1, 2, 2, 3, 4))
            )
        )
        bought = [
            (1000 + n, product, rng.choice((1, 1, 1, 2, 3)), prices[product]) for product in chosen
        ]
        way, _, cost = rng.choice(SHIPPING)
        status, delivered = _fate(rng, way, placed, ago)
        total = cost + sum(quantity * price for *_, quantity, price in bought)
        tracking = (
            f"HP{rng.randint(10**8, 10**9 - 1)}"
            if status in ("Shipped", "Delivered", "Returned")
            else ""
        )
        payment = rng.choice(("Card", "Card", "Invoice", "Gift card"))
        orders.append(
            (
                1000 + n,
                customer[0],
                str(placed),
                status,
                way,
                cost,
                total,
                *customer[1:],
                payment,
                tracking,
                "",
                delivered,
            )
        )
        items += bought
    add(db, "orders", *orders)
    add(db, "order_items", *items)
    db.execute(
        "UPDATE customers SET joined = min(joined, (SELECT coalesce(min(placed), joined) FROM orders WHERE customer_id = customers.id))"
    )


def _fate(rng: random.Random, way: str, placed: date, ago: int) -> tuple[str, str]:
    """Returns the status of an order and the day of its arrival, or '' before it."""
    low, high = DAYS[way]
    days = rng.randint(low, high) + (
        rng.randint(3, 17) if way == "standard" and rng.random() < 0.25 else 0
    )
    if ago < 6:
        return "Processing", ""
    if ago < 14:
        return rng.choice(("Processing", "Shipped", "Shipped")), ""
    status = rng.choice(("Delivered",) * 8 + ("Cancelled", "Returned"))
    return status, "" if status == "Cancelled" else str(placed + timedelta(days=min(days, ago - 1)))


def add_reviews(db: sqlite3.Connection, me: int) -> None:
    """Adds reviews without texts; each author has received the product."""
    rng = random.Random("shop reviews")
    products = {
        r[0]: rng.choice((0.2, 0.5, 0.75, 0.9)) for r in db.execute("SELECT id FROM products")
    }
    eager = {product: rng.choice((0.2, 0.7, 0.8, 0.85, 0.9, 0.95)) for product in products}
    seen, made = set[tuple[int, int]](), list[tuple[Any, ...]]()
    for order, customer, status, way, placed, delivered, product in db.execute(
        PURCHASES, (me, str(TODAY - timedelta(days=30)))
    ).fetchall():
        if (product, customer) in seen or rng.random() > eager[product]:
            continue
        seen.add((product, customer))
        arrived = date.fromisoformat(delivered)
        stars, themes = _opinion(rng, products[product] if status == "Delivered" else 0)
        late = way == "standard" and (arrived - date.fromisoformat(placed)).days >= LATE
        theme, used = _theme(rng, themes, late, (TODAY - arrived).days)
        state = rng.choice(("approved",) * 14 + ("pending",))
        made.append(
            (
                len(made) + 1,
                product,
                customer,
                stars,
                "",
                "",
                str(arrived + timedelta(days=used)),
                state,
                theme,
                "",
                "",
                "",
                order,
            )
        )
    add(db, "reviews", *made)


def _opinion(rng: random.Random, taste: float) -> tuple[int, Sequence[str]]:
    """Returns a rating and the themes that fit it."""
    mood = rng.random()
    if mood < taste:
        return rng.choice((4, 5)), PRAISE
    return (3, MIXED) if mood < taste + 0.15 else (rng.choice((1, 2)), BLAME)


def _theme(rng: random.Random, themes: Sequence[str], late: bool, longest: int) -> tuple[str, int]:
    """Returns one of the themes, and the days of use before the review."""
    fits = [
        t for t in themes if (t not in LONG or longest >= 40) and (t != "Slow delivery" or late)
    ]
    theme = rng.choice(fits)
    low, high = (
        (40, 340) if theme in LONG else (5, 27) if theme == "Broke within a month" else (1, 25)
    )
    return theme, rng.randint(low, min(high, longest))


def refresh_ratings(db: sqlite3.Connection) -> None:
    """Updates the count and mean of the approved reviews of every product."""
    approved = "FROM reviews r WHERE r.product_id = products.id AND status = 'approved'"
    db.execute(
        f"UPDATE products SET (reviews, rating) = (SELECT count(*), coalesce(round(avg(rating), 1), 0) {approved})"
    )
