"""Invented names of people, towns and words for several sites; any likeness is a coincidence."""

import random

from agentgym_websites.tables import tables

_TABLES = tables("people")
FIRST: tuple[str, ...] = _TABLES["first"]
LAST: tuple[str, ...] = _TABLES["last"]
TOWNS: tuple[tuple[str, ...], ...] = _TABLES["towns"]


def full_names(rng: random.Random, count: int) -> list[str]:
    """Returns different names of people."""
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    return rng.sample(names, count)
