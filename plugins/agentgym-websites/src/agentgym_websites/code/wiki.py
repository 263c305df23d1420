"""Wikis of projects: pages with all their versions.

The current text of a page is that of its last edit.
"""

import random
import re
import sqlite3
from datetime import timedelta
from typing import Any

from flask import Flask, render_template, request

from agentgym_websites.code.common import find, may_write
from agentgym_websites.code.diff import compare
from agentgym_websites.site import (
    TODAY,
    add,
    back,
    database,
    field,
    row,
    rows,
    run,
    user,
    value,
)
from agentgym_websites.tables import tables

SCHEMA = """
CREATE TABLE wiki_pages (id INTEGER PRIMARY KEY, project_id INT, slug TEXT, title TEXT, UNIQUE (project_id, slug));
CREATE TABLE wiki_edits (id INTEGER PRIMARY KEY, page_id INT, author_id INT, message TEXT, body TEXT, made TEXT);
CREATE INDEX edits_of ON wiki_edits (page_id);
"""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_TABLES = tables("code/wiki")
# Address, title, text. {lead}, {second} and {third} are people of the project. The other fields are
# drawn; an edit draws one of them again.
PAGES: tuple[tuple[str, ...], ...] = _TABLES["pages"]
PARTS: tuple[str, ...] = _TABLES["parts"]
DRAWN: tuple[str, ...] = _TABLES["drawn"]
CURRENT = (
    "SELECT w.*, e.body, e.made, e.message, a.name AS author FROM wiki_pages w JOIN wiki_edits e ON e.id ="
    " (SELECT max(id) FROM wiki_edits WHERE page_id = w.id) JOIN people a ON a.id = e.author_id WHERE w.project_id = ?"
)


def _facts(rng: random.Random) -> dict[str, Any]:
    return {
        "day": rng.choice(DAYS), "hour": rng.randint(9, 16), "minute": rng.randint(12, 55), "room": rng.randint(101, 480), "freeze": rng.randint(2, 9), "runs": rng.randint(3, 12),
        "machines": rng.randint(2, 19), "wait": rng.randint(4, 72), "memory": rng.choice((4, 6, 8, 12, 16, 24)), "disk": rng.randint(10, 200), "year": rng.randint(2021, 2025),
    }  # fmt: skip


def fill(db: sqlite3.Connection) -> None:
    """Adds the pages of every project with their edits, oldest first."""
    rng, pages, edits = (
        random.Random("code wikis"),
        list[tuple[Any, ...]](),
        list[tuple[Any, ...]](),
    )
    for project in db.execute("SELECT * FROM projects ORDER BY id").fetchall():
        sql = "SELECT a.id, a.name FROM members m JOIN people a ON a.id = person_id WHERE m.project_id = ? ORDER BY a.id"
        team = db.execute(sql, (project["id"],)).fetchall()
        lead, second, third = (r["name"] for r in rng.sample(team, 3))
        parts = dict(zip(("part1", "part2", "part3"), rng.sample(PARTS, 3), strict=True))
        facts = (
            _facts(rng)
            | parts
            | {
                "name": project["name"],
                "what": project["description"][0].lower() + project["description"][1:],
            }
        )
        facts |= {"lead": lead, "second": second, "third": third}
        for slug, title, text in PAGES:
            key = len(pages) + 1
            pages.append((key, project["id"], slug, title))
            ago = sorted(rng.sample(range(3, 400), rng.randint(1, 4)), reverse=True)
            for n, days in enumerate(ago):
                message = "First version"
                if n:
                    changed = rng.choice([name for name in DRAWN if f"{{{name}}}" in text])
                    before = facts[changed]
                    while facts[changed] == before:
                        facts[changed] = _facts(rng)[changed]
                    message = f"{before} is now {facts[changed]}"
                edits.append(
                    (
                        len(edits) + 1,
                        key,
                        rng.choice(team)["id"],
                        message,
                        text.format(**facts),
                        str(TODAY - timedelta(days=days)),
                    )
                )
    add(db, "wiki_pages", *pages)
    add(db, "wiki_edits", *edits)


def _save(page: int, message: str) -> None:
    sql = "INSERT INTO wiki_edits (page_id, author_id, message, body, made) VALUES (?, ?, ?, ?, ?)"
    run(sql, page, user(), message, field("body").replace("\r\n", "\n"), str(TODAY))


def add_pages(app: Flask) -> None:
    """Adds the pages."""
    _reading(app)
    _writing(app)


def _reading(app: Flask) -> None:
    @app.route("/p/<name>/wiki")
    def wiki(name: str) -> str:
        found = find(name)
        return render_template(
            "code/wiki.html",
            project=found,
            pages=rows(CURRENT + " ORDER BY w.title", found["id"]),
            writable=may_write(found),
        )

    @app.route("/p/<name>/wiki/<slug>")
    def wiki_page(name: str, slug: str) -> str:
        found = find(name)
        shown = row(CURRENT + " AND slug = ?", found["id"], slug)
        pages = rows("SELECT * FROM wiki_pages WHERE project_id = ? ORDER BY title", found["id"])
        return render_template(
            "code/wiki_page.html", project=found, page=shown, pages=pages, writable=may_write(found)
        )

    @app.route("/p/<name>/wiki/<slug>/history")
    def wiki_history(name: str, slug: str) -> str:
        found = find(name)
        shown = row(CURRENT + " AND slug = ?", found["id"], slug)
        edits = rows(
            "SELECT e.*, a.name AS author FROM wiki_edits e JOIN people a ON a.id = author_id WHERE page_id = ? ORDER BY e.id DESC",
            shown["id"],
        )
        return render_template("code/wiki_history.html", project=found, page=shown, edits=edits)

    @app.route("/p/<name>/wiki/<slug>/history/<int:key>")
    def wiki_edit_shown(name: str, slug: str, key: int) -> str:
        found = find(name)
        shown = row(CURRENT + " AND slug = ?", found["id"], slug)
        edit = row(
            "SELECT e.*, a.name AS author FROM wiki_edits e JOIN people a ON a.id = author_id WHERE e.id = ? AND page_id = ?",
            key,
            shown["id"],
        )
        before = value(
            "SELECT body FROM wiki_edits WHERE page_id = ? AND id < ? ORDER BY id DESC LIMIT 1",
            shown["id"],
            key,
        )
        diffs = [compare(shown["title"], before, edit["body"])]
        return render_template(
            "code/wiki_edit_shown.html", project=found, page=shown, edit=edit, diffs=diffs
        )


def _writing(app: Flask) -> None:
    @app.route("/p/<name>/wiki/new", methods=["GET", "POST"])
    def wiki_new(name: str) -> Any:
        found = find(name)
        if request.method == "GET":
            return render_template("code/wiki_edit.html", project=found, page=None)
        slug = re.sub(r"[^a-z0-9]+", "-", field("title", 80).lower()).strip("-")
        taken = slug == "new" or value(
            "SELECT 1 FROM wiki_pages WHERE project_id = ? AND slug = ?", found["id"], slug
        )
        if not may_write(found) or not slug or not field("body") or taken:
            return back(
                "A page needs a text and a title that is not taken, and you must be a developer of the project.",
                "wiki_new",
                name=name,
            )
        with database():
            key = run(
                "INSERT INTO wiki_pages (project_id, slug, title) VALUES (?, ?, ?)",
                found["id"],
                slug,
                field("title", 80),
            )
            _save(key, field("message", 200) or "First version")
        return back("The page has been created.", "wiki_page", name=name, slug=slug)

    @app.route("/p/<name>/wiki/<slug>/edit", methods=["GET", "POST"])
    def wiki_edit(name: str, slug: str) -> Any:
        found = find(name)
        shown = row(CURRENT + " AND slug = ?", found["id"], slug)
        if request.method == "GET":
            return render_template("code/wiki_edit.html", project=found, page=shown)
        if not may_write(found) or not field("body"):
            return back(
                "A page needs a text, and you must be a developer of the project.",
                "wiki_page",
                name=name,
                slug=slug,
            )
        _save(shown["id"], field("message", 200) or f"Change {shown['title']}")
        return back("The page has been changed.", "wiki_page", name=name, slug=slug)
