"""Fills the shop's database: products, customers, two years of orders, reviews.

The data is always the same.
"""

import random
import sqlite3
from collections.abc import Iterator
from datetime import timedelta

from agentgym_websites.people import TOWNS, full_names
from agentgym_websites.shop.catalogue import (
    BRANDS,
    COLOURS,
    DEPARTMENTS,
    KINDS,
    MORE,
    OPTIONS,
    ORIGINS,
    THINGS,
    VARIANTS,
)
from agentgym_websites.shop.content import rows_of_pages
from agentgym_websites.shop.sales import add_orders, add_reviews, refresh_ratings
from agentgym_websites.shop.texts import write_texts
from agentgym_websites.site import TODAY, add, password

SCHEMA = """
CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT, department TEXT);
CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT, name TEXT, category_id INT, brand TEXT, colour TEXT, price INT, stock INT,
  weight INT, description TEXT, enabled INT DEFAULT 1, rating REAL DEFAULT 0, reviews INT DEFAULT 0, kind TEXT);
-- Further properties of a product: its material, a measure, where it is made.
CREATE TABLE attributes (product_id INT, name TEXT, value TEXT, PRIMARY KEY (product_id, name)) WITHOUT ROWID;
-- A value that a customer may choose, and what it costs more; ``chosen`` is 1 if it is chosen until another is.
CREATE TABLE options (id INTEGER PRIMARY KEY, product_id INT, name TEXT, value TEXT, extra INT, chosen INT);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, login TEXT, password TEXT, email TEXT, street TEXT, city TEXT, state TEXT,
  zip TEXT, phone TEXT, joined TEXT, newsletter INT DEFAULT 0, grp TEXT DEFAULT 'General');
-- ``delivered`` is the day on which the order arrived or was picked up, '' before.
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT, placed TEXT, status TEXT, shipping TEXT, shipping_cost INT, total INT,
  street TEXT, city TEXT, state TEXT, zip TEXT, payment TEXT, tracking TEXT DEFAULT '', note TEXT DEFAULT '', delivered TEXT DEFAULT '');
CREATE TABLE order_items (order_id INT, product_id INT, quantity INT, price INT, options TEXT DEFAULT '');
-- A review of the shop's own data is by a customer of an order; ``owned``, ``whom`` and ``part`` are facts that its text states.
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product_id INT, customer_id INT, rating INT, title TEXT, body TEXT, written TEXT,
  status TEXT DEFAULT 'approved', theme TEXT DEFAULT '', owned TEXT DEFAULT '', whom TEXT DEFAULT '', part TEXT DEFAULT '', order_id INT);
CREATE TABLE cart (customer_id INT, product_id INT, quantity INT, options TEXT DEFAULT '', PRIMARY KEY (customer_id, product_id, options));
CREATE TABLE wishlist (customer_id INT, product_id INT, PRIMARY KEY (customer_id, product_id));
CREATE TABLE messages (id INTEGER PRIMARY KEY, customer_id INT, subject TEXT, body TEXT);
CREATE TABLE discounts (id INTEGER PRIMARY KEY, code TEXT, percent INT, ends TEXT, active INT);
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, login TEXT, password TEXT);
-- Pages that the staff writes, and the columns that somebody has chosen for a grid of the admin, joined by commas.
CREATE TABLE pages (id INTEGER PRIMARY KEY, slug TEXT UNIQUE, title TEXT, body TEXT, status TEXT, author_id INT, edited TEXT);
CREATE TABLE grids (staff_id INT, grid TEXT, columns TEXT, PRIMARY KEY (staff_id, grid)) WITHOUT ROWID;
CREATE INDEX items_of ON order_items (order_id);
CREATE INDEX sales_of ON order_items (product_id);
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
ME, CUSTOMERS = 1, 660  # id of the episode's customer, and number of customers
STAFF = ((1, "Robin Hale", "admin", "harbor2026"), (2, "Dana Whitfield", "dana", password("dana")))
CODES = ("WELCOME10", "SPRING15", "LOYAL20", "FREESHIP", "SUMMER25", "CLEAR30")


def fill(db: sqlite3.Connection) -> None:
    """Creates the tables and their rows."""
    rng = random.Random("shop")
    db.executescript(SCHEMA)
    _products(db, rng)
    _attributes(db)
    _customers(db, rng)
    add_orders(db, rng, ME)
    add(db, "staff", *STAFF)
    add(db, "pages", *rows_of_pages())
    add(
        db,
        "discounts",
        *[
            (n + 1, code, 10 + 5 * n, str(TODAY + timedelta(days=30 * n - 45)), int(n > 1))
            for n, code in enumerate(CODES)
        ],
    )
    add(db, "wishlist", *[(ME, product) for product in rng.sample(range(1, 361), 4)])
    _options(db)
    add_reviews(db, ME)
    write_texts(db)
    refresh_ratings(db)
    db.commit()


def _kinds() -> Iterator[tuple[int, str, str, str]]:
    """Yields the category's number and name, the kind and the variant of each product."""
    categories = [name for names in DEPARTMENTS.values() for name in names]
    for first in (True, False):
        for place, category in enumerate(categories, 1):
            kinds, variants, *_ = KINDS[category]
            yield from (
                (place, category, kind, variant)
                for kind in kinds
                for variant in (variants if first else MORE[category])
            )


def _products(db: sqlite3.Connection, rng: random.Random) -> None:
    home = {
        category: department
        for department, categories in DEPARTMENTS.items()
        for category in categories
    }
    add(
        db,
        "categories",
        *[(n, category, department) for n, (category, department) in enumerate(home.items(), 1)],
    )
    made, prices = list[tuple[object, ...]](), set[tuple[int, int]]()
    for number, (place, category, kind, variant) in enumerate(_kinds(), 1):
        low, high = KINDS[category][2:]
        brand = rng.choice(BRANDS[home[category]])
        while (
            place,
            price := 100 * rng.randint(low, high) - rng.choice((1, 5, 50)),
            # one for each price of a category
        ) in prices:
            pass
        prices.add((place, price))
        stock = rng.choice((0, 0, 3, 5, 8, *range(11, 60), *range(60, 180, 4)))
        sku = f"{category[:2].upper()}-{1000 + 7 * number}"
        weight = rng.randint(1, 90) * 50
        made.append(
            (
                number,
                sku,
                f"{brand} {variant} {kind}",
                place,
                brand,
                rng.choice(COLOURS),
                price,
                stock,
                weight,
                "",
                1,
                0,
                0,
                kind,
            )
        )
    add(db, "products", *made)


def _attributes(db: sqlite3.Connection) -> None:
    """Gives each product a material, a measure and a country or state.

    The product's name can state the material.
    """
    rng, made = random.Random("shop attributes"), list[tuple[int, str, str]]()
    for key, variant, kind in db.execute(
        "SELECT id, replace(name, brand, ''), kind FROM products"
    ).fetchall():
        thing = THINGS[kind]
        named = VARIANTS.get(variant.removesuffix(kind).strip())
        size = f"{rng.randint(thing.low, thing.high)} {thing.unit}"
        values = {
            "Material": named or rng.choice(thing.materials),
            thing.measure: size,
            "Made in": rng.choice(ORIGINS),
        }
        made += [(key, *pair) for pair in values.items()]
    add(db, "attributes", *made)


def _options(db: sqlite3.Connection) -> None:
    """Gives products their options, and ordered products the options without an extra price."""
    rng, ordered, made = (
        random.Random("shop options"),
        dict[int, list[list[str]]](),
        list[tuple[object, ...]](),
    )
    for product, kind, colour in db.execute("SELECT id, kind, colour FROM products").fetchall():
        for option in OPTIONS.get(kind, ()):
            others = rng.sample([c for c in COLOURS if c != colour], 2)
            values = option.values or [(colour, 0), *((other, 0) for other in others)]
            for n, (value, extra) in enumerate(values):
                made.append(
                    (
                        len(made) + 1,
                        product,
                        option.name,
                        value,
                        100 * extra,
                        int(option.preset and n == 0),
                    )
                )
            ordered.setdefault(product, []).append(
                [f"{option.name}: {value}" for value, extra in values if not extra]
            )
    add(db, "options", *made)
    chosen = [
        (", ".join(rng.choice(values) for values in ordered[product]), row)
        for row, product in db.execute("SELECT rowid, product_id FROM order_items").fetchall()
        if product in ordered
    ]
    db.executemany("UPDATE order_items SET options = ? WHERE rowid = ?", chosen)


def _customers(db: sqlite3.Connection, rng: random.Random) -> None:
    names = [
        "Emma Lindgren",
        *[n for n in full_names(rng, CUSTOMERS + 1) if n != "Emma Lindgren"][: CUSTOMERS - 1],
    ]
    made = []
    for n, name in enumerate(names, 1):
        login = name.lower().replace(" ", ".").replace("ö", "o")
        city, state = rng.choice(TOWNS)
        joined = str(TODAY - timedelta(days=rng.randint(20, 900)))
        street = f"{rng.randint(2, 480)} {rng.choice(STREETS)}"
        address = (
            street,
            city,
            state,
            f"{rng.randint(10000, 98999)}",
            f"555-01{rng.randint(10, 99)}",
        )
        group = rng.choice(("General", "General", "General", "Wholesale", "VIP"))
        secret = "linden2026" if n == ME else password(login)
        made.append(
            (
                n,
                name,
                login,
                secret,
                f"{login}@mail.test",
                *address,
                joined,
                int(rng.random() < 0.4),
                group,
            )
        )
    add(db, "customers", *made)
