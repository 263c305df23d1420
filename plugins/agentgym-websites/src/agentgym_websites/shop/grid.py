"""Grids of the admin pages: sorting, pages of rows, visible columns, changes of many rows."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flask import Flask, abort, render_template, request

from agentgym_websites.site import back, database, field, number, run, user, value

SIZES = (10, 20, 50)


def size(usual: int) -> int:
    """Returns the number of rows per page."""
    wanted = number("size")
    return wanted if wanted in SIZES else usual


def ordered(columns: Mapping[str, str], usual: str) -> str:
    """Returns SQL for the order of the address: ``sort=price``, or ``sort=-price`` for descending.

    The usual order decides between equal values.
    """
    wanted = request.args.get("sort", "")
    column = columns.get(wanted.removeprefix("-"))
    return f"{column}{' DESC' if wanted.startswith('-') else ''}, {usual}" if column else usual


def picked(table: str, actions: Sequence[str]) -> tuple[list[int], str]:
    """Reads the selected rows of a table and the action; an unknown action selects none."""
    there = {r[0] for r in database().execute(f"SELECT id FROM {table}")}
    keys = [int(text) for text in request.form.getlist("row") if text.isascii() and text.isdigit()]
    return [key for key in keys if key in there], field("how") if field("how") in actions else ""


def change(endpoint: str, noun: str, keys: Sequence[int], sql: str, how: str) -> Any:
    """Changes rows and returns to the grid; ``sql`` gets the action and a row's id."""
    kept = dict(request.args)
    if not how:
        return back("Choose an action.", endpoint, **kept)
    if not keys:
        return back("Select one row at least.", endpoint, **kept)
    with database() as connection:
        connection.executemany(sql, [(how, key) for key in keys])
    return back(
        f"{len(keys)} {noun if len(keys) > 1 else noun[:-1]} {'deleted' if how == 'delete' else 'changed'}.",
        endpoint,
        **kept,
    )


class Column(NamedTuple):
    """A column of a grid.

    Attributes:
        text: text of its head.
        sql: SQL expression to sort by.
        usual: whether it is shown by default.
        figure: whether it holds figures.
    """

    text: str
    sql: str
    usual: bool = True
    figure: bool = False


COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "products": {
        "name": Column("Product", "p.name"), "sku": Column("SKU", "sku"), "category": Column("Category", "c.name"), "price": Column("Price", "price", figure=True),
        "stock": Column("Stock", "stock", figure=True), "rating": Column("Rating", "rating", figure=True), "shown": Column("Shown", "enabled"),
        "brand": Column("Brand", "brand", usual=False), "colour": Column("Color", "colour", usual=False), "weight": Column("Weight", "weight", usual=False, figure=True),
        "reviews": Column("Reviews", "reviews", usual=False, figure=True), "material": Column("Material", "material", usual=False), "origin": Column("Made in", "origin", usual=False),
    },
    "orders": {
        "id": Column("Order", "o.id"), "placed": Column("Placed", "placed"), "customer": Column("Customer", "c.name"), "status": Column("Status", "o.status"),
        "total": Column("Total", "total", figure=True), "city": Column("Ship to", "o.city", usual=False), "shipping": Column("Shipping", "shipping", usual=False),
        "payment": Column("Payment", "payment", usual=False), "tracking": Column("Tracking number", "tracking", usual=False),
        "delivered": Column("Delivered", "delivered", usual=False), "pieces": Column("Pieces", "pieces", usual=False, figure=True),
    },
    "customers": {
        "name": Column("Name", "name"), "email": Column("E-mail", "email"), "city": Column("City", "city"), "group": Column("Group", "grp"), "joined": Column("Since", "joined"),
        "orders": Column("Orders", "orders", figure=True), "spent": Column("Amount", "spent", figure=True), "phone": Column("Telephone", "phone", usual=False),
        "street": Column("Street", "street", usual=False), "newsletter": Column("Newsletter", "newsletter", usual=False),
    },
}  # fmt: skip


def shown(grid: str) -> list[str]:
    """Returns the columns of a grid that the signed-in person sees, in order."""
    chosen = value("SELECT columns FROM grids WHERE staff_id = ? AND grid = ?", user(), grid)
    return (
        chosen.split(",")
        if chosen
        else [key for key, column in COLUMNS[grid].items() if column.usual]
    )


def sorts(grid: str) -> dict[str, str]:
    """Returns the SQL expressions to sort a grid by, by column."""
    return {key: column.sql for key, column in COLUMNS[grid].items()}


def heads(grid: str) -> list[tuple[str, str, str]]:
    """Returns the heads of the visible columns: key, text, class."""
    return [
        (key, COLUMNS[grid][key].text, "number" if COLUMNS[grid][key].figure else "")
        for key in shown(grid)
    ]


def add_columns(app: Flask) -> None:
    """Adds the page for choosing the columns of a grid."""

    @app.route("/grids/<grid>", methods=["GET", "POST"])
    def grid_columns(grid: str) -> Any:
        if grid not in COLUMNS:
            abort(404)
        here = shown(grid)
        if request.method == "GET":
            order = [*here, *(key for key in COLUMNS[grid] if key not in here)]
            return render_template(
                "admin/columns.html",
                grid=grid,
                columns=[(key, COLUMNS[grid][key].text, key in here) for key in order],
            )
        if field("how") == "reset":
            run("DELETE FROM grids WHERE staff_id = ? AND grid = ?", user(), grid)
            return back("The usual columns are back.", grid)
        wanted = [key for key in request.form.getlist("column") if key in COLUMNS[grid]]
        if not wanted:
            return back("Choose one column at least.", "grid_columns", grid=grid)
        wanted = sorted(dict.fromkeys(wanted), key=lambda key: number(f"place-{key}", 1, 99) or 99)
        run("INSERT OR REPLACE INTO grids VALUES (?, ?, ?)", user(), grid, ",".join(wanted))
        return back("The columns have been saved.", grid)
