"""The map's pages."""

import sqlite3
from math import dist
from typing import Any

from flask import Flask, render_template, request

from agentgym_envs.envs.web.sites.map.data import KINDS, ME
from agentgym_envs.envs.web.sites.map.route import SPEEDS, find_route, told
from agentgym_envs.envs.web.sites.site import (
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
    name="map",
    title="Wayfinder",
    colour="#15803d",
    tables="map",
    people="SELECT id, name, login, password FROM people",
    places=(("Directions", "directions"), ("Nearby", "nearby"), ("Towns", "towns"), ("Saved places", "saved")),
    user=ME,
)
PLACE = "p.*, t.name AS town, n.x, n.y"
PLACES = "places p JOIN towns t ON t.id = p.town_id JOIN nodes n ON n.id = p.node_id WHERE "
LISTS = ("Want to go", "Favorites", "Avoid")


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)
    app.jinja_env.globals |= {"latitude": lambda y: f"{44 + y / 111:.4f}", "longitude": lambda x: f"{-72 + x / 80:.4f}"}
    app.jinja_env.filters["told"] = told
    _find(app)
    _go(app)
    _keep(app)
    return app


def matching(words: str) -> list[sqlite3.Row]:
    """Returns the places that words may mean: one of exactly this name, or all whose name, street and town hold every word."""
    exact = rows(f"SELECT {PLACE} FROM {PLACES} lower(p.name) = lower(?)", words.strip())
    if exact or not words.strip():
        return exact
    condition, values = where(
        {
            f"(p.name || ' ' || address || ' ' || t.name || ' ' || category) LIKE ? /* {n} */": f"%{w}%"
            for n, w in enumerate(words.split())
        }
    )
    return rows(f"SELECT {PLACE} FROM {PLACES} {condition} ORDER BY p.name LIMIT 40", *values)


def _chart() -> dict[str, Any]:
    """Returns what a drawing of the county needs."""
    roads = rows(
        "SELECT a.x AS x1, a.y AS y1, b.x AS x2, b.y AS y2, kind FROM roads JOIN nodes a ON a.id = a JOIN nodes b ON b.id = b WHERE kind <> 'street'"
    )
    return {"roads": roads, "towns": rows("SELECT * FROM towns")}


def _find(app: Flask) -> None:
    @app.route("/")
    def home() -> str:
        return render_template("map/home.html", **_chart())

    @app.route("/search")
    def search() -> str:
        return render_template("map/search.html", places=matching(request.args.get("q", "")))

    @app.route("/place/<int:key>")
    def place(key: int) -> str:
        found = row(f"SELECT {PLACE} FROM {PLACES} p.id = ?", key)
        kept = rows("SELECT * FROM saved WHERE person_id = ? AND place_id = ?", user(), key)
        return render_template("map/place.html", place=found, kept=kept, lists=LISTS, **_chart())

    @app.route("/towns")
    def towns() -> str:
        sql = "SELECT t.*, (SELECT count(*) FROM places WHERE town_id = t.id) AS places FROM towns t ORDER BY name"
        return render_template("map/towns.html", towns=rows(sql))

    @app.route("/town/<int:key>")
    def town(key: int) -> str:
        found = row("SELECT * FROM towns WHERE id = ?", key)
        condition, values = where({"p.town_id = ?": key, "category = ?": request.args.get("category")})
        listed = page(
            PLACE, PLACES + condition, "rating DESC, p.name" if request.args.get("sort") == "rating" else "p.name", values, size=15
        )
        return render_template("map/town.html", town=found, found=listed, kinds=sorted(KINDS))


def _go(app: Flask) -> None:
    @app.route("/directions")
    def directions() -> str:
        texts = {end: request.args.get(end, "") for end in ("from", "to")}
        found = {end: matching(text) for end, text in texts.items()}
        mode = request.args.get("mode", "car")
        route = None
        if all(len(places) == 1 for places in found.values()) and mode in SPEEDS:
            route = find_route(database(), found["from"][0]["node_id"], found["to"][0]["node_id"], mode)
        return render_template("map/directions.html", texts=texts, found=found, mode=mode, route=route, **_chart())

    @app.route("/nearby")
    def nearby() -> str:
        text, category = request.args.get("near", ""), request.args.get("category", "")
        centres = matching(text)
        listed = []
        if len(centres) == 1 and category in KINDS:
            centre = (centres[0]["x"], centres[0]["y"])
            others = rows(f"SELECT {PLACE} FROM {PLACES} category = ? AND p.id <> ?", category, centres[0]["id"])
            listed = sorted(
                ((round(dist(centre, (o["x"], o["y"])), 2), o) for o in others), key=lambda pair: (pair[0], pair[1]["name"])
            )[:10]
        return render_template("map/nearby.html", text=text, category=category, centres=centres, listed=listed, kinds=sorted(KINDS))


def _keep(app: Flask) -> None:
    @app.route("/saved", methods=["GET", "POST"])
    def saved() -> Any:
        if request.method == "POST":
            key = row("SELECT * FROM places WHERE id = ?", number("place") or 0)
            if field("how") == "remove":
                run("DELETE FROM saved WHERE person_id = ? AND place_id = ?", user(), key["id"])
                return back(f"{key['name']} is no longer saved.", "saved")
            if field("list") not in LISTS:
                return back("Choose a list.", "place", key=key["id"])
            run("INSERT OR REPLACE INTO saved VALUES (?, ?, ?, ?)", user(), key["id"], field("list"), field("note", 300))
            return back(f"{key['name']} is saved to “{field('list')}”.", "place", key=key["id"])
        chosen = request.args.get("list")
        condition, values = where({"person_id = ?": user(), "list = ?": chosen})
        sql = f"SELECT p.*, t.name AS town, list, note FROM saved JOIN places p ON p.id = place_id JOIN towns t ON t.id = p.town_id WHERE {condition}"
        return render_template("map/saved.html", places=rows(sql + " ORDER BY p.name", *values), lists=LISTS, home=_home())

    @app.route("/home", methods=["POST"])
    def set_home() -> Any:
        key = row("SELECT * FROM places WHERE id = ?", number("place") or 0)
        run("UPDATE people SET home_id = ? WHERE id = ?", key["id"], user())
        return back(f"{key['name']} is your starting point now.", "place", key=key["id"])


def _home() -> str:
    return str(value("SELECT p.name FROM people JOIN places p ON p.id = home_id WHERE people.id = ?", user()))
