"""The surroundings of the streets: rivers, woods, a railway, parks, houses.

Lines are in metres, east and north of the county's corner.
"""

import random
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import cos, dist, pi, sin

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
from agentgym_websites.site import add

SCHEMA = """
CREATE TABLE shapes (kind TEXT, town_id INT, path TEXT);
CREATE TABLE rivers (name TEXT, x REAL, y REAL);
CREATE INDEX shapes_in ON shapes (town_id);
"""
COUNTY = 0  # town id of objects outside of towns
# Each river flows through the middle of its towns, from the south to the sea.
RIVERS = {
    "River Brack": (12, 13, 10, 9),
    "River Tarn": (4, 8, 5),
    "River Linnet": (14, 2, 3),
}
SEA = (
    (-90, 80),
    (-40, 84),
    (-12, 88.5),
    (0, 87),
    (15, 85.6),
    (30, 84.6),
    (45, 86.2),
    (60, 87.5),
    (80, 86.9),
    (100, 85.3),
    (120, 87.6),
    (150, 85),
    (210, 82),
)
WOODS, LAKES, FIELDS = 30, 7, 320
CELL = 40  # metres: neighbours are searched in cells of this size


class Ground:
    """Finds free ground for new objects.

    Args:
        taken: occupied points.
    """

    def __init__(self, taken: Line = ()):
        self._cells: dict[tuple[int, int], list[Point]] = {}
        for point in taken:
            self.take(point)

    def take(self, point: Point) -> None:
        """Marks a point as occupied."""
        self._cells.setdefault((int(point[0] // CELL), int(point[1] // CELL)), []).append(point)

    def free(self, point: Point, metres: float) -> bool:
        """Returns whether no occupied point is within some metres, at most ``CELL``, of a point."""
        column, line = int(point[0] // CELL), int(point[1] // CELL)
        near = (self._cells.get((column + i, line + j), ()) for i in (-1, 0, 1) for j in (-1, 0, 1))
        return all(dist(point, other) >= metres for points in near for other in points)


def fill_rivers(db: sqlite3.Connection, rng: random.Random) -> Sequence[Line]:
    """Draws the rivers; returns their lines."""
    db.executescript(SCHEMA)
    towns = _towns(db)
    rivers = [
        list(_river(db, rng, name, [towns[n] for n in through])) for name, through in RIVERS.items()
    ]
    add(db, "shapes", *(("river", COUNTY, path(line)) for line in rivers))
    return rivers


def _towns(db: sqlite3.Connection) -> dict[int, Point]:
    return {t["id"]: (1000 * t["x"], 1000 * t["y"]) for t in db.execute("SELECT * FROM towns")}


def fill_county(db: sqlite3.Connection, rng: random.Random) -> Sequence[Line]:
    """Draws the other objects between the towns; returns the railway's lines."""
    towns = _towns(db)
    sea = smooth([(1000 * x, 1000 * y) for x, y in SEA])
    add(
        db,
        "shapes",
        ("sea", COUNTY, path([*sea, (210_000, 150_000), (-90_000, 150_000)], closed=True)),
    )
    for kind, count, size in (("wood", WOODS, (2500, 6500)), ("lake", LAKES, (700, 1700))):
        for _ in range(count):
            centre = _apart(rng, towns)
            add(
                db,
                "shapes",
                (kind, COUNTY, path(blob(rng, centre, rng.uniform(*size)), closed=True)),
            )
    add(
        db,
        "shapes",
        ("field", COUNTY, "".join(path(_field(rng), closed=True) for _ in range(FIELDS))),
    )
    rails = list(_rails(db, towns))
    add(db, "shapes", *(("rail", COUNTY, path(line)) for line in rails))
    return rails


def _field(rng: random.Random) -> list[Point]:
    x, y = rng.uniform(-20_000, 140_000), rng.uniform(-15_000, 82_000)
    wide, high, lean = rng.uniform(600, 2600), rng.uniform(500, 1900), rng.uniform(-400, 400)
    return [
        (x, y),
        (x + wide, y + lean / 2),
        (x + wide - lean, y + high),
        (x - lean, y + high - lean / 2),
    ]


def _apart(rng: random.Random, towns: dict[int, Point]) -> Point:
    while True:
        point = (rng.uniform(-20_000, 140_000), rng.uniform(-15_000, 78_000))
        if all(dist(point, town) > 8500 for town in towns.values()):
            return point


def blob(rng: random.Random, centre: Point, radius: float, flat: float = 0.8) -> list[Point]:
    """Returns an irregular round shape."""
    corners = [
        (centre[0] + r * cos(2 * pi * n / 9), centre[1] + flat * r * sin(2 * pi * n / 9))
        for n, r in enumerate(radius * rng.uniform(0.75, 1.2) for _ in range(9))
    ]
    return smooth([*corners, corners[0]], 4)


def _river(
    db: sqlite3.Connection, rng: random.Random, name: str, towns: list[Point]
) -> Iterator[Point]:
    points = [(towns[0][0] + 9000, -60_000.0), (towns[0][0] + 3000, -8000.0)]
    for x, y in towns:
        points += [
            (x + rng.uniform(-900, 900), y - 4500),
            (x + 15, y - 700),
            (x - 15, y + 700),
            (x + rng.uniform(-900, 900), y + 4500),
        ]
    points.append((towns[-1][0] + rng.uniform(-3000, 3000), 88_000.0))
    line = smooth(points, 9)
    for x, y in towns:
        add(db, "rivers", (name, round(x / 1000, 3), round(y / 1000 - 0.55, 3)))
    yield from line


def _rails(db: sqlite3.Connection, towns: dict[int, Point]) -> Iterator[list[Point]]:
    """Returns the tracks of the railway: the shortest that join all stations (Prim, 1957)."""
    stations = {
        r["town_id"]: (1000 * r["spot_x"], 1000 * r["spot_y"])
        for r in db.execute("SELECT * FROM places WHERE category = 'station'")
    }
    joined = [1]
    while len(joined) < len(towns):
        a, b = min(
            ((a, b) for a in joined for b in stations if b not in joined),
            key=lambda pair: dist(stations[pair[0]], stations[pair[1]]),
        )
        joined.append(b)
        yield bent(stations[a], stations[b], 0.08, 40)


def fill_town(
    db: sqlite3.Connection,
    rng: random.Random,
    town: sqlite3.Row,
    streets: Sequence[Line],
    crossed: Sequence[Line],
) -> None:
    """Draws a town's ground, its parks and its houses.

    Args:
        db: the database.
        rng: draws sizes.
        town: the town.
        streets: lines with houses along them.
        crossed: other lines that houses must not touch.
    """
    centre = (1000 * town["x"], 1000 * town["y"])
    add(db, "shapes", ("built", town["id"], path(blob(rng, centre, 1150, 0.78), closed=True)))
    parks = list(_parks(db, town["id"]))
    add(db, "shapes", *(("park", town["id"], path(park, closed=True)) for park in parks))
    near = [
        p
        for line in crossed
        for a, b in pairwise(line)
        if dist(a, centre) < 4500
        for p in dots((a, b), 25)
    ]
    ground, green = (
        Ground([p for line in streets for p in dots(line, 15)]),
        Ground([*near, *(p for park in parks for p in _inside(park))]),
    )
    add(db, "shapes", ("houses", town["id"], "".join(_houses(rng, streets, ground, green))))


def _inside(park: list[Point]) -> Iterator[Point]:
    x, y = sum(p[0] for p in park) / len(park), sum(p[1] for p in park) / len(park)
    for part in (1.0, 0.5):
        yield from dots([(x + part * (a - x), y + part * (b - y)) for a, b in [*park, park[0]]], 25)


def _parks(db: sqlite3.Connection, town: int) -> Iterator[list[Point]]:
    for park in db.execute(
        "SELECT * FROM places WHERE town_id = ? AND category = 'park' ORDER BY id", (town,)
    ):
        yield blob(
            random.Random(f"park {park['id']}"),
            (1000 * park["spot_x"], 1000 * park["spot_y"]),
            52,
            0.9,
        )


def _houses(
    rng: random.Random, streets: Sequence[Line], ground: Ground, green: Ground
) -> Iterator[str]:
    for street in streets:
        long, there = length(street), 18.0
        while there < long - 12:
            width, depth = rng.uniform(14, 28), rng.uniform(10, 16)
            for side in (-1, 1):
                middle = at(street, there, side * 20)
                if ground.free(middle, 17) and green.free(middle, 30):
                    ground.take(middle)
                    corners = [
                        (-width / 2, 13),
                        (width / 2, 13),
                        (width / 2, 13 + depth),
                        (-width / 2, 13 + depth),
                    ]
                    yield path(
                        [at(street, there + along, side * aside) for along, aside in corners],
                        closed=True,
                    )
            there += width + rng.choice((6, 10, 18))
