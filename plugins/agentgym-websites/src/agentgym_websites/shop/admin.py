"""The admin pages of the shop, for its staff."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from flask import Flask, render_template, request

from agentgym_websites.shop.catalogue import STATUSES
from agentgym_websites.shop.choices import choices
from agentgym_websites.shop.content import add_manager
from agentgym_websites.shop.grid import (
    SIZES,
    add_columns,
    change,
    heads,
    ordered,
    picked,
    size,
    sorts,
)
from agentgym_websites.shop.sales import refresh_ratings
from agentgym_websites.site import (
    TODAY,
    Site,
    back,
    cents,
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
    name="admin",
    title="Harbor Supply Admin",
    colour="#b8400b",
    tables="shop",
    people="SELECT id, name, login, password FROM staff",
    places=(
        ("Products", "products"), ("Orders", "orders"), ("Customers", "customers"), ("Reviews", "reviews"),
        ("Discounts", "discounts"), ("Reports", "reports"),
    ),
    user=1,
)  # fmt: skip
MENU: Sequence[tuple[str, Sequence[tuple[str, str, Mapping[str, str]]]]] = (
    (
        "Sales",
        (("Orders", "orders", {}), ("Orders to process", "orders", {"status": "Processing"})),
    ),
    ("Catalog", (("Products", "products", {}), ("Low stock", "products", {"stock": "low"}))),
    (
        "Customers",
        (
            ("All customers", "customers", {}),
            ("Wholesale customers", "customers", {"group": "Wholesale"}),
        ),
    ),
    (
        "Marketing",
        (
            ("Discounts", "discounts", {}),
            ("Reviews", "reviews", {}),
            ("Pending reviews", "reviews", {"status": "pending"}),
        ),
    ),
    ("Content", (("Pages", "pages", {}), ("Add a page", "new_page", {}))),
    ("Reports", (("Sales report", "reports", {}),)),
)
"""The menus on the left: links with a text, an endpoint and its parameters."""
GROUPS = ("General", "Wholesale", "VIP")
SALES = "FROM orders o WHERE status NOT IN ('Cancelled', 'Returned') AND placed BETWEEN ? AND ?"


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)

    @app.before_request
    def staff_only() -> None:
        if request.endpoint != "login":
            user()

    @app.context_processor
    def menus() -> dict[str, Any]:
        return {"menus": MENU, "sizes": SIZES}

    _dashboard(app)
    _products(app)
    _orders(app)
    _people(app)
    _reviews(app)
    _discounts(app)
    _reports(app)
    add_manager(app)
    add_columns(app)
    return app


def _dashboard(app: Flask) -> None:
    @app.route("/")
    def home() -> str:
        figures = [
            ("Orders to process", value("SELECT count(*) FROM orders WHERE status = 'Processing'")),
            ("Reviews to check", value("SELECT count(*) FROM reviews WHERE status = 'pending'")),
            ("Products out of stock", value("SELECT count(*) FROM products WHERE stock = 0")),
            ("Customers", value("SELECT count(*) FROM customers")),
        ]
        last = rows(
            "SELECT o.*, c.name FROM orders o JOIN customers c ON c.id = customer_id ORDER BY placed DESC, o.id DESC LIMIT 8"
        )
        months = rows(
            f"SELECT substr(placed, 1, 7) AS month, sum(total) AS total {SALES} GROUP BY month",
            "2025-07-01",
            str(TODAY),
        )
        best = rows(
            "SELECT id, name, price, reviews FROM products ORDER BY reviews DESC, rating DESC, name LIMIT 6"
        )
        return render_template(
            "admin/home.html", figures=figures, last=last, months=months, best=best
        )

    @app.route("/search")
    def search() -> str:
        words = f"%{request.args.get('q', '').strip()}%"
        return render_template(
            "admin/search.html",
            products=rows(
                "SELECT * FROM products WHERE name LIKE ? OR sku LIKE ? ORDER BY name LIMIT 20",
                words,
                words,
            ),
            people=rows(
                "SELECT * FROM customers WHERE name LIKE ? OR email LIKE ? ORDER BY name LIMIT 20",
                words,
                words,
            ),
            orders=rows(
                "SELECT * FROM orders WHERE '#' || id LIKE ? OR tracking LIKE ? ORDER BY id DESC LIMIT 20",
                words,
                words,
            ),
        )


def _products(app: Flask) -> None:
    @app.route("/products")
    def products() -> str:
        least = {"out": ("stock = ?", 0), "low": ("stock < ?", 10)}.get(
            request.args.get("stock", "")
        )
        condition, values = where(
            {
                "p.name LIKE ?": f"%{request.args['name']}%" if request.args.get("name") else None,
                "category_id = ?": number("category"),
                **({least[0]: least[1]} if least else {}),
            }
        )
        tables = f"products p JOIN categories c ON c.id = category_id WHERE {condition}"
        own = "(SELECT value FROM attributes WHERE product_id = p.id AND name = '{}') AS {}"
        columns = f"p.*, c.name AS category, {own.format('Material', 'material')}, {own.format('Made in', 'origin')}"
        return render_template(
            "admin/products.html",
            found=page(columns, tables, ordered(sorts("products"), "p.name"), values, size(20)),
            heads=heads("products"),
            pieces=value(f"SELECT coalesce(sum(stock), 0) FROM {tables}", *values),
            categories=rows("SELECT id, name FROM categories ORDER BY name"),
            actions=[("1", "Show in the shop"), ("0", "Hide from the shop")],
        )

    @app.route("/products/mass", methods=["POST"])
    def mass_products() -> Any:
        keys, how = picked("products", ("0", "1"))
        return change(
            "products", "products", keys, "UPDATE products SET enabled = ? WHERE id = ?", how
        )

    @app.route("/products/<int:key>", methods=["GET", "POST"])
    def product(key: int) -> Any:
        found = row("SELECT * FROM products WHERE id = ?", key)
        if request.method == "POST":
            price, stock, weight = cents("price"), number("stock"), number("weight")
            if price is None or stock is None or weight is None or not field("name"):
                wrong = "The price, up to 10 million, the stock and the weight must be numbers, and the name may not be empty."
                return back(wrong, "product", key=key)
            sql = "UPDATE products SET name = ?, price = ?, stock = ?, weight = ?, description = ?, enabled = ? WHERE id = ?"
            run(
                sql,
                field("name"),
                price,
                stock,
                weight,
                field("description"),
                int(bool(field("enabled"))),
                key,
            )
            for values in choices(key).values():
                for v in values:
                    extra = cents(f"extra-{v['id']}")
                    if extra is not None:
                        run("UPDATE options SET extra = ? WHERE id = ?", extra, v["id"])
            return back("The product has been saved.", "product", key=key)
        return render_template("admin/product.html", product=found, choices=choices(key))


def _orders(app: Flask) -> None:
    @app.route("/orders")
    def orders() -> str:
        condition, values = where(
            {
                "o.status = ?": request.args.get("status"),
                "placed >= ?": request.args.get("from"),
                "placed <= ?": request.args.get("to"),
                "c.name LIKE ?": f"%{request.args['customer']}%"
                if request.args.get("customer")
                else None,
            }
        )
        tables = f"orders o JOIN customers c ON c.id = customer_id WHERE {condition}"
        columns = (
            "o.*, c.name, (SELECT sum(quantity) FROM order_items WHERE order_id = o.id) AS pieces"
        )
        return render_template(
            "admin/orders.html",
            found=page(
                columns,
                tables,
                ordered(sorts("orders"), "placed DESC, o.id DESC"),
                values,
                size(20),
            ),
            heads=heads("orders"),
            total=value(f"SELECT coalesce(sum(total), 0) FROM {tables}", *values),
            statuses=STATUSES,
            actions=[(status, f"Change status to {status}") for status in STATUSES],
        )

    @app.route("/orders/mass", methods=["POST"])
    def mass_orders() -> Any:
        keys, how = picked("orders", STATUSES)
        return change("orders", "orders", keys, "UPDATE orders SET status = ? WHERE id = ?", how)

    @app.route("/orders/<int:key>", methods=["GET", "POST"])
    def order(key: int) -> Any:
        found = row(
            "SELECT o.*, c.name, c.email FROM orders o JOIN customers c ON c.id = customer_id WHERE o.id = ?",
            key,
        )
        if request.method == "POST":
            if field("status") not in STATUSES:
                return back("Choose a status.", "order", key=key)
            parts = [
                field(k) for k in ("status", "tracking", "note", "street", "city", "state", "zip")
            ]
            run(
                "UPDATE orders SET status = ?, tracking = ?, note = ?, street = ?, city = ?, state = ?, zip = ? WHERE id = ?",
                *parts,
                key,
            )
            return back("The order has been saved.", "order", key=key)
        items = rows(
            "SELECT p.id, p.name, p.sku, i.quantity, i.price, i.options FROM order_items i JOIN products p ON p.id = product_id WHERE order_id = ?",
            key,
        )
        return render_template("admin/order.html", order=found, items=items, statuses=STATUSES)


def _people(app: Flask) -> None:
    @app.route("/customers")
    def customers() -> str:
        condition, values = where(
            {
                "(name || ' ' || email) LIKE ?": f"%{request.args['name']}%"
                if request.args.get("name")
                else None,
                "grp = ?": request.args.get("group"),
                "city = ?": request.args.get("city"),
            }
        )
        towns = [r[0] for r in rows("SELECT DISTINCT city FROM customers ORDER BY city")]
        sums = "count(o.id) AS orders, coalesce(sum(total), 0) AS spent"
        tables = f"(SELECT c.*, {sums} FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id) WHERE {condition}"
        return render_template(
            "admin/customers.html",
            found=page("*", tables, ordered(sorts("customers"), "name"), values, size(20)),
            heads=heads("customers"),
            groups=GROUPS,
            towns=towns,
            actions=[(group, f"Move to the group {group}") for group in GROUPS],
        )

    @app.route("/customers/mass", methods=["POST"])
    def mass_customers() -> Any:
        keys, how = picked("customers", GROUPS)
        return change(
            "customers", "customers", keys, "UPDATE customers SET grp = ? WHERE id = ?", how
        )

    @app.route("/customers/<int:key>", methods=["GET", "POST"])
    def customer(key: int) -> Any:
        found = row("SELECT * FROM customers WHERE id = ?", key)
        if request.method == "POST":
            if field("group") not in GROUPS or "@" not in field("email") or not field("name"):
                return back(
                    "A customer needs a name, a valid e-mail address and a group.",
                    "customer",
                    key=key,
                )
            run(
                "UPDATE customers SET name = ?, email = ?, phone = ?, grp = ? WHERE id = ?",
                *[field(k) for k in ("name", "email", "phone", "group")],
                key,
            )
            return back("The customer has been saved.", "customer", key=key)
        orders = rows(
            "SELECT * FROM orders WHERE customer_id = ? ORDER BY placed DESC, id DESC", key
        )
        return render_template("admin/customer.html", customer=found, orders=orders, groups=GROUPS)


def _reviews(app: Flask) -> None:
    @app.route("/reviews", methods=["GET", "POST"])
    def reviews() -> Any:
        if request.method == "POST":
            found = row("SELECT * FROM reviews WHERE id = ?", number("review") or 0)
            how = field("how")
            if how == "delete":
                run("DELETE FROM reviews WHERE id = ?", found["id"])
            elif how in ("approved", "rejected"):
                run("UPDATE reviews SET status = ? WHERE id = ?", how, found["id"])
            with database():
                refresh_ratings(database())
            return back(
                f"The review “{found['title']}” is {'deleted' if how == 'delete' else how}.",
                "reviews",
                **request.args,
            )
        condition, values = where(
            {
                "r.status = ?": request.args.get("status"),
                "r.rating = ?": number("rating"),
                "p.name LIKE ?": f"%{request.args['product']}%"
                if request.args.get("product")
                else None,
            }
        )
        tables = f"reviews r JOIN products p ON p.id = r.product_id JOIN customers c ON c.id = r.customer_id WHERE {condition}"
        orders = {
            "written": "written",
            "rating": "r.rating",
            "author": "c.name",
            "product": "p.name",
            "status": "r.status",
        }
        columns = "r.*, p.name AS product, c.name AS author"
        return render_template(
            "admin/reviews.html",
            found=page(columns, tables, ordered(orders, "written DESC, r.id"), values, size(10)),
            actions=[("approved", "Approve"), ("rejected", "Reject"), ("delete", "Delete")],
        )

    @app.route("/reviews/mass", methods=["POST"])
    def mass_reviews() -> Any:
        keys, how = picked("reviews", ("approved", "rejected", "delete"))
        sql = (
            "DELETE FROM reviews WHERE ? = 'delete' AND id = ?"
            if how == "delete"
            else "UPDATE reviews SET status = ? WHERE id = ?"
        )
        changed = change("reviews", "reviews", keys, sql, how)
        with database():
            refresh_ratings(database())
        return changed


def _discounts(app: Flask) -> None:
    @app.route("/discounts", methods=["GET", "POST"])
    def discounts() -> Any:
        if request.method == "POST" and field("how") == "add":
            percent = number("percent", 1, 90)
            if percent is None or not field("code"):
                return back("A discount needs a code and a percentage from 1 to 90.", "discounts")
            run(
                "INSERT INTO discounts (code, percent, ends, active) VALUES (?, ?, ?, 1)",
                field("code").upper(),
                percent,
                field("ends"),
            )
            return back(f"The discount {field('code').upper()} has been added.", "discounts")
        if request.method == "POST":
            found = row("SELECT * FROM discounts WHERE id = ?", number("discount") or 0)
            run("UPDATE discounts SET active = 1 - active WHERE id = ?", found["id"])
            return back(
                f"The discount {found['code']} is {'off' if found['active'] else 'on'} now.",
                "discounts",
            )
        return render_template(
            "admin/discounts.html", discounts=rows("SELECT * FROM discounts ORDER BY code")
        )


def _reports(app: Flask) -> None:
    @app.route("/reports")
    def reports() -> str:
        begin, end = (
            _date(request.args.get(key, ""), other)
            for key, other in (("from", "2026-01-01"), ("to", "2026-06-15"))
        )
        totals = row(
            f"SELECT count(*) AS orders, coalesce(sum(total), 0) AS total, coalesce(round(avg(total)), 0) AS mean {SALES}",
            begin,
            end,
        )
        months = rows(
            f"SELECT substr(placed, 1, 7) AS month, count(*) AS orders, sum(total) AS total {SALES} GROUP BY month ORDER BY month",
            begin,
            end,
        )
        best = rows(
            f"SELECT p.id, p.name, sum(i.quantity) AS sold, sum(i.quantity * i.price) AS total FROM order_items i JOIN products p ON p.id = i.product_id"
            f" WHERE i.order_id IN (SELECT o.id {SALES}) GROUP BY p.id ORDER BY sold DESC, total DESC LIMIT 10", begin, end,
        )  # fmt: skip
        people = rows(
            f"SELECT c.id, c.name, count(*) AS orders, sum(total) AS total FROM (SELECT * {SALES}) JOIN customers c ON c.id = customer_id"
            " GROUP BY c.id ORDER BY total DESC LIMIT 10", begin, end,
        )  # fmt: skip
        return render_template(
            "admin/reports.html",
            begin=begin,
            end=end,
            totals=totals,
            months=months,
            best=best,
            people=people,
        )


def _date(text: str, other: str) -> str:
    try:
        return str(date.fromisoformat(text))
    except ValueError:
        return other
