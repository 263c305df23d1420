"""Tasks with the columns of the admin's grids and with the pages of its content manager."""

import random
from collections.abc import Iterator

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, stop
from agentgym_websites.shop.grid import COLUMNS
from agentgym_websites.site import TODAY
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.admin import open_menu
from agentgym_websites.tasks.admin_compare import (
    brands_in_stock,
    descending,
    filtered_orders,
    months,
)
from agentgym_websites.tasks.template import Made, World, becomes, only, template

MENUS = {
    "products": ("Catalog", "Products"),
    "orders": ("Sales", "Orders"),
    "customers": ("Customers", "All customers"),
}


def _with_column(grid: str, column: str) -> list[Step]:
    """Adds a column to a grid."""
    return [
        *open_menu(*MENUS[grid]),
        click("Columns"),
        click(column, "checkbox"),
        click("Save columns", "button"),
    ]


@template(
    "admin",
    "find",
    "By the column “Weight” of the products' grid, which product by {brand} in the category {category} is the {what}?",
)
def _weight(world: World, rng: random.Random) -> Iterator[Made]:
    for pair, _, _ in brands_in_stock(world, rng):
        what, best = rng.choice((("heaviest", max), ("lightest", min)))
        found = world.rows(
            "shop",
            "SELECT * FROM products WHERE category_id = ? AND brand = ?",
            pair["id"],
            pair["brand"],
        )
        if p := only(found, "weight", best):
            filters = [
                choose("Category", pair["category"]),
                fill("Name", pair["brand"]),
                click("Filter", "button"),
            ]
            sort = descending("Weight") if best is max else [click("Weight")]
            values = {"brand": pair["brand"], "category": pair["category"], "what": what}
            steps = [*_with_column("products", "Weight"), *filters, *sort, stop(p["name"])]
            yield Made(values, answer.product(p["name"]), steps)


@template(
    "admin",
    "find",
    "By the column “Pieces” of the orders' grid, who placed the largest order from {begin} to {end}?",
)
def _pieces(world: World, rng: random.Random) -> Iterator[Made]:
    sql = (
        "SELECT c.name, (SELECT sum(quantity) FROM order_items WHERE order_id = o.id) AS pieces FROM orders o JOIN customers c ON c.id = customer_id"
        " WHERE placed BETWEEN ? AND ?"
    )
    for begin, end in months(world, rng):
        found = world.rows("shop", sql, begin, end)
        if len(found) > 3 and (o := only(found, "pieces", max)):
            steps = [
                *_with_column("orders", "Pieces"),
                *filtered_orders(begin, end),
                *descending("Pieces"),
                stop(o["name"]),
            ]
            yield Made({"begin": begin, "end": end}, answer.customer(o["name"]), steps)


@template("admin", "change", "Show the column {column} as the last one of the {grid}' grid.")
def _column(world: World, rng: random.Random) -> Iterator[Made]:
    choices = [
        (grid, key)
        for grid, columns in COLUMNS.items()
        for key, column in columns.items()
        if not column.usual
    ]
    for grid, key in rng.sample(choices, len(choices)):
        wanted = [name for name, column in COLUMNS[grid].items() if column.usual] + [key]
        check = becomes(
            "shop", f"SELECT columns FROM grids WHERE grid = '{grid}'", ",".join(wanted)
        )
        text = COLUMNS[grid][key].text
        yield Made({"column": text, "grid": grid}, check, [*_with_column(grid, text), stop()])


@template(
    "admin",
    "change",
    "Create the page “{title}” with the address {slug} and the text “{text}”, and publish it.",
)
def _page(world: World, rng: random.Random) -> Iterator[Made]:
    titles = (
        "Holiday hours",
        "Our suppliers",
        "Recalls",
        "Press",
        "Spare parts",
        "Workshops",
        "Recycling",
        "Size charts",
        "Gift wrapping",
        "Newsletter",
        "Student discount",
    )
    texts = (
        "Ask us at the counter.",
        "More will follow in July.",
        "Write to us and we answer within a day.",
    )
    taken = {r[0] for r in world.rows("shop", "SELECT title FROM pages")}
    for title in rng.sample([t for t in titles if t not in taken], len(titles)):
        slug, text = title.lower().replace(" ", "-"), rng.choice(texts)
        steps = [
            *open_menu("Content", "Add a page"), fill("Title", title), fill("Address", slug), fill("Text (Markdown)", text), choose("Status", "published"),
            click("Save", "button"), stop(),
        ]  # fmt: skip
        sql = f"SELECT title, slug, body, status FROM pages WHERE edited = '{TODAY}'"
        yield Made(
            {"title": title, "slug": slug, "text": text},
            becomes("shop", sql, f"{title} | {slug} | {text} | published"),
            steps,
        )
