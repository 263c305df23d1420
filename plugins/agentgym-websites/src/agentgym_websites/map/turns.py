"""The directions of a route: where to turn."""

import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from math import atan2, degrees

from agentgym_websites.map.geometry import points
from agentgym_websites.map.route import Route

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
