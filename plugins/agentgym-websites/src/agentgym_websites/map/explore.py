"""The map's pages about streets, buses, points and notes on the map."""

from typing import Any

from flask import Flask, request

from agentgym_websites.map.found import around_here, shown
from agentgym_websites.map.route import points
from agentgym_websites.map.view import (
    BUSES,
    FARTHEST,
    PLACE,
    TOWN,
    Mark,
    View,
    around,
    asked,
    over,
)
from agentgym_websites.site import (
    TODAY,
    back,
    field,
    page,
    row,
    rows,
    run,
    user,
    value,
    where,
)

COUNTY = over(60, 45, FARTHEST)
LINES = "SELECT l.*, t.name AS town FROM lines l JOIN towns t ON t.id = l.town_id"
NOTES = "SELECT o.*, t.name AS town FROM notes o JOIN towns t ON t.id = o.town_id"
SHORTEST = 5  # minimum length of a note in characters


def add_pages(app: Flask) -> None:
    """Adds the pages to the map."""
    _streets(app)
    _buses(app)
    _points(app)
    _notes(app)


def _whole(*paths: str) -> View:
    return around(*((x / 1000, y / 1000) for path in paths for x, y in points(path)))


def _streets(app: Flask) -> None:
    @app.route("/street/<int:key>")
    def street(key: int) -> str:
        found = row("SELECT s.*, t.name AS town, o.name AS off FROM streets s JOIN towns t ON t.id = s.town_id LEFT JOIN streets o ON o.id = s.off_id WHERE s.id = ?", key)  # fmt: skip
        crossed = "SELECT DISTINCT s.* FROM crossings c JOIN crossings d ON d.node_id = c.node_id JOIN streets s ON s.id = d.street_id"
        crossing = rows(f"{crossed} WHERE c.street_id = ? AND s.id <> ? ORDER BY s.name", key, key)
        branches = rows("SELECT * FROM streets WHERE off_id = ? ORDER BY name", key)
        places = rows(
            "SELECT * FROM places WHERE street_id = ? ORDER BY CAST(address AS INT), name", key
        )
        values: dict[str, Any] = {"crossing": crossing, "branches": branches, "places": places}
        return shown(
            "map/street.html", _whole(found["path"]), way=[found["path"]], street=found, **values
        )


def _buses(app: Flask) -> None:
    @app.route("/lines")
    def lines() -> str:
        return shown(
            "map/lines.html",
            COUNTY._replace(layer="transport"),
            lines=rows(LINES + " ORDER BY t.name, number"),
        )

    @app.route("/line/<int:key>")
    def line(key: int) -> str:
        found = row(LINES + " WHERE l.id = ?", key)
        stops = rows(
            "SELECT h.* FROM stops JOIN halts h ON h.id = node_id WHERE line_id = ? ORDER BY position",
            key,
        )
        way = [r["path"] for r in rows(f"{BUSES} WHERE l.id = ?", key)]
        marks = [Mark(s["x"], s["y"], s["name"], kind="halt") for s in stops]
        return shown(
            "map/line.html",
            _whole(*way)._replace(layer="transport"),
            marks,
            way,
            line=found,
            stops=stops,
        )

    @app.route("/stop/<int:key>")
    def stop(key: int) -> str:
        found = row(
            "SELECT h.*, t.name AS town FROM halts h JOIN towns t ON t.id = in_town WHERE h.id = ?",
            key,
        )
        calling = rows(
            LINES + " JOIN stops ON line_id = l.id WHERE node_id = ? ORDER BY number", key
        )
        view = over(found["x"], found["y"], PLACE)._replace(layer="transport")
        return shown(
            "map/stop.html",
            view,
            [Mark(found["x"], found["y"], found["name"])],
            stop=found,
            lines=calling,
        )


def _points(app: Flask) -> None:
    @app.route("/here")
    def here_is() -> str:
        view = asked(
            {k: v for k, v in request.args.items() if k in ("lat", "lon")}, over(60, 45, PLACE)
        )
        x, y = view.middle
        return shown("map/here.html", view, [Mark(x, y, "Here")], point=view, **around_here(x, y))


def _notes(app: Flask) -> None:
    @app.route("/notes", methods=["GET", "POST"])
    def notes() -> Any:
        if request.method == "POST":
            return _added()
        condition, values = where({"t.name = ?": request.args.get("town")})
        tables = f"notes o JOIN towns t ON t.id = o.town_id WHERE {condition}"
        found = page("o.*, t.name AS town", tables, "written DESC, o.id DESC", values, size=15)
        texts = [f"Note on the {n['subject']}" if n["subject"] else "Note" for n in found.rows]
        marks = [
            Mark(n["x"], n["y"], text, f"/note/{n['id']}", n["state"])
            for n, text in zip(found.rows, texts, strict=True)
        ]
        view = around(*((m.x, m.y) for m in marks)) if marks else COUNTY
        return shown(
            "map/notes.html",
            view,
            marks,
            found=found,
            towns=[t["name"] for t in rows("SELECT name FROM towns ORDER BY name")],
        )

    def _added() -> Any:
        view, text = asked(request.form, COUNTY), field("text", 1000)
        if len(text) < SHORTEST:
            return back(
                f"A note has at least {SHORTEST} characters.",
                "new_note",
                lat=view.lat,
                lon=view.lon,
            )
        x, y = (round(n, 3) for n in view.middle)
        columns = "town_id, x, y, author, written, state, body, street_id, subject"
        values = (
            around_here(x, y)["town"]["id"],
            x,
            y,
            _name(),
            TODAY.isoformat(),
            "open",
            text,
            None,
            "",
        )
        key = run(f"INSERT INTO notes ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *values)
        return back("Your note is on the map.", "note", key=key)

    @app.route("/note/new")
    def new_note() -> str:
        user()
        view = asked(
            {k: v for k, v in request.args.items() if k in ("lat", "lon")}, over(60, 45, TOWN)
        )
        return shown(
            "map/newnote.html",
            view._replace(zoom=PLACE),
            [Mark(*view.middle, "Your note", kind="open")],
            point=view,
        )

    @app.route("/note/<int:key>", methods=["GET", "POST"])
    def note(key: int) -> Any:
        found = row(
            f"SELECT o.*, s.name AS street FROM ({NOTES}) o LEFT JOIN streets s ON s.id = street_id WHERE o.id = ?",
            key,
        )
        if request.method == "POST":
            return _answered(key)
        remarks = rows("SELECT * FROM remarks WHERE note_id = ? ORDER BY written, id", key)
        mark = Mark(found["x"], found["y"], "Note", kind=found["state"])
        return shown(
            "map/note.html",
            over(found["x"], found["y"], PLACE),
            [mark],
            note=found,
            remarks=remarks,
        )

    def _answered(key: int) -> Any:
        name, text, how = _name(), field("text", 1000), field("how")
        if how == "comment" and not text:
            return back("Say something.", "note", key=key)
        if text:
            run(
                "INSERT INTO remarks (note_id, author, written, body) VALUES (?, ?, ?, ?)",
                key,
                name,
                TODAY.isoformat(),
                text,
            )
        if how in ("open", "resolved"):
            run("UPDATE notes SET state = ? WHERE id = ?", how, key)
        return back(
            {"open": "The note is open again.", "resolved": "The note is resolved."}.get(
                how, "Your comment is added."
            ),
            "note",
            key=key,
        )


def _name() -> str:
    return str(value("SELECT name FROM people WHERE id = ?", user()))
