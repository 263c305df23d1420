"""Shared parts of the five sites: Flask application, database, login, formats, paged lists."""

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from flask import Flask, abort, flash, redirect, render_template, request, session, url_for
from markdown_it import MarkdownIt
from markupsafe import Markup
from werkzeug.exceptions import HTTPException
from werkzeug.routing import IntegerConverter

TODAY = date(2026, 6, 15)
"""The day of every episode."""
ORIGINS: Mapping[str, str] = {
    "shop": "http://shop.test",
    "admin": "http://admin.shop.test",
    "forum": "http://forum.test",
    "code": "http://code.test",
    "map": "http://map.test",
}
"""The origin of each site in an episode."""
DATABASE, HOSTS = "agentgym.database", "agentgym.origins"  # keys of the WSGI environment
FOLDER = Path(__file__).parent
_MARKDOWN = MarkdownIt("js-default")


class Site(NamedTuple):
    """The presentation of a site.

    Attributes:
        name: a key of ``ORIGINS``.
        title: title in the header.
        colour: colour of links and buttons.
        tables: name of the database; the shop and its admin share one.
        people: SQL that returns ``id, name`` for a ``login`` and ``password``.
        places: the header's links: a text and an endpoint.
        user: id of the person who is signed in when an episode starts.
    """

    name: str
    title: str
    colour: str
    tables: str
    people: str
    places: Sequence[tuple[str, str]]
    user: int


def database() -> sqlite3.Connection:
    """Returns the database of the current request."""
    connection: sqlite3.Connection = request.environ[DATABASE]
    return connection


def rows(sql: str, *values: Any) -> list[sqlite3.Row]:
    """Returns the rows that a query finds."""
    return database().execute(sql, values).fetchall()


def row(sql: str, *values: Any) -> sqlite3.Row:
    """Returns the first row that a query finds; answers "404 Not Found" without one."""
    found: sqlite3.Row | None = database().execute(sql, values).fetchone()
    if found is None:
        abort(404)
    return found


def value(sql: str, *values: Any) -> Any:
    """Returns the first column of the first row, or None."""
    found = database().execute(sql, values).fetchone()
    return found[0] if found else None


def run(sql: str, *values: Any) -> int:
    """Changes the database; returns the id of the added row."""
    with database() as connection:
        return connection.execute(sql, values).lastrowid or 0


def user() -> int:
    """Returns the id of the signed-in person; answers with the login page without one."""
    if "user" not in session:
        abort(redirect(url_for("login", next=request.full_path)))
    return int(session["user"])


def field(name: str, limit: int = 4000) -> str:
    """Returns the value of a form's field, trimmed."""
    return request.form.get(name, "").strip()[:limit]


def number(name: str, lowest: int = 0, highest: int = 10**9) -> int | None:
    """Returns a whole number from a form or an address; None if it is missing or out of range."""
    try:
        found = int(request.values.get(name, ""))
    except ValueError:
        return None
    return found if lowest <= found <= highest else None


def cents(name: str, highest: int = 10**9) -> int | None:
    """Returns an amount from a form in cents; None unless it is from 0 to ``highest``."""
    try:
        found = 100 * float(request.values.get(name, ""))
    except ValueError:
        return None
    return round(found) if 0 <= found <= highest else None


def back(message: str, endpoint: str, **values: Any) -> Any:
    """Shows a message on another page."""
    flash(message)
    return redirect(url_for(endpoint, **values))


class Page(NamedTuple):
    """A page of a list."""

    rows: list[sqlite3.Row]
    total: int
    number: int
    last: int


def page(columns: str, tables: str, order: str, values: Sequence[Any] = (), size: int = 20) -> Page:
    """Returns the page of a list that the parameter ``page`` of the address selects."""
    total = value(f"SELECT count(*) FROM {tables}", *values)
    last = max(1, ceil(total / size))
    current = min(number("page", 1) or 1, last)
    sql = f"SELECT {columns} FROM {tables} ORDER BY {order} LIMIT {size} OFFSET {(current - 1) * size}"
    return Page(rows(sql, *values), total, current, last)


def where(conditions: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Joins the conditions, each with one ``?``, that have a value.

    Returns:
        SQL that follows WHERE, and the values.
    """
    given = {sql: v for sql, v in conditions.items() if v not in (None, "")}
    return " AND ".join(given) or "1", list(given.values())


def add(db: sqlite3.Connection, table: str, *rows: tuple[Any, ...]) -> None:
    """Adds rows of equal length, with values in the order of the table's columns.

    Missing columns keep their defaults.
    """
    if rows:
        columns = [r[1] for r in db.execute(f"PRAGMA table_info({table})")][: len(rows[0])]
        db.executemany(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
            rows,
        )


def password(login: str) -> str:
    """Returns the password of a person who is not a demonstration user."""
    return hashlib.sha256(login.encode()).hexdigest()[:8]


def money(cents: int) -> str:
    """Formats an amount.

    >>> money(123456)
    '$1,234.56'
    """
    return f"${cents / 100:,.2f}"


def day(text: str) -> str:
    """Formats a date.

    >>> day("2026-06-02")
    'Jun 2, 2026'
    """
    found = date.fromisoformat(text[:10])
    return f"{found:%b} {found.day}, {found.year}"


def marked(text: str) -> Markup:
    """Renders Markdown; markup within the text is escaped."""
    return Markup(_MARKDOWN.render(text))


class _Key(IntegerConverter):
    """The number of a row in an address; a number too large for SQLite matches no page."""

    def __init__(self, map: Any):
        super().__init__(map, max=2**63 - 1)


def _part(name: str) -> str:
    """Returns a file of the templates, or "" if a site has none."""
    file = FOLDER / "templates" / name
    return file.read_text(encoding="utf-8") if file.exists() else ""


def make_app(site: Site) -> Flask:
    """Returns an application with the shared layout and the pages for logging in and out."""
    app = Flask(
        f"agentgym-{site.name}", template_folder=str(FOLDER / "templates"), static_folder=None
    )
    app.url_map.converters["int"] = _Key
    app.secret_key = f"agentgym {site.name}"
    # Ports of one machine share their cookies.
    app.config["SESSION_COOKIE_NAME"] = f"session_{site.name}"
    app.jinja_env.filters |= {"money": money, "day": day, "markdown": marked}
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    css, script = (
        _part("style.css") + _part(f"{site.name}/style.css"),
        _part("suggest.js") + _part(f"{site.name}/script.js"),
    )

    @app.context_processor
    def shared() -> dict[str, Any]:
        found = session.get("user")
        name = value(f"SELECT name FROM ({site.people}) WHERE id = ?", found) if found else None
        return {
            "site": site,
            "css": css,
            "script": script,
            "me": found,
            "me_name": name,
            "hosts": request.environ[HOSTS],
            "today": TODAY,
        }

    @app.template_global()
    def here(**changes: Any) -> str:
        """Returns the address of this page with other parameters."""
        values = (
            {**request.view_args, **request.args, **changes}
            if request.view_args
            else {**request.args, **changes}
        )
        return url_for(
            str(request.endpoint), **{k: v for k, v in values.items() if v not in (None, "")}
        )

    @app.errorhandler(HTTPException)
    def failed(error: HTTPException) -> Any:
        if error.response is not None:
            return error.response
        return render_template("error.html", error=error), error.code or 500

    @app.route("/login", methods=["GET", "POST"])
    def login() -> Any:
        if request.method == "POST":
            found = rows(
                f"SELECT id FROM ({site.people}) WHERE login = ? AND password = ?",
                field("login"),
                field("password"),
            )
            if found:
                session["user"] = found[0]["id"]
                target = request.args.get("next", "/")
                return redirect(
                    target if target.startswith("/") and not target.startswith("//") else "/"
                )
            flash("The user name or the password is wrong.")
        return render_template(
            "login.html",
            hint=row(f"SELECT login, password FROM ({site.people}) WHERE id = ?", site.user),
        )

    @app.route("/logout", methods=["POST"])
    def logout() -> Any:
        session.clear()
        return redirect("/")

    return app


def signed_in(app: Flask, who: int) -> str:
    """Returns the session cookie of a person."""
    serializer: Any = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    return str(serializer.dumps({"user": who}))


def open_database(content: bytes | None = None) -> sqlite3.Connection:
    """Returns a database in memory; its rows can be read by column name.

    Args:
        content: snapshot to load; None for an empty database.
    """
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.row_factory = sqlite3.Row
    if content is not None:
        connection.deserialize(content)
    return connection
