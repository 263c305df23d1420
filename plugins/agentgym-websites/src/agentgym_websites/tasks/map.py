"""Tasks on the map."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from math import dist
from typing import Any
from urllib.parse import quote_plus

from agentgym_envs.envs.web.embedded import Step, choose, click, fill, search, stop
from agentgym_websites.map.data import KINDS
from agentgym_websites.map.route import Route, find_route, told
from agentgym_websites.site import ORIGINS
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.template import Made, World, each, ends_at, template

MAP = ORIGINS["map"]
PLACES = "SELECT p.*, p.name AS place, t.name AS town, n.x, n.y FROM places p JOIN towns t ON t.id = town_id JOIN nodes n ON n.id = node_id WHERE "


def open_place(place: Any) -> list[Step]:
    """Opens a place by name."""
    return [search(place["name"]), click(place["name"])]


def pairs(world: World, rng: random.Random, near: bool = False) -> Iterator[tuple[Any, Any]]:
    """Yields pairs of places, in one town if ``near`` and in two otherwise."""
    places = world.rows("map", PLACES + "1")
    while True:
        a, b = rng.sample(places, 2)
        if a["node_id"] != b["node_id"] and (a["town_id"] == b["town_id"]) == near:
            yield a, b


def route_between(world: World, a: Any, b: Any, mode: str) -> Route | None:
    """Returns the fastest route between two places or towns."""
    return find_route(world.database("map"), a["node_id"], b["node_id"], mode)


def directions(a: Any, b: Any, mode: str) -> list[Step]:
    """Asks for directions."""
    by = {"bike": "Bike", "foot": "Foot"}.get(mode)
    return [
        click("Directions"),
        fill("From", a["name"]),
        fill("To", b["name"]),
        *([choose("By", by)] if by else []),
        click("Go", "button"),
    ]


def nearest(world: World, place: Any, category: str) -> list[tuple[float, Any]]:
    """Returns the places of a category with their distances from a place, nearest first."""
    others = world.rows("map", PLACES + "category = ? AND p.id <> ?", category, place["id"])
    return sorted(
        ((round(dist((place["x"], place["y"]), (o["x"], o["y"])), 2), o) for o in others),
        key=lambda pair: (pair[0], pair[1]["name"]),
    )


def nearby(place: Any, category: str) -> list[Step]:
    """Lists the places of a category that are nearest to a place."""
    return [
        click("Nearby"),
        choose("Find the nearest", category),
        fill("Near", place["name"]),
        click("Find", "button"),
    ]


def _coordinates(place: Any) -> str:
    """Opens a place by its name."""
    return f"{44 + place['y'] / 111:.4f}, {-72 + place['x'] / 80:.4f}"


ADDRESSES = "map:SELECT address FROM places"
Fact = Callable[[Any], Any]
FACTS: tuple[tuple[str, Fact, Callable[[Any], dict[str, Any]]], ...] = (
    ("What is the telephone number of the {place}?", lambda p: p["phone"], answer.codes),
    (
        "What is the street address of the {place}?",
        lambda p: p["address"],
        partial(answer.name, among=ADDRESSES),
    ),
    ("What is the ZIP code of the {place}?", lambda p: p["zip"], answer.codes),
    (
        "When does the {place} close? Answer like 17:00.",
        lambda p: f"{p['closes']:02}:00",
        answer.time,
    ),
    (
        "What are the coordinates of the {place}? Answer like 44.1234, -71.1234.",
        _coordinates,
        answer.point,
    ),
)


def ask(
    intent: str,
    sql: str,
    fact: Fact,
    kind: Callable[[Any], dict[str, Any]],
    steps: Callable[[Any], list[Step]],
) -> None:
    """Adds a template that asks for a fact on the last page of some steps."""
    each(
        "map",
        "find",
        intent,
        "map",
        sql,
        check=lambda p: kind(fact(p)),
        steps=lambda p: [*steps(p), stop(fact(p))],
    )


for _intent, _fact, _kind in FACTS:
    ask(_intent, PLACES + "1", _fact, _kind, open_place)
ask(
    "How many inhabitants does {town} have?",
    "SELECT *, name AS town FROM towns",
    lambda t: t["population"],
    answer.number,
    lambda t: [click("Towns")],
)


def _trip(
    world: World, rng: random.Random, mode: str, what: str, near: bool = False
) -> Iterator[Made]:
    """Yields two places at a time, of one town if ``near`` and of two otherwise."""
    for a, b in pairs(world, rng, near):
        if route := route_between(world, a, b, mode):
            text = f"{route.km} km" if what == "km" else told(route.minutes)
            check = answer.number(route.km) if what == "km" else answer.duration(route.minutes)
            yield Made(
                {"from_": a["name"], "to": b["name"]}, check, [*directions(a, b, mode), stop(text)]
            )


LIKE = "Answer as the map writes it, like 1 h 5 min or 25 min."
TRIPS = (
    ("How far is it by car from the {from_} to the {to}? Answer like 12.5 km.", "car", "km", False),
    (
        f"How long does it take by car from the {{from_}} to the {{to}}? {LIKE}",
        "car",
        "time",
        False,
    ),
    (
        f"How long does it take by bike from the {{from_}} to the {{to}}? {LIKE}",
        "bike",
        "time",
        False,
    ),
    (
        "How many minutes is it on foot from the {from_} to the {to}? Answer like 7 min.",
        "foot",
        "time",
        True,
    ),
)
for _intent, _mode, _what, _near_by in TRIPS:
    template("map", "find", _intent)(partial(_trip, mode=_mode, what=_what, near=_near_by))


@template(
    "map",
    "find",
    "Which road does one leave first, going by car from the {from_} to the {to}? Name the first road of the directions.",
)
def _first(world: World, rng: random.Random) -> Iterator[Made]:
    """Returns the fastest way between two places or towns."""
    for a, b in pairs(world, rng):
        if route := route_between(world, a, b, "car"):
            road = route.legs[0].road
            yield Made(
                {"from_": a["name"], "to": b["name"]},
                answer.name(road, "map:SELECT name FROM roads UNION SELECT name FROM streets"),
                [*directions(a, b, "car"), stop(road)],
            )


@template("map", "find", "Which is farther by car from the {from_}: the {first} or the {second}?")
def _farther(world: World, rng: random.Random) -> Iterator[Made]:
    """Asks for directions."""
    for a, b in pairs(world, rng):
        c = rng.choice(
            world.rows("map", PLACES + "town_id NOT IN (?, ?)", a["town_id"], b["town_id"])
        )
        to_b, to_c = route_between(world, a, b, "car"), route_between(world, a, c, "car")
        if to_b and to_c and abs(to_b.km - to_c.km) > 1:
            best = b["name"] if to_b.km > to_c.km else c["name"]
            steps = [
                *directions(a, b, "car"),
                fill("To", c["name"]),
                click("Go", "button"),
                stop(best),
            ]
            yield Made(
                {"from_": a["name"], "first": b["name"], "second": c["name"]},
                answer.name(best, answer.PLACES),
                steps,
            )


@template(
    "map",
    "find",
    "How much faster is the car than the bike from the {from_} to the {to}? Answer with the number of minutes.",
)
def _faster(world: World, rng: random.Random) -> Iterator[Made]:
    """Returns the places of a category with their distances from a place, the nearest first."""
    for a, b in pairs(world, rng):
        car, bike = route_between(world, a, b, "car"), route_between(world, a, b, "bike")
        if car and bike:
            minutes = bike.minutes - car.minutes
            steps = [
                *directions(a, b, "car"),
                choose("By", "Bike"),
                click("Go", "button"),
                stop(minutes),
            ]
            yield Made({"from_": a["name"], "to": b["name"]}, answer.number(minutes), steps)


def closest(world: World, rng: random.Random) -> Iterator[tuple[Any, str, list[tuple[float, Any]]]]:
    """Yields places with a category whose three nearest places differ in their distances."""
    for p in world.mixed(rng, "map", PLACES + "1"):
        category = rng.choice(sorted(KINDS))
        found = nearest(world, p, category)
        if len({km for km, _ in found[:3]}) == 3:
            yield p, category, found


@template("map", "find", "Which {category} is nearest to the {place}, as the crow flies?")
def _near(world: World, rng: random.Random) -> Iterator[Made]:
    """Lists the places of a category that are nearest to a place."""
    for p, category, found in closest(world, rng):
        name = found[0][1]["name"]
        yield Made(
            {"place": p["name"], "category": category},
            answer.name(name, answer.PLACES),
            [*nearby(p, category), stop(name)],
        )


@template(
    "map",
    "find",
    "What is the telephone number of the second nearest {category} to the {place}, as the crow flies?",
)
def _second(world: World, rng: random.Random) -> Iterator[Made]:
    """Yields places with a category whose three nearest places differ in their distances."""
    for p, category, found in closest(world, rng):
        other = found[1][1]
        yield Made(
            {"place": p["name"], "category": category},
            answer.codes(other["phone"]),
            [*nearby(p, category), click(other["name"]), stop(other["phone"])],
        )


def best_rated(world: World, rng: random.Random) -> Iterator[tuple[str, str, Any, list[Step]]]:
    """Yields a town's best rated place of a category, with a plan that lists it first."""
    towns = world.rows("map", "SELECT * FROM towns")
    while True:
        town, category = (
            rng.choice(towns),
            rng.choice(("cafe", "restaurant", "hotel", "museum", "park")),
        )
        found = world.rows(
            "map",
            PLACES + "town_id = ? AND category = ? ORDER BY rating DESC",
            town["id"],
            category,
        )
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
    """Yields a town's best rated place of a category, with a plan that lists it first."""
    for town, category, best, steps in best_rated(world, rng):
        yield Made(
            {"town": town, "category": category},
            answer.name(best["name"], answer.PLACES),
            [*steps, stop(best["name"])],
        )


@template("map", "find", "At which address in {town} is the {category} with the best rating?")
def _best_address(world: World, rng: random.Random) -> Iterator[Made]:
    for town, category, best, steps in best_rated(world, rng):
        yield Made(
            {"town": town, "category": category},
            answer.name(best["address"], ADDRESSES),
            [*steps, stop(best["address"])],
        )


each(
    "map",
    "navigate",
    "Open the page of the {place}.",
    "map",
    PLACES + "1",
    check=lambda p: ends_at(f"{MAP}/place/{p['id']}"),
    steps=lambda p: [*open_place(p), stop()],
)


@template("map", "navigate", "Show the directions {how} from the {from_} to the {to}.")
def _show(world: World, rng: random.Random) -> Iterator[Made]:
    for a, b in pairs(world, rng):
        mode = rng.choice(("car", "bike", "foot"))
        url = (
            f"{MAP}/directions?from={quote_plus(a['name'])}&to={quote_plus(b['name'])}&mode={mode}"
        )
        how = {"car": "by car", "bike": "by bike", "foot": "on foot"}[mode]
        yield Made(
            {"from_": a["name"], "to": b["name"], "how": how},
            ends_at(url),
            [*directions(a, b, mode), stop()],
        )


@template(
    "map", "navigate", "Show the places of the category {category} that are nearest to the {place}."
)
def _show_near(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        category = rng.choice(sorted(KINDS))
        url = f"{MAP}/nearby?category={category}&near={quote_plus(p['name'])}"
        yield Made(
            {"place": p["name"], "category": category}, ends_at(url), [*nearby(p, category), stop()]
        )


@template(
    "map", "navigate", "List the places of the category {category} in {town}, the best rated first."
)
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
            {"town": t["name"], "category": category},
            ends_at(f"{MAP}/town/{t['id']}?category={category}&sort=rating"),
            steps,
        )
