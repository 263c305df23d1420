"""Streets and roads as they are drawn and described, the positions of places, and bus lines."""

import random
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import dist

from agentgym_websites.map.route import (
    Line,
    Point,
    at,
    bent,
    dots,
    length,
    path,
    smooth,
)
from agentgym_websites.map.scenery import Ground
from agentgym_websites.site import add

SCHEMA = """
CREATE TABLE streets (id INTEGER PRIMARY KEY, town_id INT, name TEXT, off_id INT, metres INT, surface TEXT, speed INT, lit TEXT, bike TEXT,
  x REAL, y REAL, path TEXT);
CREATE TABLE crossings (node_id INT, street_id INT, PRIMARY KEY (node_id, street_id));
CREATE TABLE bends (a INT, b INT, name TEXT, kind TEXT, path TEXT, PRIMARY KEY (a, b, name));
CREATE INDEX streets_in ON streets (town_id);
CREATE INDEX crossings_on ON crossings (street_id);
"""
LANES = (
    "Weavers Close", "Tanners Yard", "Orchard Close", "Saddlers Court", "Candle Lane", "Heron Close", "Pump Yard", "Bakehouse Lane",
    "Gooseberry Close", "Ropewalk", "Mulberry Court", "Dovecote Lane", "Coopers Yard", "Kiln Close", "Larch Grove", "Needle Lane",
    "Thistle Court", "Almshouse Yard", "Ferrymans Close", "Lantern Court", "Quince Close", "Wheelwrights Yard", "Bellfoundry Lane", "Sorrel Grove",
)  # fmt: skip
LANES_IN_TOWN = 12
SURFACES = ("asphalt", "asphalt", "cobblestone", "paving stones", "concrete", "fine gravel")
SPEEDS = (20, 30, 40, 50)
LIT = ("all night", "until midnight", "not lit")
BIKE = ("cycle lane", "separate cycle path", "shared with cars", "shared with cars")
ASIDE = 24  # metres from the middle of a street to a place beside it
Streets = dict[str, tuple[int, list[int], list[Point]]]
"""Streets by name: the row's id, the crossings in order, and the line from end to end."""


def fill_town(
    db: sqlite3.Connection, rng: random.Random, town: int, rivers: Sequence[Line]
) -> list[Line]:
    """Draws and describes a town's streets; returns their lines.

    Only the main streets cross a river.
    """
    points = {
        n["id"]: (1000 * n["x"], 1000 * n["y"])
        for n in db.execute("SELECT * FROM nodes WHERE in_town = ?", (town,))
    }
    first = min(points)
    rows = [[first + 3 * column + line for column in range(4)] for line in range(3)]
    columns = [[first + 3 * column + line for line in range(3)] for column in range(4)]
    streets: Streets = {}
    for nodes in (*rows, *columns):
        name = db.execute(
            "SELECT name FROM roads WHERE kind = 'street' AND a = ? AND b = ?", nodes[:2]
        ).fetchone()[0]
        line = smooth(
            [
                _beyond(rng, points, nodes),
                *(points[n] for n in nodes),
                _beyond(rng, points, nodes[::-1]),
            ]
        )
        key = _add(db, rng, town, name, None, line)
        streets[name] = key, nodes, line
        add(db, "crossings", *((node, key) for node in nodes))
        for i, pair in enumerate(pairwise(nodes)):
            _bend(db, *pair, name, "street", line[5 * (i + 1) : 5 * (i + 2) + 1])
    _place(db, town, streets)
    return [*(line for _, _, line in streets.values()), *_lanes(db, rng, town, streets, rivers)]


def _beyond(rng: random.Random, points: dict[int, Point], nodes: list[int]) -> Point:
    """Returns the end of a street beyond its first crossing."""
    (ax, ay), (bx, by) = points[nodes[0]], points[nodes[1]]
    part = rng.uniform(0.45, 0.8)
    return ax + part * (ax - bx) + rng.uniform(-60, 60), ay + part * (ay - by) + rng.uniform(
        -60, 60
    )


def _add(
    db: sqlite3.Connection, rng: random.Random, town: int, name: str, off: int | None, line: Line
) -> int:
    """Adds a street; returns its id.

    A street in the middle of a town is lit and paved. The properties of side streets are drawn.
    """
    x, y = at(line, length(line) / 2)
    surface, speed = (
        rng.choice(SURFACES[:4] if off is None else SURFACES),
        rng.choice(SPEEDS[1:] if off is None else SPEEDS[:2]),
    )
    lit, bike = (
        rng.choice(LIT[:2] if off is None else LIT),
        rng.choice(BIKE) if off is None else BIKE[-1],
    )
    columns = "town_id, name, off_id, metres, surface, speed, lit, bike, x, y, path"
    metres = round(length(line) / 10) * 10
    values = (
        town,
        name,
        off,
        metres,
        surface,
        speed,
        lit,
        bike,
        round(x / 1000, 3),
        round(y / 1000, 3),
        path(line),
    )
    return (
        db.execute(
            f"INSERT INTO streets ({columns}) VALUES ({', '.join('?' * 11)})", values
        ).lastrowid
        or 0
    )


def _lanes(
    db: sqlite3.Connection, rng: random.Random, town: int, streets: Streets, rivers: Sequence[Line]
) -> Iterator[Line]:
    """Adds dead ends, which no route uses; yields their lines."""
    middle = next(iter(streets.values()))[2][0]
    water = [
        p
        for line in rivers
        for a, b in pairwise(line)
        if dist(a, middle) < 4500
        for p in dots((a, b), 12)
    ]
    ground = Ground([*water, *(p for _, _, line in streets.values() for p in dots(line, 12))])
    names, tries = rng.sample(LANES, LANES_IN_TOWN), 0
    while names and tries < 500:
        tries += 1
        off = rng.choice(sorted(streets))
        key, _, line = streets[off]
        along, side, long = (
            rng.uniform(60, length(line) - 60),
            rng.choice((-1, 1)),
            rng.uniform(90, 190),
        )
        ends = [at(line, along, side * part * long) for part in (0, 0.5, 1)]
        if all(ground.free(p, 38) for p in dots(ends, 12)[4:]):
            lane = smooth(
                [
                    ends[0],
                    (ends[1][0] + rng.uniform(-12, 12), ends[1][1] + rng.uniform(-12, 12)),
                    ends[2],
                ],
                4,
            )
            for point in dots(lane, 12):
                ground.take(point)
            _add(db, rng, town, names.pop(), key, lane)
            yield lane


def _bend(db: sqlite3.Connection, a: int, b: int, name: str, kind: str, line: Line) -> None:
    add(db, "bends", (a, b, name, kind, path(line)))


def fill_roads(db: sqlite3.Connection) -> Sequence[Line]:
    """Draws the roads between the towns; returns their lines.

    A motorway bends to the other side than the road beside it.
    """
    nodes = {n["id"]: (1000 * n["x"], 1000 * n["y"]) for n in db.execute("SELECT * FROM nodes")}
    lines = []
    for n, r in enumerate(
        db.execute(
            "SELECT a, b, name, kind FROM roads WHERE kind <> 'street' ORDER BY rowid"
        ).fetchall()
    ):
        line = bent(
            nodes[r["a"]],
            nodes[r["b"]],
            -0.1 if r["kind"] == "motorway" else (0.11, 0.14, 0.09)[n % 3],
        )
        _bend(db, r["a"], r["b"], r["name"], r["kind"], line)
        lines.append(line)
    return lines


def _place(db: sqlite3.Connection, town: int, streets: Streets) -> None:
    """Places each place beside its street, near its crossing.

    Odd numbers are on the left, even ones on the right.
    """
    taken: list[Point] = []
    for p in db.execute("SELECT * FROM places WHERE town_id = ? ORDER BY id", (town,)).fetchall():
        number, _, street = p["address"].partition(" ")
        key, nodes, line = streets[street]
        crossing, side = (
            length(line[: 5 * (nodes.index(p["node_id"]) + 1) + 1]),
            -ASIDE if int(number) % 2 == 0 else ASIDE,
        )
        spots = (
            at(line, crossing + way * along, side)
            for along in range(48, 200, 12)
            for way in (1, -1)
        )
        spot = next(s for s in spots if all(dist(s, other) > 32 for other in taken))
        taken.append(spot)
        sql = "UPDATE places SET street_id = ?, spot_x = ?, spot_y = ? WHERE id = ?"
        db.execute(sql, (key, round(spot[0] / 1000, 3), round(spot[1] / 1000, 3), p["id"]))


BUS_SCHEMA = """
CREATE TABLE lines (id INTEGER PRIMARY KEY, town_id INT, number INT, every INT, first TEXT, last TEXT, fare INT);
CREATE TABLE stops (line_id INT, position INT, node_id INT, PRIMARY KEY (line_id, position));
CREATE TABLE halts (id INTEGER PRIMARY KEY, x REAL, y REAL, in_town INT, name TEXT);
CREATE INDEX lines_in ON lines (town_id);
CREATE INDEX stops_at ON stops (node_id);
CREATE INDEX halts_in ON halts (in_town);
"""
HALTS = """INSERT INTO halts SELECT n.id, n.x, n.y, n.in_town, (SELECT group_concat(name, ' / ') FROM (SELECT name FROM crossings c
  JOIN streets ON id = street_id WHERE c.node_id = n.id ORDER BY id)) FROM nodes n WHERE n.id IN (SELECT node_id FROM stops)"""
"""SQL that adds the stops; a stop is named after the streets that cross there."""
LINES_IN_TOWN = 3
EVERY = (8, 10, 12, 15, 20, 25, 30, 40)
FARES = (140, 160, 180, 190, 210, 230)


def fill_buses(db: sqlite3.Connection, rng: random.Random, towns: int) -> None:
    """Adds the lines of all towns, each with its number."""
    numbers = rng.sample(range(1, 100), LINES_IN_TOWN * towns)
    for n, number in enumerate(sorted(numbers)):
        town = n % towns + 1
        first = f"{rng.choice((5, 6, 7)):02}:{rng.choice((0, 5, 10, 15, 25, 35, 40, 50)):02}"
        last = f"{rng.choice((20, 21, 22, 23)):02}:{rng.choice((5, 10, 20, 30, 45, 55)):02}"
        add(db, "lines", (n + 1, town, number, rng.choice(EVERY), first, last, rng.choice(FARES)))
        add(
            db,
            "stops",
            *((n + 1, i + 1, node) for i, node in enumerate(_way(rng, town, n // towns))),
        )
    db.execute(HALTS)


def _way(rng: random.Random, town: int, which: int) -> list[int]:
    """Returns the crossings of a line.

    It runs along a street through the town, then along another to its end.
    """
    line, column, down = which, rng.choice((1, 2, 3)), rng.choice((True, False))
    along = [(c, line) for c in range(column + 1)]
    turned = [
        (column, n)
        for n in (
            range(line + 1, 3) if (down or line == 0) and line < 2 else range(line - 1, -1, -1)
        )
    ]
    return [12 * (town - 1) + 3 * c + n + 1 for c, n in along + turned]
