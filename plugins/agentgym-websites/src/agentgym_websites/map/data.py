"""Fills the map's database: an invented county with towns, roads and places.

The data is always the same.
"""

import random
import sqlite3
from collections.abc import Mapping
from math import dist

from agentgym_websites.map import scenery, streets
from agentgym_websites.map.texts import fill_texts
from agentgym_websites.site import add
from agentgym_websites.tables import tables

SCHEMA = """
CREATE TABLE towns (id INTEGER PRIMARY KEY, name TEXT, x REAL, y REAL, population INT);
CREATE TABLE nodes (id INTEGER PRIMARY KEY, in_town INT, x REAL, y REAL);
CREATE TABLE roads (a INT, b INT, name TEXT, km REAL, kind TEXT);
CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT, category TEXT, town_id INT, node_id INT, address TEXT, zip TEXT, phone TEXT, opens INT,
  closes INT, rating REAL, street_id INT, spot_x REAL, spot_y REAL);
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, login TEXT, password TEXT, home_id INT);
CREATE TABLE saved (person_id INT, place_id INT, list TEXT, note TEXT DEFAULT '', PRIMARY KEY (person_id, place_id));
CREATE INDEX places_in ON places (town_id);
"""
ME = 1
TOWNS = (
    "Wexcombe", "Aldermere", "Port Linnet", "Haverby", "Stonebridge", "Little Marrow", "Quillan", "Eastmoor", "Fennick", "Oakhollow",
    "Saltwick", "Bramley Cross", "Upper Tarn", "Greywater",
)  # fmt: skip
_TABLES = tables("map/data")
STREETS: tuple[str, ...] = _TABLES["streets"]
KINDS: Mapping[str, tuple[str, ...]] = _TABLES["kinds"]
PLACED_ONCE = ("station", "library")


def fill(db: sqlite3.Connection) -> None:
    """Creates the tables and their rows."""
    rng = random.Random("map")
    db.executescript(SCHEMA)
    centres: list[tuple[float, float]] = []
    while len(centres) < len(TOWNS):
        point = (rng.uniform(6, 114), rng.uniform(6, 84))
        if all(dist(point, other) > 17 for other in centres):
            centres.append(point)
    for n, (name, (x, y)) in enumerate(zip(TOWNS, centres, strict=True), 1):
        add(db, "towns", (n, name, round(x, 3), round(y, 3), rng.randint(9, 940) * 100))
        _streets(db, rng, n, x, y)
    _highways(db, centres)
    for n, name in enumerate(TOWNS, 1):
        _places(db, rng, n, name)
    home = db.execute("SELECT id FROM places WHERE name = 'Aldermere Public Library'").fetchone()[0]
    add(db, "people", (ME, "Ida Brandt", "ida", "harbor2026", home))
    places = [r[0] for r in db.execute("SELECT id FROM places")]
    for place in rng.sample(places, 6):
        add(db, "saved", (ME, place, rng.choice(("Want to go", "Favorites"))))
    _draw(db)
    fill_texts(db)
    db.commit()


def _draw(db: sqlite3.Connection) -> None:
    """Adds the data of the drawing.

    A separate generator draws it: towns, roads and places do not change with it.
    """
    rng = random.Random("map drawing")
    db.executescript(streets.SCHEMA + streets.BUS_SCHEMA)
    towns = db.execute("SELECT * FROM towns").fetchall()
    rivers = scenery.fill_rivers(db, rng)
    lines = {town["id"]: streets.fill_town(db, rng, town["id"], rivers) for town in towns}
    crossed = [*rivers, *streets.fill_roads(db), *scenery.fill_county(db, rng)]
    for town in towns:
        scenery.fill_town(db, rng, town, lines[town["id"]], crossed)
    streets.fill_buses(db, rng, len(towns))


def _streets(db: sqlite3.Connection, rng: random.Random, town: int, x: float, y: float) -> None:
    """Adds a town: a grid of four by three crossings, where every row and column is a street."""
    names = rng.sample(STREETS, 7)
    grid = {}
    for column in range(4):
        for line in range(3):
            point = (
                x + 0.42 * column + rng.uniform(-0.1, 0.1) - 0.63,
                y + 0.38 * line + rng.uniform(-0.1, 0.1) - 0.38,
            )
            grid[column, line] = (12 * (town - 1) + 3 * column + line + 1, point)
            add(db, "nodes", (grid[column, line][0], town, round(point[0], 4), round(point[1], 4)))
    for (column, line), (node, point) in grid.items():
        for step, name in (
            ((column + 1, line), names[line]),
            ((column, line + 1), names[3 + column]),
        ):
            if step in grid:
                add(
                    db,
                    "roads",
                    (
                        node,
                        grid[step][0],
                        name,
                        round(dist(point, grid[step][1]) * 1.05, 2),
                        "street",
                    ),
                )


def _highways(db: sqlite3.Connection, centres: list[tuple[float, float]]) -> None:
    """Adds roads from each town to its three nearest.

    Motorways run beside the longest fifth of these roads. They are closed to bicycles and walkers.
    """
    pairs = {
        tuple(sorted((a, b)))
        for a in range(len(centres))
        for b in sorted(range(len(centres)), key=lambda b: dist(centres[a], centres[b]))[1:4]
    }
    by_length = sorted(pairs, key=lambda pair: dist(centres[pair[0]], centres[pair[1]]))
    fast = set(by_length[-len(by_length) // 5 :])
    for n, (a, b) in enumerate(sorted(pairs)):
        km = round(dist(centres[a], centres[b]) * 1.18, 1)
        add(db, "roads", (12 * a + 5, 12 * b + 8, f"Route {20 + n}", km, "road"))
        if (a, b) in fast:
            add(
                db,
                "roads",
                (12 * a + 5, 12 * b + 8, f"Motorway M{1 + n % 7}", round(km * 0.93, 1), "motorway"),
            )


def _places(db: sqlite3.Connection, rng: random.Random, town: int, town_name: str) -> None:
    taken: set[str] = {r[0] for r in db.execute("SELECT name FROM places")}
    nodes = db.execute("SELECT id FROM nodes WHERE in_town = ?", (town,)).fetchall()
    for category, patterns in KINDS.items():
        for pattern in patterns if category not in PLACED_ONCE else patterns[:1]:
            if category == "hospital" and town % 3:
                continue
            street = rng.choice(STREETS)
            name = pattern.format(t=town_name, s=street.split()[0])
            name = name if name not in taken else f"{name}, {town_name}"
            taken.add(name)
            node = rng.choice(nodes)[0]
            roads = [
                r[0]
                for r in db.execute(
                    "SELECT name FROM roads WHERE kind = 'street' AND (a = ? OR b = ?)",
                    (node, node),
                )
            ]
            opens = rng.choice((7, 8, 9, 10))
            values = (
                name, category, town, node, f"{rng.randint(1, 98)} {rng.choice(sorted(roads))}", f"{3100 + town:05}", f"555-0{rng.randint(200, 999)}",
                opens, opens + rng.choice((8, 9, 10, 12)), round(rng.uniform(2.9, 4.9), 1),
            )  # fmt: skip
            columns = "name, category, town_id, node_id, address, zip, phone, opens, closes, rating"
            db.execute(
                f"INSERT INTO places ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values
            )
