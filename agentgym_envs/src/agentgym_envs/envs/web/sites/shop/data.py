"""Fills the shop's database: products, customers, two years of orders, reviews. The same every time."""

import random
import sqlite3
from datetime import date, timedelta

from agentgym_envs.envs.web.sites.people import TOWNS, full_names
from agentgym_envs.envs.web.sites.shop.catalogue import (
    BLAME,
    BRANDS,
    COLOURS,
    DEPARTMENTS,
    KINDS,
    MIXED,
    PRAISE,
    SHIPPING,
)
from agentgym_envs.envs.web.sites.shop.options import OPTIONS
from agentgym_envs.envs.web.sites.shop.texts import write_texts
from agentgym_envs.envs.web.sites.site import TODAY, add, password

SCHEMA = """
CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT, department TEXT);
CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT, name TEXT, category_id INT, brand TEXT, colour TEXT, price INT, stock INT,
  weight INT, description TEXT, enabled INT DEFAULT 1, rating REAL DEFAULT 0, reviews INT DEFAULT 0, kind TEXT);
-- A value that a customer may choose, and what it costs more; ``chosen`` is 1 if it is chosen until another is.
CREATE TABLE options (id INTEGER PRIMARY KEY, product_id INT, name TEXT, value TEXT, extra INT, chosen INT);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, login TEXT, password TEXT, email TEXT, street TEXT, city TEXT, state TEXT,
  zip TEXT, phone TEXT, joined TEXT, newsletter INT DEFAULT 0, grp TEXT DEFAULT 'General');
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT, placed TEXT, status TEXT, shipping TEXT, shipping_cost INT, total INT,
  street TEXT, city TEXT, state TEXT, zip TEXT, payment TEXT, tracking TEXT DEFAULT '', note TEXT DEFAULT '');
CREATE TABLE order_items (order_id INT, product_id INT, quantity INT, price INT, options TEXT DEFAULT '');
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product_id INT, customer_id INT, rating INT, title TEXT, body TEXT, written TEXT,
  status TEXT DEFAULT 'approved', theme TEXT DEFAULT '', owned TEXT DEFAULT '', whom TEXT DEFAULT '', part TEXT DEFAULT '');
CREATE TABLE cart (customer_id INT, product_id INT, quantity INT, options TEXT DEFAULT '', PRIMARY KEY (customer_id, product_id, options));
CREATE TABLE wishlist (customer_id INT, product_id INT, PRIMARY KEY (customer_id, product_id));
CREATE TABLE messages (id INTEGER PRIMARY KEY, customer_id INT, subject TEXT, body TEXT);
CREATE TABLE discounts (id INTEGER PRIMARY KEY, code TEXT, percent INT, ends TEXT, active INT);
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, login TEXT, password TEXT);
CREATE INDEX items_of ON order_items (order_id);
CREATE INDEX reviews_of ON reviews (product_id);
CREATE INDEX options_of ON options (product_id);
CREATE INDEX products_of ON products (category_id);
CREATE INDEX orders_of ON orders (customer_id);
"""
STREETS = [
    "Maple Street",
    "Harbor Road",
    "Second Avenue",
    "Orchard Lane",
    "Mill Street",
    "Chestnut Avenue",
    "Station Road",
    "Lakeview Drive",
]
ME = 1  # the customer of an episode


def fill(db: sqlite3.Connection) -> None:
    """Creates the tables and their rows."""
    rng = random.Random("shop")
    db.executescript(SCHEMA)
    _products(db, rng)
    _customers(db, rng)
    _orders(db, rng)
    _reviews(db, rng)
    add(db, "staff", (1, "Robin Hale", "admin", "harbor2026"), (2, "Dana Whitfield", "dana", password("dana")))
    codes = ("WELCOME10", "SPRING15", "LOYAL20", "FREESHIP", "SUMMER25", "CLEAR30")
    for n, code in enumerate(codes):
        add(db, "discounts", (n + 1, code, 5 + 5 * (n + 1), str(TODAY + timedelta(days=30 * n - 45)), int(n > 1)))
    for product in rng.sample(range(1, 361), 4):
        add(db, "wishlist", (ME, product))
    _options(db)
    write_texts(db)
    db.commit()


def _products(db: sqlite3.Connection, rng: random.Random) -> None:
    number = 0
    for department, categories in DEPARTMENTS.items():
        for category in categories:
            kinds, variants, low, high = KINDS[category]
            place = db.execute("INSERT INTO categories (name, department) VALUES (?, ?)", (category, department)).lastrowid
            for kind, variant in ((k, v) for k in kinds for v in variants):
                number += 1
                brand = rng.choice(BRANDS[department])
                price = 100 * rng.randint(low, high) - rng.choice((1, 5, 50))
                stock = rng.choice((0, 0, 3, 5, 8, *range(11, 60), *range(60, 180, 4)))
                colour = rng.choice(COLOURS)
                sku = f"{category[:2].upper()}-{1000 + 7 * number}"
                weight = rng.randint(1, 90) * 50
                name = f"{brand} {variant} {kind}"
                add(db, "products", (number, sku, name, place, brand, colour, price, stock, weight, "", 1, 0, 0, kind))


def _options(db: sqlite3.Connection) -> None:
    """Gives products their options, and what has been ordered the ones that cost nothing more."""
    rng, ordered = random.Random("shop options"), dict[int, list[list[str]]]()
    for product, kind, colour in db.execute("SELECT id, kind, colour FROM products").fetchall():
        for option in OPTIONS.get(kind, ()):
            others = rng.sample([c for c in COLOURS if c != colour], 2)
            values = option.values or [(colour, 0), *((other, 0) for other in others)]
            for n, (value, extra) in enumerate(values):
                row = (product, option.name, value, 100 * extra, int(option.preset and n == 0))
                db.execute("INSERT INTO options (product_id, name, value, extra, chosen) VALUES (?, ?, ?, ?, ?)", row)
            ordered.setdefault(product, []).append([f"{option.name}: {value}" for value, extra in values if not extra])
    for row, product in db.execute("SELECT rowid, product_id FROM order_items").fetchall():
        if product in ordered:
            chosen = ", ".join(rng.choice(values) for values in ordered[product])
            db.execute("UPDATE order_items SET options = ? WHERE rowid = ?", (chosen, row))


def _customers(db: sqlite3.Connection, rng: random.Random) -> None:
    names = ["Emma Lindgren", *[n for n in full_names(rng, 221) if n != "Emma Lindgren"][:219]]
    for n, name in enumerate(names, 1):
        login = name.lower().replace(" ", ".").replace("ö", "o")
        city, state = rng.choice(TOWNS)
        joined = TODAY - timedelta(days=rng.randint(20, 900))
        address = (
            f"{rng.randint(2, 480)} {rng.choice(STREETS)}",
            city,
            state,
            f"{rng.randint(10000, 98999)}",
            f"555-01{rng.randint(10, 99)}",
        )
        group = rng.choice(("General", "General", "General", "Wholesale", "VIP"))
        secret = "linden2026" if n == ME else password(login)
        add(db, "customers", (n, name, login, secret, f"{login}@mail.test", *address, str(joined), int(rng.random() < 0.4), group))


def _orders(db: sqlite3.Connection, rng: random.Random) -> None:
    products = db.execute("SELECT id, price FROM products").fetchall()
    customers = db.execute("SELECT id, street, city, state, zip FROM customers").fetchall()
    days = sorted(rng.randint(0, 700) for _ in range(940))[::-1]
    for n, ago in enumerate(days, 1):
        customer = customers[0] if n % 26 == 7 else rng.choice(customers)
        placed: date = TODAY - timedelta(days=ago)
        if ago < 6:
            status = "Processing"
        elif ago < 14:
            status = rng.choice(("Processing", "Shipped", "Shipped"))
        else:
            status = rng.choice(("Delivered",) * 8 + ("Cancelled", "Returned"))
        items = [(p, rng.choice((1, 1, 1, 2, 3)), price) for p, price in rng.sample(products, rng.choice((1, 1, 2, 2, 3, 4)))]
        way, _, cost = rng.choice(SHIPPING)
        total = cost + sum(quantity * price for _, quantity, price in items)
        tracking = f"HP{rng.randint(10**8, 10**9 - 1)}" if status in ("Shipped", "Delivered", "Returned") else ""
        payment = rng.choice(("Card", "Card", "Invoice", "Gift card"))
        add(db, "orders", (1000 + n, customer[0], str(placed), status, way, cost, total, *customer[1:], payment, tracking))
        add(db, "order_items", *[(1000 + n, *item) for item in items])


def _reviews(db: sqlite3.Connection, rng: random.Random) -> None:
    customers = db.execute("SELECT count(*) FROM customers").fetchone()[0]
    number = 0
    for (product,) in db.execute("SELECT id FROM products").fetchall():
        taste = rng.choice((0.2, 0.5, 0.75, 0.9))
        for who in rng.sample(range(2, customers + 1), rng.choice((0, 1, 2, 3, 4, 5, 7, 9))):
            number += 1
            mood = rng.random()
            stars, texts = (
                (rng.choice((4, 5)), PRAISE) if mood < taste else (3, MIXED) if mood < taste + 0.15 else (rng.choice((1, 2)), BLAME)
            )
            status = rng.choice(("approved",) * 14 + ("pending",))
            written = TODAY - timedelta(days=rng.randint(1, 600))
            theme = rng.choice(texts)
            add(db, "reviews", (number, product, who, stars, "", "", str(written), status, theme))
    refresh_ratings(db)


def refresh_ratings(db: sqlite3.Connection) -> None:
    """Counts the approved reviews of every product and their mean again."""
    db.execute(
        "UPDATE products SET reviews = (SELECT count(*) FROM reviews r WHERE r.product_id = products.id AND status = 'approved'),"
        " rating = coalesce((SELECT round(avg(rating), 1) FROM reviews r WHERE r.product_id = products.id AND status = 'approved'), 0)"
    )
