"""The shop as a customer sees it."""

import sqlite3
from typing import Any

from flask import Flask, jsonify, redirect, render_template, request, session, url_for

from agentgym_websites.shop.catalogue import DEPARTMENTS, DRAWINGS, KINDS, SHIPPING
from agentgym_websites.shop.choices import EXTRA, choices, chosen
from agentgym_websites.shop.content import add_shown
from agentgym_websites.shop.data import ME
from agentgym_websites.site import (
    TODAY,
    Site,
    back,
    database,
    field,
    make_app,
    number,
    page,
    row,
    rows,
    run,
    user,
    value,
    where,
)

SITE = Site(
    name="shop",
    title="Harbor Supply",
    colour="#0f766e",
    tables="shop",
    people="SELECT id, name, login, password FROM customers",
    places=(
        ("Departments", "departments"),
        ("Cart", "cart"),
        ("Wish list", "wishlist"),
        ("My account", "account"),
        ("Contact", "contact"),
    ),
    user=ME,
)
ORDERS = {
    "name": ("Name", "name"),
    "price": ("Price, lowest first", "price, name"),
    "-price": ("Price, highest first", "price DESC, name"),
    "rating": ("Best rated", "rating DESC, reviews DESC, name"),
}
REVIEWS = {
    "new": ("Newest first", "written DESC, r.id"),
    "best": ("Highest rating", "r.rating DESC, written DESC, r.id"),
    "worst": ("Lowest rating", "r.rating, written DESC, r.id"),
}
STATES = (
    "AZ",
    "CA",
    "CO",
    "GA",
    "ID",
    "MI",
    "MN",
    "NC",
    "NE",
    "NM",
    "NY",
    "OR",
    "RI",
    "TX",
    "VT",
    "WA",
    "WI",
)


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)
    app.jinja_env.globals["drawings"] = DRAWINGS
    _everywhere(app)
    _browse(app)
    _buy(app)
    _wish_and_review(app)
    _account(app)
    add_shown(app)
    return app


def _lines() -> list[sqlite3.Row]:
    """Returns the lines of the cart; the price includes the chosen options."""
    return rows(
        "SELECT id, name, quantity, options, price, quantity * price AS sum FROM (SELECT p.id, name, quantity, l.options,"
        f" price + {EXTRA} AS price FROM cart l JOIN products p ON p.id = product_id WHERE customer_id = ?) ORDER BY name, options",
        user(),
    )


def _everywhere(app: Flask) -> None:
    @app.context_processor
    def header() -> dict[str, Any]:
        """Returns the menus and the cart for every page."""
        keys = {r["name"]: r["id"] for r in rows("SELECT id, name FROM categories")}
        menus = {
            department: [(name, keys[name], KINDS[name][0]) for name in categories]
            for department, categories in DEPARTMENTS.items()
        }
        return {"menus": menus, "basket": _lines() if "user" in session else []}

    @app.route("/suggest")
    def suggest() -> Any:
        """Returns the suggestions of the search field."""
        words = request.args.get("q", "").split()[:8]
        if not words:
            return jsonify([])
        condition, values = where(
            {f"name LIKE ? /* {n} */": f"%{word}%" for n, word in enumerate(words)}
        )
        kinds = rows(
            f"SELECT kind, category_id FROM products WHERE {condition.replace('name', 'kind')} GROUP BY kind LIMIT 3",
            *values,
        )
        found = rows(
            f"SELECT id, name FROM products WHERE enabled = 1 AND {condition} ORDER BY reviews DESC, name LIMIT 6",
            *values,
        )
        links = [
            (f"All: {r['kind']}", url_for("category", key=r["category_id"], kind=r["kind"]))
            for r in kinds
        ]
        links += [(r["name"], url_for("product", key=r["id"])) for r in found]
        return jsonify([{"text": text, "address": address} for text, address in links])


def _listing(template: str, conditions: dict[str, Any], **more: Any) -> str:
    chosen = request.args.get("sort", "name")
    order = ORDERS.get(chosen, ORDERS["name"])[1]
    lowest, highest = number("from"), number("to")
    conditions = {
        "enabled = ?": 1,
        **conditions,
        "brand = ?": request.args.get("brand"),
        "kind = ?": request.args.get("kind"),
        "price >= ?": None if lowest is None else 100 * lowest,
        "price <= ?": None if highest is None else 100 * highest,
        "rating >= ?": number("stars"),
        "stock > ?": 0 if request.args.get("available") else None,
    }
    condition, values = where(conditions)
    found = page("*", f"products WHERE {condition}", order, values, size=12)
    sorts = [(key, text) for key, (text, _) in ORDERS.items()]
    return render_template(template, found=found, sorts=sorts, chosen=chosen, **more)


def _browse(app: Flask) -> None:
    @app.route("/")
    def home() -> str:
        best = rows(
            "SELECT * FROM products WHERE enabled = 1 ORDER BY reviews DESC, rating DESC LIMIT 8"
        )
        return render_template(
            "shop/home.html",
            best=best,
            categories=rows("SELECT * FROM categories ORDER BY department, name"),
        )

    @app.route("/departments")
    def departments() -> str:
        counts = {
            r[0]: r[1]
            for r in rows("SELECT category_id, count(*) FROM products GROUP BY category_id")
        }
        return render_template("shop/departments.html", counts=counts)

    @app.route("/category/<int:key>")
    def category(key: int) -> str:
        found = row("SELECT * FROM categories WHERE id = ?", key)
        brands = [
            r[0]
            for r in rows(
                "SELECT DISTINCT brand FROM products WHERE category_id = ? ORDER BY brand", key
            )
        ]
        kinds = sorted(KINDS[found["name"]][0])
        trail = [(found["department"], url_for("departments")), (found["name"], "")]
        return _listing(
            "shop/listing.html",
            {"category_id = ?": key},
            heading=found["name"],
            brands=brands,
            kinds=kinds,
            trail_parts=trail,
        )

    @app.route("/search")
    def search() -> str:
        words = request.args.get("q", "").split()
        conditions = {
            f"(name || ' ' || sku) LIKE ? /* {n} */": f"%{word}%" for n, word in enumerate(words)
        }
        brands = [r[0] for r in rows("SELECT DISTINCT brand FROM products ORDER BY brand")]
        return _listing(
            "shop/listing.html",
            conditions,
            heading=f"Results for “{' '.join(words)}”",
            brands=brands,
            kinds=[],
            trail_parts=[("Search", "")],
        )

    @app.route("/product/<int:key>")
    def product(key: int) -> str:
        found = row(
            "SELECT p.*, c.name AS category, department FROM products p JOIN categories c ON c.id = category_id WHERE p.id = ?",
            key,
        )
        order = REVIEWS.get(request.args.get("order", ""), REVIEWS["new"])[1]
        condition, values = where(
            {"r.product_id = ?": key, "r.status = ?": "approved", "r.rating = ?": number("stars")}
        )
        tables = f"reviews r JOIN customers c ON c.id = r.customer_id WHERE {condition}"
        counts = dict.fromkeys(range(5, 0, -1), 0)
        for r in rows(
            "SELECT rating, count(*) AS n FROM reviews WHERE product_id = ? AND status = 'approved' GROUP BY rating",
            key,
        ):
            counts[r["rating"]] = r["n"]
        return render_template(
            "shop/product.html",
            product=found,
            reviews=page("r.*, c.name AS author", tables, order, values, size=8),
            counts=counts,
            orders=[(name, text) for name, (text, _) in REVIEWS.items()],
            choices=choices(key),
            attributes=rows(
                "SELECT name, value FROM attributes WHERE product_id = ? ORDER BY name", key
            ),
        )

    @app.route("/contact", methods=["GET", "POST"])
    def contact() -> Any:
        if request.method == "POST":
            if not field("subject") or not field("body"):
                return back("Please fill in the subject and the message.", "contact")
            run(
                "INSERT INTO messages (customer_id, subject, body) VALUES (?, ?, ?)",
                user(),
                field("subject"),
                field("body"),
            )
            return back("Thank you, your message has been sent.", "contact")
        return render_template("shop/contact.html")


def _buy(app: Flask) -> None:
    @app.route("/cart", methods=["GET", "POST"])
    def cart() -> Any:
        if request.method == "POST":
            key, quantity = number("product"), number("quantity", 0, 99)
            if key is None or quantity is None:
                return back("The quantity must be a whole number from 0 to 99.", "cart")
            found = row("SELECT * FROM products WHERE id = ? AND enabled = 1", key)
            adding = field("how") == "add"
            options, missing = chosen(key) if adding else (field("options"), [])
            if missing:
                return back(
                    f"You need to choose options for {found['name']}: {', '.join(missing)}.",
                    "product",
                    key=key,
                )
            sql = "SELECT coalesce(sum(quantity), 0) FROM cart WHERE customer_id = ? AND product_id = ? AND options"
            held, other = (value(f"{sql} {sign} ?", user(), key, options) for sign in ("=", "<>"))
            if not adding and not held:
                return back(f"{found['name']} is not in your cart like this.", "cart")
            wanted = held + quantity if adding else quantity
            if wanted + other > found["stock"]:
                return back(
                    f"Only {found['stock']} of {found['name']} are in stock.", "product", key=key
                )
            if wanted:
                run("INSERT OR REPLACE INTO cart VALUES (?, ?, ?, ?)", user(), key, wanted, options)
            else:
                run(
                    "DELETE FROM cart WHERE customer_id = ? AND product_id = ? AND options = ?",
                    user(),
                    key,
                    options,
                )
            name = f"{found['name']} ({options})" if options else found["name"]
            return back(f"Your cart has been updated: {name}, quantity {wanted}.", "cart")
        return render_template("shop/cart.html", lines=_lines())

    @app.route("/checkout", methods=["GET", "POST"])
    def checkout() -> Any:
        bought = _lines()
        if not bought:
            return back("Your cart is empty.", "cart")
        me = row("SELECT * FROM customers WHERE id = ?", user())
        if request.method == "GET":
            return render_template(
                "shop/checkout.html", lines=bought, me_row=me, shipping=SHIPPING, states=STATES
            )
        cost = {key: cents for key, _, cents in SHIPPING}.get(field("shipping"))
        address = [field(k) for k in ("street", "city", "state", "zip")]
        if (
            cost is None
            or not all(address)
            or field("payment") not in ("Card", "Invoice", "Gift card")
        ):
            return back(
                "Please fill in the whole address and choose shipping and payment.", "checkout"
            )
        total = cost + sum(line["sum"] for line in bought)
        key = run(
            "INSERT INTO orders (customer_id, placed, status, shipping, shipping_cost, total, street, city, state, zip, payment)"
            " VALUES (?, ?, 'Processing', ?, ?, ?, ?, ?, ?, ?, ?)",
            user(), str(TODAY), field("shipping"), cost, total, *address, field("payment"),
        )  # fmt: skip
        for line in bought:
            run(
                "INSERT INTO order_items VALUES (?, ?, ?, ?, ?)",
                key,
                line["id"],
                line["quantity"],
                line["price"],
                line["options"],
            )
            run("UPDATE products SET stock = stock - ? WHERE id = ?", line["quantity"], line["id"])
        run("DELETE FROM cart WHERE customer_id = ?", user())
        return back("Thank you for your order.", "order", key=key)


def _wish_and_review(app: Flask) -> None:
    @app.route("/wishlist", methods=["GET", "POST"])
    def wishlist() -> Any:
        if request.method == "POST":
            found = row("SELECT * FROM products WHERE id = ?", number("product") or 0)
            if field("how") == "remove":
                run(
                    "DELETE FROM wishlist WHERE customer_id = ? AND product_id = ?",
                    user(),
                    found["id"],
                )
                return back(f"{found['name']} was taken off your wish list.", "wishlist")
            run("INSERT OR IGNORE INTO wishlist VALUES (?, ?)", user(), found["id"])
            return back(f"{found['name']} is on your wish list.", "wishlist")
        wished = rows(
            "SELECT p.* FROM wishlist JOIN products p ON p.id = product_id WHERE customer_id = ? ORDER BY p.name",
            user(),
        )
        return render_template("shop/wishlist.html", products=wished)

    @app.route("/product/<int:key>/review", methods=["POST"])
    def review(key: int) -> Any:
        stars = number("rating", 1, 5)
        if stars is None or not field("title") or not field("body"):
            return back("A review needs a rating, a title and a text.", "product", key=key)
        run(
            "INSERT INTO reviews (product_id, customer_id, rating, title, body, written, status) VALUES (?, ?, ?, ?, ?, ?, 'pending')",
            key, user(), stars, field("title"), field("body"), str(TODAY),
        )  # fmt: skip
        return back(
            "Thank you. Your review will appear once it has been checked.", "product", key=key
        )


def _account(app: Flask) -> None:
    @app.route("/account", methods=["GET", "POST"])
    def account() -> Any:
        if request.method == "POST":
            parts = [field(k) for k in ("name", "email", "phone", "street", "city", "state", "zip")]
            if not all(parts) or "@" not in parts[1]:
                return back(
                    "Every field is needed, and the e-mail address must be valid.", "account"
                )
            sql = "UPDATE customers SET name = ?, email = ?, phone = ?, street = ?, city = ?, state = ?, zip = ?, newsletter = ? WHERE id = ?"
            run(sql, *parts, int(bool(field("newsletter"))), user())
            return back("Your account has been saved.", "account")
        return render_template(
            "shop/account.html",
            me_row=row("SELECT * FROM customers WHERE id = ?", user()),
            states=STATES,
        )

    @app.route("/orders")
    def orders() -> str:
        found = page(
            "o.*, (SELECT sum(quantity) FROM order_items WHERE order_id = o.id) AS items", "orders o WHERE customer_id = ?",
            "placed DESC, id DESC", (user(),), size=10,
        )  # fmt: skip
        return render_template("shop/orders.html", found=found)

    @app.route("/orders/<int:key>", methods=["GET", "POST"])
    def order(key: int) -> Any:
        found = row("SELECT * FROM orders WHERE id = ? AND customer_id = ?", key, user())
        items = rows(
            "SELECT p.id, p.name, p.sku, i.quantity, i.price, i.options FROM order_items i JOIN products p ON p.id = product_id WHERE order_id = ?",
            key,
        )
        if request.method == "POST":
            if field("how") == "again":
                for item in items:
                    database().execute(
                        "INSERT INTO cart VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET quantity = quantity + excluded.quantity",
                        (user(), item["id"], item["quantity"], item["options"]),
                    )
                database().commit()
                return redirect(url_for("cart"))
            if found["status"] != "Processing":
                return back(
                    f"An order that is {found['status'].lower()} cannot be cancelled.",
                    "order",
                    key=key,
                )
            run("UPDATE orders SET status = 'Cancelled' WHERE id = ?", key)
            return back("The order has been cancelled.", "order", key=key)
        return render_template("shop/order.html", order=found, items=items)
