"""Grids of the admin pages, with sorting, pages of rows, and changes of many rows at once."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import request

from agentgym_websites.site import back, database, field, number

SIZES = (10, 20, 50)


def size(usual: int) -> int:
    """Returns the number of rows per page."""
    wanted = number("size")
    return wanted if wanted in SIZES else usual


def ordered(columns: Mapping[str, str], usual: str) -> str:
    """Returns SQL for the order of the address: ``sort=price``, or ``sort=-price`` for descending.

    The usual order decides between equal values.
    """
    wanted = request.args.get("sort", "")
    column = columns.get(wanted.removeprefix("-"))
    return f"{column}{' DESC' if wanted.startswith('-') else ''}, {usual}" if column else usual


def picked(table: str, actions: Sequence[str]) -> tuple[list[int], str]:
    """Reads the selected rows of a table and the action; an unknown action selects none."""
    there = {r[0] for r in database().execute(f"SELECT id FROM {table}")}
    keys = [int(text) for text in request.form.getlist("row") if text.isascii() and text.isdigit()]
    return [key for key in keys if key in there], field("how") if field("how") in actions else ""


def change(endpoint: str, noun: str, keys: Sequence[int], sql: str, how: str) -> Any:
    """Changes rows and returns to the grid; ``sql`` gets the action and a row's id."""
    kept = dict(request.args)
    if not how:
        return back("Choose an action.", endpoint, **kept)
    if not keys:
        return back("Select one row at least.", endpoint, **kept)
    with database() as connection:
        connection.executemany(sql, [(how, key) for key in keys])
    return back(
        f"{len(keys)} {noun if len(keys) > 1 else noun[:-1]} {'deleted' if how == 'delete' else 'changed'}.",
        endpoint,
        **kept,
    )
