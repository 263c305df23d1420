"""Tasks with the drawn map, its streets, buses, reviews and notes."""

import random
from collections.abc import Iterator
from functools import partial

from agentgym_envs.envs.web.embedded import choose, click, fill, search, stop
from agentgym_websites.map.data import KINDS
from agentgym_websites.map.route import instructions
from agentgym_websites.map.view import LAYERS, over
from agentgym_websites.map.view import PLACE as NEAR
from agentgym_websites.tasks import answer
from agentgym_websites.tasks.map import (
    MAP,
    PLACES,
    ask,
    directions,
    nearby,
    nearest,
    open_place,
    pairs,
    route_between,
)
from agentgym_websites.tasks.map_change import NEW, saved
from agentgym_websites.tasks.template import (
    Made,
    World,
    becomes,
    each,
    ends_at,
    template,
)

# Tasks with the drawn map, its streets, buses, reviews and notes.
MINE = "author = 'Ida Brandt'"


STREETS = "SELECT s.name AS street, t.name AS town FROM streets s JOIN towns t ON t.id = town_id WHERE off_id IS NULL"


ask(
    "What does {author} recommend in the review of the {place}?",
    "SELECT r.author, r.tip, p.name AS place, p.name FROM reviews r JOIN places p ON p.id = place_id WHERE tip <> ''",
    lambda r: r["tip"],
    partial(answer.name, among="map:SELECT DISTINCT tip FROM reviews"),
    open_place,
)


ask(
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
    for a, b in pairs(world, rng, near=True):
        route = route_between(world, a, b, "foot")
        if route and len(route.legs) == 3 and len({leg.road for leg in route.legs}) == 3:
            told = [what for what, _ in instructions(world.database("map"), route)][2]
            values = {"from_": a["name"], "to": b["name"], "street": route.legs[1].road}
            if told.startswith("Turn"):
                yield Made(
                    values,
                    answer.name(told, TURNS, *_wordings(told)),
                    [*directions(a, b, "foot"), stop(told)],
                )


@template(
    "map",
    "find",
    "How far is it by bike from {from_} to {to}, from the middle of the one town to that of the other? Answer like 12.5 km.",
)
def _between(world: World, rng: random.Random) -> Iterator[Made]:
    towns = world.rows("map", "SELECT name, 12 * id - 7 AS node_id FROM towns")
    while True:
        a, b = rng.sample(towns, 2)
        if route := route_between(world, a, b, "bike"):
            yield Made(
                {"from_": a["name"], "to": b["name"]},
                answer.number(route.km),
                [*directions(a, b, "bike"), stop(f"{route.km} km")],
            )


@template(
    "map",
    "find",
    "How many places of the category {category} lie within {km} km of the {place}, as the crow flies? Answer with the number.",
)
def _within(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        category, km = (
            rng.choice([c for c in sorted(KINDS) if c != p["category"]]),
            rng.choice((2, 5, 20)),
        )
        count = sum(away <= km for away, _ in nearest(world, p, category))
        if count > 2:
            steps = [*nearby(p, category), click(f"{km} km"), stop(count)]
            yield Made(
                {"category": category, "km": km, "place": p["name"]}, answer.number(count), steps
            )


@template(
    "map",
    "navigate",
    "Show the map alone with the {place} in its middle, at zoom {zoom} and with the layer {layer}.",
)
def _view(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        nearer, layer = rng.choice((-2, -1, 1, 2)), rng.choice(("transport", "cycle"))
        view = over(p["spot_x"], p["spot_y"], NEAR + nearer)._replace(layer=layer)
        zooms = [click("Zoom in" if nearer > 0 else "Zoom out", "button")] * abs(nearer)
        steps = [
            *open_place(p),
            click("Show on the map"),
            *zooms,
            click("Layers", "button"),
            click(LAYERS[layer], "button"),
            stop(),
        ]
        yield Made(
            {"place": p["name"], "zoom": view.zoom, "layer": LAYERS[layer]},
            ends_at(MAP + view.address),
            steps,
        )


each(
    "map",
    "navigate",
    "Open the page of the bus stop where {first} and {second} cross in {town}.",
    "map",
    "SELECT h.id, h.name, t.name AS town, substr(h.name, 1, instr(h.name, ' / ') - 1) AS first, substr(h.name, instr(h.name, ' / ') + 3) AS second,"
    " (SELECT number FROM lines l JOIN stops ON line_id = l.id WHERE node_id = h.id ORDER BY number) AS number"
    " FROM halts h JOIN towns t ON t.id = in_town",
    check=lambda h: ends_at(f"{MAP}/stop/{h['id']}"),
    steps=lambda h: [
        click("Towns"),
        click(h["town"]),
        click(f"Line {h['number']}"),
        click(h["name"]),
        stop(),
    ],
)


@template("map", "change", "Add a note to the map at the {place} that says “{text}”.")
def _add_note(world: World, rng: random.Random) -> Iterator[Made]:
    for p in world.mixed(rng, "map", PLACES + "1"):
        text = rng.choice(
            (
                "The entrance is round the corner",
                "There are steps here",
                "The house number is wrong",
                "This has a new owner",
            )
        )
        there = f"abs(x - {p['spot_x']}) < 0.02 AND abs(y - {p['spot_y']}) < 0.02"
        steps = [
            *open_place(p),
            click("Add a note here"),
            fill("Note text", text),
            click("Publish note", "button"),
            stop(),
        ]
        yield Made(
            {"place": p["name"], "text": text},
            becomes("map", f"SELECT body FROM notes WHERE {MINE} AND {there}", text),
            steps,
        )


@template(
    "map",
    "change",
    "Resolve the note about the {subject} on {street} in {town}, with the comment “{text}”.",
)
def _resolve(world: World, rng: random.Random) -> Iterator[Made]:
    sql = "SELECT o.*, s.name AS street, t.name AS town FROM notes o JOIN streets s ON s.id = street_id JOIN towns t ON t.id = o.town_id WHERE state = 'open'"
    for n in world.mixed(rng, "map", sql):
        text = rng.choice(
            (
                "Mended on the map",
                "I have looked: it is done",
                "The town has seen to it",
                "Surveyed today",
            )
        )
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
            (
                (5, "Worth every minute"),
                (4, "Good, but hard to find"),
                (3, "Neither good nor bad"),
                (2, "Too loud for me"),
            )
        )
        sql = f"SELECT stars || '|' || body FROM reviews WHERE {MINE} AND place_id = {p['id']}"
        steps = [
            *open_place(p),
            choose("Stars", str(stars)),
            fill("Review", text),
            click("Publish review", "button"),
            stop(),
        ]
        yield Made(
            {"place": p["name"], "stars": stars, "text": text},
            becomes("map", sql, f"{stars}|{text}"),
            steps,
        )


@template(
    "map", "change", "Save the restaurant of {town} with {cuisine} cuisine to my list “Favorites”."
)
def _cuisine(world: World, rng: random.Random) -> Iterator[Made]:
    sql = f"""SELECT * FROM (SELECT p.*, t.name AS town, value AS cuisine, count(*) OVER (PARTITION BY town_id, value) AS alike FROM places p
      JOIN towns t ON t.id = town_id JOIN details ON place_id = p.id AND label = 'Cuisine') p WHERE alike = 1 AND {NEW} ORDER BY id"""
    for p in world.mixed(rng, "map", sql):
        steps = [
            click("Towns"), click(p["town"]), choose("Category", "restaurant"), click("Apply", "button"), click(p["name"]),
            choose("List", "Favorites"), click("Save place", "button"), stop(),
        ]  # fmt: skip
        yield Made(
            {"town": p["town"], "cuisine": p["cuisine"]},
            becomes("map", saved(p), "Favorites|"),
            steps,
        )


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
