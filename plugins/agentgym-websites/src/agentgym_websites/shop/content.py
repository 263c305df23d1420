"""The shop's content pages: staff creates, edits and publishes them in the admin."""

import re
from typing import Any

from flask import Flask, render_template, request

from agentgym_websites.site import TODAY, back, field, row, rows, run, user, value
from agentgym_websites.tables import tables

STATES = ("draft", "published")
_TABLES = tables("shop/content")
# Address, title, status, author, day, Markdown.
PAGES: tuple[tuple[str, str, str, int, str, str], ...] = _TABLES["pages"]


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
