"""Lines on the map, the fastest route between crossings (Dijkstra, 1959), and its turns in words."""

import heapq
import re
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import atan2, degrees, dist
from typing import NamedTuple

Point = tuple[float, float]
Line = Sequence[Point]


def smooth(points: Line, steps: int = 5) -> list[Point]:
    """Returns a smooth line through some points (Catmull and Rom, 1974).

    Each stretch between two points gets ``steps`` points.
    """
    known = [points[0], *points, points[-1]]
    found = [points[0]]
    for i in range(len(points) - 1):
        found += [_between(known[i : i + 4], step / steps) for step in range(1, steps + 1)]
    return found


def _between(four: Line, t: float) -> Point:
    def along(a: float, b: float, c: float, d: float) -> float:
        return 0.5 * (
            2 * b
            + (c - a) * t
            + (2 * a - 5 * b + 4 * c - d) * t**2
            + (3 * b - a - 3 * c + d) * t**3
        )

    (ax, ay), (bx, by), (cx, cy), (dx, dy) = four
    return along(ax, bx, cx, dx), along(ay, by, cy, dy)


def bent(a: Point, b: Point, by: float, steps: int = 16) -> list[Point]:
    """Returns an arc from one point to another.

    ``by`` is its height as a part of the distance.
    """
    x, y = (a[0] + b[0]) / 2 - by * (b[1] - a[1]), (a[1] + b[1]) / 2 + by * (b[0] - a[0])
    return [
        (
            (1 - t) ** 2 * a[0] + 2 * t * (1 - t) * x + t**2 * b[0],
            (1 - t) ** 2 * a[1] + 2 * t * (1 - t) * y + t**2 * b[1],
        )
        for t in (step / steps for step in range(steps + 1))
    ]


def length(line: Line) -> float:
    """Returns the length of a line."""
    return sum(dist(a, b) for a, b in pairwise(line))


def at(line: Line, metres: float, aside: float = 0.0) -> Point:
    """Returns the point some metres along a line, ``aside`` metres to its left.

    If the line is shorter, it is the last point.
    """
    for a, b in pairwise(line):
        step = dist(a, b)
        if metres <= step or b == line[-1]:
            t = min(1.0, metres / step)
            left = (-(b[1] - a[1]) / step, (b[0] - a[0]) / step)
            return a[0] + t * (b[0] - a[0]) + aside * left[0], a[1] + t * (
                b[1] - a[1]
            ) + aside * left[1]
        metres -= step
    return line[-1]


def dots(line: Line, every: float) -> list[Point]:
    """Returns points of a line that are at most ``every`` metres apart, its corners included."""
    found = [line[0]]
    for (ax, ay), (bx, by) in pairwise(line):
        count = int(dist((ax, ay), (bx, by)) / every) + 1
        found += [
            (ax + (bx - ax) * n / count, ay + (by - ay) * n / count) for n in range(1, count + 1)
        ]
    return found


def path(line: Line, *, closed: bool = False) -> str:
    """Writes a line for the ``d`` of an SVG's path, rounded to metres."""
    points = [(round(x), round(y)) for x, y in line]
    steps = "".join(f"l{c - a} {d - b}" for (a, b), (c, d) in pairwise(points) if (a, b) != (c, d))
    return f"M{points[0][0]} {points[0][1]}{steps}{'z' * closed}"


def points(path: str) -> list[Point]:
    """Reads a line that :func:`path` has written."""
    numbers = [int(n) for n in re.findall(r"-?\d+", path)]
    found = [(numbers[0], numbers[1])]
    for x, y in zip(numbers[2::2], numbers[3::2], strict=True):
        found.append((found[-1][0] + x, found[-1][1] + y))
    return [(float(x), float(y)) for x, y in found]


# Speeds in km/h.
SPEEDS = {
    "car": {"street": 35.0, "road": 75.0, "motorway": 110.0},
    "bike": {"street": 15.0, "road": 18.0},
    "foot": {"street": 4.8, "road": 4.8},
}


class Leg(NamedTuple):
    """A stretch along one road, from crossing to crossing."""

    road: str
    km: float
    nodes: tuple[int, ...] = ()


class Route(NamedTuple):
    """A route: kilometres, minutes, and the roads in order."""

    km: float
    minutes: int
    legs: list[Leg]


def find_route(db: sqlite3.Connection, start: int, end: int, mode: str) -> Route | None:
    """Returns the fastest route between two nodes, or None without one."""
    ways: dict[int, list[tuple[int, str, float, float]]] = {}
    for a, b, name, km, kind in db.execute("SELECT a, b, name, km, kind FROM roads"):
        speed = SPEEDS[mode].get(kind)
        if speed:
            for here, there in ((a, b), (b, a)):
                ways.setdefault(here, []).append((there, name, km, 60 * km / speed))
    best: dict[int, float] = {}
    queue: list[tuple[float, float, int, tuple[Leg, ...]]] = [(0.0, 0.0, start, ())]
    while queue:
        minutes, km, node, legs = heapq.heappop(queue)
        if node in best:
            continue
        best[node] = minutes
        if node == end:
            return Route(round(km, 1), max(1, round(minutes)), list(legs))
        for there, name, length, time in ways.get(node, []):
            if there not in best:
                last = legs[-1] if legs and legs[-1].road == name else None
                joined = (
                    (*legs[:-1], Leg(name, round(last.km + length, 2), (*last.nodes, there)))
                    if last
                    else (*legs, Leg(name, length, (node, there)))
                )
                heapq.heappush(queue, (minutes + time, km + length, there, joined))
    return None


def told(minutes: int) -> str:
    """Formats a time span.

    >>> told(95)
    '1 h 35 min'
    """
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


POINTS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
STRAIGHT = 35  # degrees of a turn that still counts as straight on


def _heading(db: sqlite3.Connection, a: int, b: int, road: str) -> tuple[float, float]:
    """Returns the directions in which a road leaves a and arrives at b.

    They are degrees from the east to the left.
    """
    path = db.execute(
        "SELECT path FROM bends WHERE a = ? AND b = ? AND name = ?", (min(a, b), max(a, b), road)
    ).fetchone()[0]
    line = points(path) if a < b else points(path)[::-1]
    leaves, comes = (degrees(atan2(n[1] - m[1], n[0] - m[0])) for m, n in (line[:2], line[-2:]))
    return leaves, comes


def instructions(db: sqlite3.Connection, route: Route) -> Iterator[tuple[str, float]]:
    """Yields the instructions of a route, each with its kilometres."""
    before = 0.0
    for n, leg in enumerate(route.legs):
        stretches = [_heading(db, a, b, leg.road) for a, b in pairwise(leg.nodes)]
        turn = (stretches[0][0] - before + 180) % 360 - 180
        if n == 0:
            told = f"Head {POINTS[round(stretches[0][0] / 45) % 8]} on {leg.road}"
        elif abs(turn) < STRAIGHT:
            told = f"Continue onto {leg.road}"
        else:
            told = f"Turn {'left' if turn > 0 else 'right'} onto {leg.road}"
        before = stretches[-1][1]
        yield told, leg.km


def drawn(db: sqlite3.Connection, route: Route) -> list[str]:
    """Returns the paths of a route."""
    pairs = [(min(pair), max(pair), leg.road) for leg in route.legs for pair in pairwise(leg.nodes)]
    return [
        db.execute("SELECT path FROM bends WHERE a = ? AND b = ? AND name = ?", key).fetchone()[0]
        for key in pairs
    ]
