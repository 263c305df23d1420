"""Bus lines: three per town, along its streets."""

import random
import sqlite3

from agentgym_websites.site import add

SCHEMA = """
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
