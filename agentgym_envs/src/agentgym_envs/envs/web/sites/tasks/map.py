"""What there is to do on the map."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from math import dist
from typing import Any
from urllib.parse import quote_plus

from agentgym_envs.envs.web.sites.map.data import KINDS, ME
from agentgym_envs.envs.web.sites.map.route import Route, find_route, told
from agentgym_envs.envs.web.sites.map.turns import instructions
from agentgym_envs.envs.web.sites.map.view import LAYERS, over
from agentgym_envs.envs.web.sites.map.view import PLACE as NEAR
from agentgym_envs.envs.web.sites.site import ORIGINS
from agentgym_envs.envs.web.sites.tasks import answer
from agentgym_envs.envs.web.sites.tasks.template import Made, World, becomes, each, ends_at, template
from agentgym_envs.envs.web.steps import Step, choose, click, fill, goto, search, stop

MAP = ORIGINS["map"]
PLACES = "SELECT p.*, p.name AS place, t.name AS town, n.x, n.y FROM places p JOIN towns t ON t.id = town_id JOIN nodes n ON n.id = node_id WHERE "


def _place(place: Any) -> list[Step]:
    return [search(place["name"]), click(place["name"])]


def _pairs(world: World, rng: random.Random, near: bool = False) -> Iterator[tuple[Any, Any]]:
    places = world.rows("map", PLACES + "1")
    while True:
        a, b = rng.sample(places, 2)
        if a["node_id"] != b["node_id"] and (a["town_id"] == b["town_id"]) == near:
            yield a, b


def _route(world: World, a: Any, b: Any, mode: str) -> Route | None:
    return find_route(world.database("map"), a["node_id"], b["node_id"], mode)


def _directions(a: Any, b: Any, mode: str) -> list[Step]:
    by = {"bike": "Bike", "foot": "Foot"}.get(mode)
    return [
        click("Directions"),
        fill("From", a["name"]),
        fill("To", b["name"]),
        *([choose("By", by)] if by else []),
        click("Go", "button"),
    ]


def _nearest(world: World, place: Any, category: str) -> list[tuple[float, Any]]:
    others = world.rows("map", PLACES + "category = ? AND p.id <> ?", category, place["id"])
    return sorted(
        ((round(dist((place["x"], place["y"]), (o["x"], o["y"])), 2), o) for o in others),
        key=lambda pair: (pair[0], pair[1]["name"]),
    )


def _nearby(place: Any, category: str) -> list[Step]:
    return [click("Nearby"), choose("Find the nearest", category), fill("Near", place["name"]), click("Find", "button")]


def _coordinates(place: Any) -> str:
    return f"{44 + place['y'] / 111:.4f}, {-72 + place['x'] / 80:.4f}"


ADDRESSES = "map:SELECT address FROM places"
Fact = Callable[[Any], Any]
FACTS: tuple[tuple[str, Fact, Callable[[Any], dict[str, Any]]], ...] = (
    ("What is the telephone number of the {place}?", lambda p: p["phone"], answer.codes),
    ("What is the street address of the {place}?", lambda p: p["address"], partial(answer.name, among=ADDRESSES)),
    ("What is the ZIP code of the {place}?", lambda p: p["zip"], answer.codes),
    ("When does the {place} close? Answer like 17:00.", lambda p: f"{p['closes']:02}:00", answer.time),
    ("What are the coordinates of the {place}? Answer like 44.1234, -71.1234.", _coordinates, answer.point),
)


def _ask(intent: str, sql: str, fact: Fact, kind: Callable[[Any], dict[str, Any]], steps: Callable[[Any], list[Step]]) -> None:
    """Adds a template that asks for what the last page of some steps tells."""
    each("map", "find", intent, "map", sql, check=lambda p: kind(fact(p)), steps=lambda p: [*steps(p), stop(fact(p))])


for _intent, _fact, _kind in FACTS:
    _ask(_intent, PLACES + "1", _fact, _kind, _place)
_ask(
    "How many inhabitants does {town} have?",
    "SELECT *, name AS town FROM towns",
    lambda t: t["population"],
    answer.number,
    lambda t: [click("Towns")],
)


def _trip(world: World, rng: random.Random, mode: str, what: str, near: bool = False) -> Iterator[Made]:
    for a, b in _pairs(world, rng, near):
        if route := _route(world, a, b, mode):
            text = f"{route.km} km" if what == "km" else told(route.minutes)
            check = answer.number(route.km) if what == "km" else answer.duration(route.minutes)
            yield Made({"from_": a["name"], "to": b["name"]}, check, [*_directions(a, b, mode), stop(text)])


LIKE = "Answer as the map writes it, like 1 h 5 min or 25 min."
TRIPS = (
    ("How far is it by car from the {from_} to the {to}? Answer like 12.5 km.", "car", "km", False),
    (f"How long does it take by car from the {{from_}} to the {{to}}? {LIKE}", "car", "time", False),
    (f"How long does it take by bike from the {{from_}} to the {{to}}? {LIKE}", "bike", "time", False),
    ("How many minutes is it on foot from the {from_} to the {to}? Answer like 7 min.", "foot", "time", True),
)
for _intent, _mode, _what, _near_by in TRIPS:
    template("map", "find", _intent)(partial(_trip, mode=_mode, what=_what, near=_near_by))


@template(
    "map",
    "find",
    "Which road does one leave first, going by car from the {from_} to the {to}? Name the first road of the directions.",
)
def _first(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in _pairs(world, rng):
        if route := _route(world, a, b, "car"):
            road = route.legs[0].road
            yield Made(
                {"from_": a["name"], "to": b["name"]},
                answer.name(road, "map:SELECT name FROM roads UNION SELECT name FROM streets"),
                [*_directions(a, b, "car"), stop(road)],
            )


@template("map", "find", "Which is farther by car from the {from_}: the {first} or the {second}?")
def _farther(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in _pairs(world, rng):
        c = rng.choice(world.rows("map", PLACES + "town_id NOT IN (?, ?)", a["town_id"], b["town_id"]))
        to_b, to_c = _route(world, a, b, "car"), _route(world, a, c, "car")
        if to_b and to_c and abs(to_b.km - to_c.km) > 1:
            best = b["name"] if to_b.km > to_c.km else c["name"]
            steps = [*_directions(a, b, "car"), fill("To", c["name"]), click("Go", "button"), stop(best)]
            yield Made({"from_": a["name"], "first": b["name"], "second": c["name"]}, answer.name(best, answer.PLACES), steps)


@template(
    "map", "find", "How much faster is the car than the bike from the {from_} to the {to}? Answer with the number of minutes."
)
def _faster(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in _pairs(world, rng):
        car, bike = _route(world, a, b, "car"), _route(world, a, b, "bike")
        if car and bike:
            minutes = bike.minutes - car.minutes
            steps = [*_directions(a, b, "car"), choose("By", "Bike"), click("Go", "button"), stop(minutes)]
            yield Made({"from_": a["name"], "to": b["name"]}, answer.number(minutes), steps)


def _closest(world: World, rng: random.Random) -> Iterator[tuple[Any, str, list[tuple[float, Any]]]]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        category = rng.choice(sorted(KINDS))
        found = _nearest(world, p, category)
        if len({km for km, _ in found[:3]}) == 3:
            yield p, category, found


@template("map", "find", "Which {category} is nearest to the {place}, as the crow flies?")
def _near(world: World, rng: random.Random) -> Iterator[Made]:
    for p, category, found in _closest(world, rng):
        name = found[0][1]["name"]
        yield Made(
            {"place": p["name"], "category": category}, answer.name(name, answer.PLACES), [*_nearby(p, category), stop(name)]
        )


@template("map", "find", "What is the telephone number of the second nearest {category} to the {place}, as the crow flies?")
def _second(world: World, rng: random.Random) -> Iterator[Made]:
    for p, category, found in _closest(world, rng):
        other = found[1][1]
        yield Made(
            {"place": p["name"], "category": category},
            answer.codes(other["phone"]),
            [*_nearby(p, category), click(other["name"]), stop(other["phone"])],
        )


def _best(world: World, rng: random.Random) -> Iterator[tuple[str, str, Any, list[Step]]]:
    towns = world.rows("map", "SELECT * FROM towns")
    while True:
        town, category = rng.choice(towns), rng.choice(("cafe", "restaurant", "hotel", "museum", "park"))
        found = world.rows("map", PLACES + "town_id = ? AND category = ? ORDER BY rating DESC", town["id"], category)
        if found[0]["rating"] > found[1]["rating"]:
            steps = [
                click("Towns"),
                click(town["name"]),
                choose("Category", category),
                choose("Sort by", "Rating"),
                click("Apply", "button"),
            ]
            yield town["name"], category, found[0], steps


@template("map", "find", "Which {category} in {town} has the best rating?")
def _best_rated(world: World, rng: random.Random) -> Iterator[Made]:
    for town, category, best, steps in _best(world, rng):
        yield Made({"town": town, "category": category}, answer.name(best["name"], answer.PLACES), [*steps, stop(best["name"])])


@template("map", "find", "At which address in {town} is the {category} with the best rating?")
def _best_address(world: World, rng: random.Random) -> Iterator[Made]:
    for town, category, best, steps in _best(world, rng):
        yield Made({"town": town, "category": category}, answer.name(best["address"], ADDRESSES), [*steps, stop(best["address"])])


each(
    "map",
    "navigate",
    "Open the page of the {place}.",
    "map",
    PLACES + "1",
    check=lambda p: ends_at(f"{MAP}/place/{p['id']}"),
    steps=lambda p: [*_place(p), stop()],
)


@template("map", "navigate", "Show the directions {how} from the {from_} to the {to}.")
def _show(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in _pairs(world, rng):
        mode = rng.choice(("car", "bike", "foot"))
        url = f"{MAP}/directions?from={quote_plus(a['name'])}&to={quote_plus(b['name'])}&mode={mode}"
        how = {"car": "by car", "bike": "by bike", "foot": "on foot"}[mode]
        yield Made({"from_": a["name"], "to": b["name"], "how": how}, ends_at(url), [*_directions(a, b, mode), stop()])


@template("map", "navigate", "Show the places of the category {category} that are nearest to the {place}.")
def _show_near(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        category = rng.choice(sorted(KINDS))
        url = f"{MAP}/nearby?category={category}&near={quote_plus(p['name'])}"
        yield Made({"place": p["name"], "category": category}, ends_at(url), [*_nearby(p, category), stop()])


@template("map", "navigate", "List the places of the category {category} in {town}, the best rated first.")
def _list(world: World, rng: random.Random) -> Iterator[Made]:
    for t in world.mixed(rng, "map", "SELECT * FROM towns"):
        category = rng.choice(("cafe", "restaurant", "hotel", "museum", "park", "school", "fuel"))
        steps = [
            click("Towns"),
            click(t["name"]),
            choose("Category", category),
            choose("Sort by", "Rating"),
            click("Apply", "button"),
            stop(),
        ]
        yield Made(
            {"town": t["name"], "category": category}, ends_at(f"{MAP}/town/{t['id']}?category={category}&sort=rating"), steps
        )


def _saved(*places: Any) -> str:
    ids = ", ".join(str(p["id"]) for p in places)
    return f"SELECT list || '|' || note FROM saved WHERE person_id = {ME} AND place_id IN ({ids})"


NEW = f"p.id NOT IN (SELECT place_id FROM saved WHERE person_id = {ME})"


@template("map", "change", "Save the {place} to my list “{list}”.")
def _save(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + NEW):
        kept = rng.choice(("Want to go", "Favorites", "Avoid"))
        steps = [*_place(p), choose("List", kept), click("Save place", "button"), stop()]
        yield Made({"place": p["name"], "list": kept}, becomes("map", _saved(p), f"{kept}|"), steps)


@template("map", "change", "Save the {place} to my list “{list}” with the note “{note}”.")
def _save_note(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + NEW):
        kept, note = (
            rng.choice(("Want to go", "Favorites", "Avoid")),
            rng.choice(("Ask for the corner table", "Closed on holidays", "Bring cash", "Meet Jonas here")),
        )
        steps = [*_place(p), choose("List", kept), fill("Note", note), click("Save place", "button"), stop()]
        yield Made({"place": p["name"], "list": kept, "note": note}, becomes("map", _saved(p), f"{kept}|{note}"), steps)


@template("map", "change", "Save both the {first} and the {second} to my list “Favorites”.")
def _save_two(world: World, rng: random.Random) -> Iterator[Made]:
    places = world.mixed(rng, "map", PLACES + NEW)
    for a, b in zip(places[::2], places[1::2], strict=False):
        steps = [s for p in (a, b) for s in (*_place(p), choose("List", "Favorites"), click("Save place", "button"))]
        yield Made(
            {"first": a["name"], "second": b["name"]}, becomes("map", _saved(a, b), "Favorites|\nFavorites|"), [*steps, stop()]
        )


@template("map", "change", "Save the {category} that is nearest to the {place}, as the crow flies, to my list “Want to go”.")
def _save_near(world: World, rng: random.Random) -> Iterator[Made]:
    for p, category, found in _closest(world, rng):
        other = found[0][1]
        if not world.rows("map", "SELECT 1 FROM saved WHERE place_id = ?", other["id"]):
            steps = [
                *_nearby(p, category),
                click(other["name"]),
                choose("List", "Want to go"),
                click("Save place", "button"),
                stop(),
            ]
            yield Made({"place": p["name"], "category": category}, becomes("map", _saved(other), "Want to go|"), steps)


@template("map", "change", "Save the best rated {category} of {town} to my list “Favorites”.")
def _save_best(world: World, rng: random.Random) -> Iterator[Made]:
    for town, category, best, steps in _best(world, rng):
        if not world.rows("map", "SELECT 1 FROM saved WHERE place_id = ?", best["id"]):
            more = [click(best["name"]), choose("List", "Favorites"), click("Save place", "button"), stop()]
            yield Made({"town": town, "category": category}, becomes("map", _saved(best), "Favorites|"), [*steps, *more])


each(
    "map",
    "change",
    "Make the {place} my starting point.",
    "map",
    PLACES + "p.name <> 'Aldermere Public Library'",
    check=lambda p: becomes("map", f"SELECT home_id FROM people WHERE id = {ME}", p["id"]),
    steps=lambda p: [*_place(p), click("Make this my starting point", "button"), stop()],
)


@template("map", "unachievable", "What is the telephone number of the {place}?")
def _no_place(world: World, rng: random.Random) -> Iterator[Made]:
    towns = [t["name"] for t in world.rows("map", "SELECT * FROM towns")]
    while True:
        name = f"{rng.choice(towns)} {rng.choice(('Ice Rink', 'Observatory', 'Opera House', 'Airport', 'Aquarium'))}"
        yield Made({"place": name}, answer.nothing("There is no such place on the map."), [search(name), stop("N/A")])


@template(
    "map code",
    "change",
    "Open an issue in the code host's project {project} with the title “New office” and the street address of the {place} as its description.",
)
def _office(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        project = rng.choice(("tidepool", "quarry", "peregrine", "osprey", "basalt"))
        steps = [
            *_place(p), goto(f"{ORIGINS['code']}/p/{project}/issues/new"), fill("Title", "New office"), fill("Description", p["address"]),
            click("Open issue", "button"), stop(),
        ]  # fmt: skip
        sql = "SELECT p.name || '|' || body FROM issues JOIN projects p ON p.id = project_id WHERE title = 'New office'"
        yield Made({"place": p["name"], "project": project}, becomes("code", sql, f"{project}|{p['address']}"), steps)


@template(
    "map admin",
    "change",
    "Change the telephone number of the shop's customer {customer} to that of the {place}, in the shop's admin.",
)
def _reach(world: World, rng: random.Random) -> Iterator[Made]:
    for p, c in zip(world.mixed(rng, "map", PLACES + "1"), world.mixed(rng, "shop", "SELECT * FROM customers"), strict=False):
        steps = [
            *_place(p), goto(ORIGINS["admin"]), search(c["name"]), click(c["name"]), fill("Telephone", p["phone"]), click("Save", "button"), stop(),
        ]  # fmt: skip
        yield Made(
            {"place": p["name"], "customer": c["name"]},
            becomes("shop", f"SELECT phone FROM customers WHERE id = {c['id']}", p["phone"]),
            steps,
        )


# What the drawn map, its streets, buses, reviews and notes are for.
MINE = "author = 'Ida Brandt'"
STREETS = "SELECT s.name AS street, t.name AS town FROM streets s JOIN towns t ON t.id = town_id WHERE off_id IS NULL"

_ask(
    "What does {author} recommend in the review of the {place}?",
    "SELECT r.author, r.tip, p.name AS place, p.name FROM reviews r JOIN places p ON p.id = place_id WHERE tip <> ''",
    lambda r: r["tip"],
    partial(answer.name, among="map:SELECT DISTINCT tip FROM reviews"),
    _place,
)
_ask(
    "What is the speed limit on {street} in {town}? Answer like 60 km/h.",
    f"SELECT f.*, speed FROM ({STREETS}) f JOIN streets s ON s.name = f.street JOIN towns t ON t.id = town_id AND t.name = f.town",
    lambda s: s["speed"],
    answer.number,
    lambda s: [click("Towns"), click(s["town"]), click(s["street"])],
)


TURNS = "map:SELECT DISTINCT 'turn ' || side || ' onto ' || name FROM streets, (SELECT 'left' AS side UNION SELECT 'right')"


def _wordings(told: str) -> tuple[str, str, str]:
    """Returns other wordings of a turn."""
    turn, side, _, road = told.split(maxsplit=3)
    return f"{turn}s {side} onto {road}", f"{turn} {side} on {road}", f"{turn} {side} into {road}"


@template(
    "map",
    "find",
    "By the directions on foot from the {from_} to the {to}, what does one do at the end of {street}? Answer like: Turn left onto Candle Lane.",
)
def _turn(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in _pairs(world, rng, near=True):
        route = _route(world, a, b, "foot")
        if route and len(route.legs) == 3 and len({leg.road for leg in route.legs}) == 3:
            told = [what for what, _ in instructions(world.database("map"), route)][2]
            values = {"from_": a["name"], "to": b["name"], "street": route.legs[1].road}
            if told.startswith("Turn"):
                yield Made(values, answer.name(told, TURNS, *_wordings(told)), [*_directions(a, b, "foot"), stop(told)])


@template(
    "map",
    "find",
    "How far is it by bike from {from_} to {to}, from the middle of the one town to that of the other? Answer like 12.5 km.",
)
def _between(world: World, rng: random.Random) -> Iterator[Made]:
    towns = world.rows("map", "SELECT name, 12 * id - 7 AS node_id FROM towns")
    while True:
        a, b = rng.sample(towns, 2)
        if route := _route(world, a, b, "bike"):
            yield Made(
                {"from_": a["name"], "to": b["name"]},
                answer.number(route.km),
                [*_directions(a, b, "bike"), stop(f"{route.km} km")],
            )


@template(
    "map",
    "find",
    "How many places of the category {category} lie within {km} km of the {place}, as the crow flies? Answer with the number.",
)
def _within(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        category, km = rng.choice([c for c in sorted(KINDS) if c != p["category"]]), rng.choice((2, 5, 20))
        count = sum(away <= km for away, _ in _nearest(world, p, category))
        if count > 2:
            steps = [*_nearby(p, category), click(f"{km} km"), stop(count)]
            yield Made({"category": category, "km": km, "place": p["name"]}, answer.number(count), steps)


@template("map", "navigate", "Show the map alone with the {place} in its middle, at zoom {zoom} and with the layer {layer}.")
def _view(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        nearer, layer = rng.choice((-2, -1, 1, 2)), rng.choice(("transport", "cycle"))
        view = over(p["spot_x"], p["spot_y"], NEAR + nearer)._replace(layer=layer)
        zooms = [click("Zoom in" if nearer > 0 else "Zoom out", "button")] * abs(nearer)
        steps = [*_place(p), click("Show on the map"), *zooms, click("Layers", "button"), click(LAYERS[layer], "button"), stop()]
        yield Made({"place": p["name"], "zoom": view.zoom, "layer": LAYERS[layer]}, ends_at(MAP + view.address), steps)


each(
    "map",
    "navigate",
    "Open the page of the bus stop where {first} and {second} cross in {town}.",
    "map",
    "SELECT h.id, h.name, t.name AS town, substr(h.name, 1, instr(h.name, ' / ') - 1) AS first, substr(h.name, instr(h.name, ' / ') + 3) AS second,"
    " (SELECT number FROM lines l JOIN stops ON line_id = l.id WHERE node_id = h.id ORDER BY number) AS number"
    " FROM halts h JOIN towns t ON t.id = in_town",
    check=lambda h: ends_at(f"{MAP}/stop/{h['id']}"),
    steps=lambda h: [click("Towns"), click(h["town"]), click(f"Line {h['number']}"), click(h["name"]), stop()],
)


@template("map", "change", "Add a note to the map at the {place} that says “{text}”.")
def _add_note(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        text = rng.choice(
            ("The entrance is round the corner", "There are steps here", "The house number is wrong", "This has a new owner")
        )
        there = f"abs(x - {p['spot_x']}) < 0.02 AND abs(y - {p['spot_y']}) < 0.02"
        steps = [*_place(p), click("Add a note here"), fill("Note text", text), click("Publish note", "button"), stop()]
        yield Made(
            {"place": p["name"], "text": text}, becomes("map", f"SELECT body FROM notes WHERE {MINE} AND {there}", text), steps
        )


@template("map", "change", "Resolve the note about the {subject} on {street} in {town}, with the comment “{text}”.")
def _resolve(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT o.*, s.name AS street, t.name AS town FROM notes o JOIN streets s ON s.id = street_id JOIN towns t ON t.id = o.town_id WHERE state = 'open'"
    for n in world.mixed(rng, "map", sql):
        text = rng.choice(("Mended on the map", "I have looked: it is done", "The town has seen to it", "Surveyed today"))
        found = f"SELECT state || '|' || (SELECT group_concat(body, '|') FROM remarks WHERE note_id = o.id AND {MINE}) FROM notes o WHERE id = {n['id']}"
        steps = [
            click("Notes"), choose("Town", n["town"]), click("Show", "button"), click(n["body"]), fill("Comment", text), click("Resolve", "button"), stop(),
        ]  # fmt: skip
        values = {"subject": n["subject"], "street": n["street"], "town": n["town"], "text": text}
        yield Made(values, becomes("map", found, f"resolved|{text}"), steps)


@template("map", "change", "Publish a review of the {place} with {stars} stars that says “{text}”.")
def _review(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        stars, text = rng.choice(
            ((5, "Worth every minute"), (4, "Good, but hard to find"), (3, "Neither good nor bad"), (2, "Too loud for me"))
        )
        sql = f"SELECT stars || '|' || body FROM reviews WHERE {MINE} AND place_id = {p['id']}"
        steps = [*_place(p), choose("Stars", str(stars)), fill("Review", text), click("Publish review", "button"), stop()]
        yield Made({"place": p["name"], "stars": stars, "text": text}, becomes("map", sql, f"{stars}|{text}"), steps)


@template("map", "change", "Save the restaurant of {town} with {cuisine} cuisine to my list “Favorites”.")
def _cuisine(world: World, rng: random.Random) -> Iterator[Made]:
    sql = f"""SELECT * FROM (SELECT p.*, t.name AS town, value AS cuisine, count(*) OVER (PARTITION BY town_id, value) AS alike FROM places p
      JOIN towns t ON t.id = town_id JOIN details ON place_id = p.id AND label = 'Cuisine') p WHERE alike = 1 AND {NEW} ORDER BY id"""
    for p in world.mixed(rng, "map", sql):
        steps = [
            click("Towns"), click(p["town"]), choose("Category", "restaurant"), click("Apply", "button"), click(p["name"]),
            choose("List", "Favorites"), click("Save place", "button"), stop(),
        ]  # fmt: skip
        yield Made({"town": p["town"], "cuisine": p["cuisine"]}, becomes("map", _saved(p), "Favorites|"), steps)


@template("map", "unachievable", "What is the surface of {street} in {town}?")
def _no_street(world: World, rng: random.Random) -> Iterator[Made]:
    there = {tuple(s) for s in world.rows("map", STREETS)}
    names, towns = sorted({street for street, _ in there}), sorted({town for _, town in there})
    while True:
        street, town = rng.choice(names), rng.choice(towns)
        if (street, town) not in there:
            yield Made(
                {"street": street, "town": town},
                answer.nothing("The town has no such street."),
                [search(f"{street} {town}"), stop("N/A")],
            )
