"""The shop's content pages: staff creates, edits and publishes them in the admin."""

import re
from typing import Any

from flask import Flask, render_template, request

from agentgym_websites.site import TODAY, back, field, row, rows, run, user, value

STATES = ("draft", "published")
# Address, title, status, author, day, Markdown.
PAGES = (
    ("shipping", "Shipping", "published", 2, "2026-03-04",
     "We ship from Portland, OR, from Monday to Friday. An order that comes before **11 a.m.** leaves on the same day.\n\n"
     "| Way | Time | Price |\n|---|---|---|\n| Standard | 5–7 days | $4.95 |\n| Express | 2 days | $12.95 |\n| Store pickup | 1–3 days | free |\n\n"
     "Boxes heavier than 25 kg go by freight; we call you first."),
    ("returns", "Returns and refunds", "published", 1, "2026-05-19",
     "You may return anything within **45 days**, unused and in its box. Write the order's number on the label.\n\n"
     "1. Ask for a label at the contact page.\n2. Drop the box at any post office.\n3. The refund takes six working days.\n\nMattress toppers and earphones only go back unopened."),
    ("guarantee", "Two-year guarantee", "published", 1, "2025-11-02",
     "Every product has a guarantee of two years. Cast iron, copper and solid oak have **ten**.\n\nKeep the invoice: it is all that we ask for. Batteries are covered for 14 months."),
    ("gift-cards", "Gift cards", "published", 2, "2025-12-01",
     "Gift cards come in amounts of $20, $50 and $120. They do not expire.\n\nA card pays for shipping as well. Two cards can be joined at the counter."),
    ("store", "Our store", "published", 1, "2026-04-27",
     "The store is at 14 Wharf Street, Portland, OR. It opens at 9:30 a.m. and closes at 6 p.m., on Saturdays at 4 p.m.\n\nParking is behind the building. Dogs are welcome on the first floor."),
    ("care", "How to care for materials", "published", 2, "2026-01-15",
     "- **Carbon steel:** dry it at once, oil it twice a year.\n- **Merino wool:** wash it at 30 degrees, never tumble it.\n- **Oak:** wipe up water within the hour.\n- **Copper:** rub it with half a lemon and salt."),
    ("summer-sale", "Summer sale", "draft", 2, "2026-06-11", "From June 22 on: 25 per cent off all tents, coolers and hammocks with the code **SUMMER25**.\n\nTo do: picture, end date."),
    ("careers", "Work with us", "draft", 1, "2026-06-02", "We look for two people in the warehouse and one in customer care, 32 hours a week.\n\nTo do: address for applications."),
)  # fmt: skip


def rows_of_pages() -> list[tuple[Any, ...]]:
    """Returns the rows of the table ``pages``."""
    return [(n, slug, title, body, *rest) for n, (slug, title, *rest, body) in enumerate(PAGES, 1)]


def add_shown(app: Flask) -> None:
    """Adds the published pages to the shop."""

    @app.route("/pages")
    def information() -> str:
        return render_template(
            "shop/pages.html",
            pages=rows("SELECT * FROM pages WHERE status = 'published' ORDER BY title"),
        )

    @app.route("/pages/<slug>")
    def information_page(slug: str) -> str:
        return render_template(
            "shop/page.html",
            page=row("SELECT * FROM pages WHERE slug = ? AND status = 'published'", slug),
        )


def _problem(slug: str, key: int) -> str:
    """Returns why a form cannot be saved, or "" if it can."""
    if (
        not field("title")
        or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
        or field("status") not in STATES
    ):
        return (
            "A page needs a title, a status, and an address of small letters, digits and hyphens."
        )
    taken = value("SELECT 1 FROM pages WHERE slug = ? AND id <> ?", slug, key)
    return f"Another page has the address {slug}." if taken else ""


def add_manager(app: Flask) -> None:
    """Adds the admin's pages: list, create, edit, delete."""

    @app.route("/pages")
    def pages() -> str:
        sql = "SELECT p.*, s.name AS author FROM pages p JOIN staff s ON s.id = author_id WHERE p.status = ? OR ? = '' ORDER BY p.title"
        wanted = request.args.get("status", "")
        return render_template("admin/pages.html", pages=rows(sql, wanted, wanted), states=STATES)

    @app.route("/pages/new", methods=["GET", "POST"])
    def new_page() -> Any:
        if request.method == "GET":
            return render_template("admin/page.html", page={"status": "draft"}, states=STATES)
        slug = field("slug", 60)
        if wrong := _problem(slug, 0):
            return back(wrong, "new_page")
        sql = "INSERT INTO pages (slug, title, body, status, author_id, edited) VALUES (?, ?, ?, ?, ?, ?)"
        key = run(
            sql, slug, field("title", 100), field("body"), field("status"), user(), str(TODAY)
        )
        return back("The page has been created.", "edit_page", key=key)

    @app.route("/pages/<int:key>", methods=["GET", "POST"])
    def edit_page(key: int) -> Any:
        found = row("SELECT * FROM pages WHERE id = ?", key)
        if request.method == "GET":
            return render_template("admin/page.html", page=found, states=STATES)
        if field("how") == "delete":
            run("DELETE FROM pages WHERE id = ?", key)
            return back(f"The page “{found['title']}” has been deleted.", "pages")
        slug = field("slug", 60)
        if wrong := _problem(slug, key):
            return back(wrong, "edit_page", key=key)
        written = {
            "slug": slug,
            "title": field("title", 100),
            "body": field("body"),
            "status": field("status"),
        }
        if any(found[name] != text for name, text in written.items()):
            sql = "UPDATE pages SET slug = ?, title = ?, body = ?, status = ?, author_id = ?, edited = ? WHERE id = ?"
            run(sql, *written.values(), user(), str(TODAY), key)
        return back("The page has been saved.", "edit_page", key=key)
