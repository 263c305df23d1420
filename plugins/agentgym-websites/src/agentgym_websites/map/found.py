"""The map pages' queries, and the display of their results beside a part of the map."""

import sqlite3
from collections.abc import Sequence
from math import dist
from typing import Any

from flask import render_template, request

from agentgym_websites.map.view import Mark, View, asked, drawing
from agentgym_websites.site import database, rows, where

PLACE = "p.*, t.name AS town, n.x, n.y"
PLACES = "places p JOIN towns t ON t.id = p.town_id JOIN nodes n ON n.id = p.node_id WHERE "
HERE = 0.25  # radius in kilometres


def shown(
    template: str, view: View, marks: Sequence[Mark] = (), way: Sequence[str] = (), **values: Any
) -> str:
    """Renders a page with a part of the map, or that part alone.

    The address can select another part than ``view``.
    """
    chart = drawing(database(), asked(request.args, view), marks, way)
    return render_template(
        "map/chart.html" if request.args.get("part") == "map" else template, chart=chart, **values
    )


def matching(words: str) -> list[sqlite3.Row]:
    """Returns the places that words can mean.

    It is the place with exactly this name, or else all places whose name, street and town contain
    every word.
    """
    exact = rows(f"SELECT {PLACE} FROM {PLACES} lower(p.name) = lower(?)", words.strip())
    if exact or not words.strip():
        return exact
    condition, values = where(
        {
            f"(p.name || ' ' || address || ' ' || t.name || ' ' || category) LIKE ? /* {n} */": f"%{w}%"
            for n, w in enumerate(words.split())
        }
    )
    return rows(f"SELECT {PLACE} FROM {PLACES} {condition} ORDER BY p.name LIMIT 40", *values)


def ends(words: str) -> list[sqlite3.Row]:
    """Returns the possible start or end points of a route: places, or the centre of a town."""
    sql = """SELECT t.name, t.name AS town, n.id AS node_id, n.x AS spot_x, n.y AS spot_y, '' AS address FROM towns t JOIN nodes n
      ON n.id = 12 * t.id - 7 WHERE lower(t.name) = lower(?)"""
    return rows(sql, words.strip()) or matching(words)


def streets_matching(words: str, limit: int = 20) -> list[sqlite3.Row]:
    """Returns the streets whose name and town contain every word."""
    condition, values = where(
        {
            f"(s.name || ', ' || t.name) LIKE ? /* {n} */": f"%{w}%"
            for n, w in enumerate(words.split())
        }
    )
    sql = f"SELECT s.*, t.name AS town FROM streets s JOIN towns t ON t.id = town_id WHERE {condition} ORDER BY s.name, t.name LIMIT {limit}"
    return rows(sql, *values) if values else []


def pins(places: Sequence[sqlite3.Row]) -> list[Mark]:
    """Returns marks for places."""
    return [Mark(p["spot_x"], p["spot_y"], p["name"]) for p in places]


def nearest(places: Sequence[sqlite3.Row], x: float, y: float) -> list[tuple[float, sqlite3.Row]]:
    """Returns places with their distances in kilometres, nearest first."""
    found = ((round(dist((x, y), (p["x"], p["y"])), 2), p) for p in places)
    return sorted(found, key=lambda pair: (pair[0], pair[1]["name"]))


def around_here(x: float, y: float) -> dict[str, Any]:
    """Returns a point's town, and the places, streets and stops within ``HERE``."""
    near = "x BETWEEN ? AND ? AND y BETWEEN ? AND ?"
    box = (x - HERE, x + HERE, y - HERE, y + HERE)
    spots = rows(
        "SELECT p.*, t.name AS town, spot_x AS x, spot_y AS y FROM places p JOIN towns t ON t.id = town_id"
    )
    crossings = rows(f"SELECT id FROM nodes WHERE {near}", *box)
    ids = ", ".join(str(n["id"]) for n in crossings) or "0"
    streets = f"SELECT DISTINCT s.* FROM streets s JOIN crossings ON street_id = s.id WHERE node_id IN ({ids}) ORDER BY name"
    return {
        "places": [(km, p) for km, p in nearest(spots, x, y) if km <= HERE],
        "streets": rows(streets),
        "stops": rows(f"SELECT * FROM halts WHERE id IN ({ids}) ORDER BY id"),
        "town": rows(
            "SELECT * FROM towns ORDER BY (x - ?) * (x - ?) + (y - ?) * (y - ?) LIMIT 1", x, x, y, y
        )[0],
    }
