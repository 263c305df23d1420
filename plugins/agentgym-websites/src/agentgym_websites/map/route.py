"""The fastest route from one crossing to another (Dijkstra, 1959)."""

import heapq
import sqlite3
from typing import NamedTuple

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
