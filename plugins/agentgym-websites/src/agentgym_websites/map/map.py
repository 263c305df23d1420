"""The map's pages for routes and saved places."""

from typing import Any

from flask import Flask, jsonify, request, url_for

from agentgym_websites.map import explore
from agentgym_websites.map.data import KINDS, ME
from agentgym_websites.map.found import (
    PLACE,
    PLACES,
    ends,
    matching,
    nearest,
    pins,
    shown,
    streets_matching,
)
from agentgym_websites.map.route import SPEEDS, drawn, find_route, instructions, told
from agentgym_websites.map.view import FARTHEST, LAYERS, TOWN, Mark, View, around, over
from agentgym_websites.map.view import PLACE as NEAR
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
    name="map",
    title="Wayfinder",
    colour="#15803d",
    tables="map",
    people="SELECT id, name, login, password FROM people",
    places=(
        ("Directions", "directions"), ("Nearby", "nearby"), ("Towns", "towns"), ("Buses", "lines"), ("Notes", "notes"), ("Saved places", "saved"),
    ),
    user=ME,
)  # fmt: skip
LISTS = ("Want to go", "Favorites", "Avoid")
COUNTY: View = over(60, 45, FARTHEST)
SUGGESTED = 7
WITHIN = (1, 2, 5, 20)
"""Choices of a radius in kilometres."""


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)
    app.jinja_env.globals |= {
        "latitude": lambda y: f"{44 + y / 111:.4f}",
        "longitude": lambda x: f"{-72 + x / 80:.4f}",
        "layers": LAYERS,
        "degrees": lambda x, y: over(x, y, NEAR),
        "at_place": lambda x, y: over(x, y, NEAR).address,
        "at_town": lambda x, y: over(x, y, TOWN).address,
    }
    app.jinja_env.filters["told"] = told
    _find(app)
    _places(app)
    _go(app)
    _keep(app)
    explore.add_pages(app)
    return app


def _find(app: Flask) -> None:
    @app.route("/")
    def home() -> str:
        return shown("map/home.html", COUNTY, towns=rows("SELECT * FROM towns ORDER BY name"))

    @app.route("/search")
    def search() -> str:
        words = request.args.get("q", "")
        places, streets = matching(words), streets_matching(words)
        towns = rows(
            "SELECT * FROM towns WHERE ? <> '' AND name LIKE ? ORDER BY name",
            words.strip(),
            f"%{words.strip()}%",
        )
        marks = pins(places)
        view = around(*((m.x, m.y) for m in marks)) if marks else COUNTY
        return shown("map/search.html", view, marks, places=places, streets=streets, towns=towns)

    @app.route("/suggest")
    def suggest() -> Any:
        """Returns the suggestions of a search field.

        ``places`` leaves out streets, which cannot be ends of a route.
        """
        words, places = request.args.get("q", "").strip(), request.args.get("kind") == "places"
        found = [
            (t["name"], "town", url_for("town", key=t["id"]))
            for t in rows("SELECT * FROM towns WHERE name LIKE ?", f"{words}%")
        ]
        found += [
            (p["name"], f"{p['category']}, {p['town']}", url_for("place", key=p["id"]))
            for p in matching(words)
        ]
        if not places:
            found += [
                (s["name"], f"street, {s['town']}", url_for("street", key=s["id"]))
                for s in streets_matching(words, SUGGESTED)
            ]
        first = sorted(found, key=lambda f: not f[0].lower().startswith(words.lower()))
        return jsonify(
            [
                {"text": text, "more": more, "address": address}
                for text, more, address in first[:SUGGESTED]
            ]
            if words
            else []
        )

    @app.route("/towns")
    def towns() -> str:
        sql = "SELECT t.*, (SELECT count(*) FROM places WHERE town_id = t.id) AS places FROM towns t ORDER BY name"
        return shown("map/towns.html", COUNTY, towns=rows(sql))

    @app.route("/town/<int:key>")
    def town(key: int) -> str:
        found = row("SELECT * FROM towns WHERE id = ?", key)
        condition, values = where(
            {"p.town_id = ?": key, "category = ?": request.args.get("category")}
        )
        listed = page(
            PLACE,
            PLACES + condition,
            "rating DESC, p.name" if request.args.get("sort") == "rating" else "p.name",
            values,
            size=15,
        )
        streets = rows("SELECT * FROM streets WHERE town_id = ? ORDER BY name", key)
        lines = rows("SELECT * FROM lines WHERE town_id = ? ORDER BY number", key)
        view = over(found["x"], found["y"], TOWN)
        return shown(
            "map/town.html",
            view,
            town=found,
            found=listed,
            kinds=sorted(KINDS),
            streets=streets,
            lines=lines,
        )


def _places(app: Flask) -> None:
    @app.route("/place/<int:key>", methods=["GET", "POST"])
    def place(key: int) -> Any:
        found = row(
            f"SELECT {PLACE}, s.name AS street FROM streets s JOIN {PLACES} s.id = street_id AND p.id = ?",
            key,
        )
        if request.method == "POST":
            return _review(key)
        kept = rows("SELECT * FROM saved WHERE person_id = ? AND place_id = ?", user(), key)
        details = rows("SELECT * FROM details WHERE place_id = ? ORDER BY rowid", key)
        reviews = rows(
            "SELECT * FROM reviews WHERE place_id = ? ORDER BY written DESC, id DESC", key
        )
        marks, view = pins([found]), over(found["spot_x"], found["spot_y"], NEAR)
        values: dict[str, Any] = {
            "kept": kept,
            "lists": LISTS,
            "details": details,
            "reviews": reviews,
        }
        return shown("map/place.html", view, marks, place=found, **values)

    def _review(key: int) -> Any:
        stars, text = number("stars", 1, 5), field("review", 1000)
        if stars is None or len(text) < 10:
            return back(
                "A review has one to five stars and at least 10 characters.", "place", key=key
            )
        name = value("SELECT name FROM people WHERE id = ?", user())
        columns = "place_id, author, stars, written, body, tip"
        run(
            f"INSERT INTO reviews ({columns}) VALUES (?, ?, ?, ?, ?, '')",
            key,
            name,
            stars,
            TODAY.isoformat(),
            text,
        )
        return back("Thank you for your review.", "place", key=key)


def _go(app: Flask) -> None:
    @app.route("/directions")
    def directions() -> str:
        texts = {end: request.args.get(end, "") for end in ("from", "to")}
        found = {end: ends(text) for end, text in texts.items()}
        mode = request.args.get("mode", "car")
        route, turns, way = None, [], []
        known = [places[0] for places in found.values() if len(places) == 1]
        spots = [(p["spot_x"], p["spot_y"]) for p in known]
        if len(known) == 2 and mode in SPEEDS:
            route = find_route(database(), known[0]["node_id"], known[1]["node_id"], mode)
        if route is not None:
            turns, way = list(instructions(database(), route)), drawn(database(), route)
        marks = [
            Mark(*spot, p["name"], kind=end)
            for spot, p, end in zip(spots, known, ("start", "pin"), strict=False)
        ]
        view = around(*spots) if spots else COUNTY
        return shown(
            "map/directions.html",
            view,
            marks,
            way,
            texts=texts,
            found=found,
            mode=mode,
            route=route,
            turns=turns,
        )

    @app.route("/nearby")
    def nearby() -> str:
        text, category, within = (
            request.args.get("near", ""),
            request.args.get("category", ""),
            number("within", 1, 100),
        )
        centres = matching(text)
        listed, marks = [], pins(centres[:1])
        if len(centres) == 1 and category in KINDS:
            others = rows(
                f"SELECT {PLACE} FROM {PLACES} category = ? AND p.id <> ?",
                category,
                centres[0]["id"],
            )
            listed = nearest(others, centres[0]["x"], centres[0]["y"])
            listed = [pair for pair in listed if pair[0] <= within] if within else listed[:10]
            marks = [*pins([p for _, p in listed]), *(m._replace(kind="start") for m in marks)]
        view = around(*((m.x, m.y) for m in marks)) if marks else COUNTY
        values: dict[str, Any] = {
            "text": text,
            "category": category,
            "centres": centres,
            "listed": listed,
            "kinds": sorted(KINDS),
        }
        return shown("map/nearby.html", view, marks, **values, within=within, radii=WITHIN)


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
            run(
                "INSERT OR REPLACE INTO saved VALUES (?, ?, ?, ?)",
                user(),
                key["id"],
                field("list"),
                field("note", 300),
            )
            return back(f"{key['name']} is saved to “{field('list')}”.", "place", key=key["id"])
        chosen = request.args.get("list")
        condition, values = where({"person_id = ?": user(), "list = ?": chosen})
        sql = f"SELECT p.*, t.name AS town, list, note FROM saved JOIN places p ON p.id = place_id JOIN towns t ON t.id = p.town_id WHERE {condition}"
        places = rows(sql + " ORDER BY p.name", *values)
        marks = pins(places)
        view = around(*((m.x, m.y) for m in marks)) if marks else COUNTY
        return shown("map/saved.html", view, marks, places=places, lists=LISTS, home=_home())

    @app.route("/home", methods=["POST"])
    def set_home() -> Any:
        key = row("SELECT * FROM places WHERE id = ?", number("place") or 0)
        run("UPDATE people SET home_id = ? WHERE id = ?", key["id"], user())
        return back(f"{key['name']} is your starting point now.", "place", key=key["id"])


def _home() -> str:
    return str(
        value(
            "SELECT p.name FROM people JOIN places p ON p.id = home_id WHERE people.id = ?", user()
        )
    )
