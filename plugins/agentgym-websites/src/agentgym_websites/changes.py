"""Compares the databases of an episode with the changes that the task wants.

A task states all changes that it wants, by database and table::

    {"forum": {"votes": {"added": [{"person_id": 1, "post_id": 7, "comment_id": 0, "vote": 1}]},
               "posts": {"changed": [{"id": 7, "to": {"score": 13}}]}}}

Any other difference is a side effect, except in the ``HARMLESS`` tables: the sites write nothing
when a page is only read. A task without changes wants no difference at all.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

Rows = list[dict[str, Any]]
Changes = dict[str, dict[str, Rows]]
"""Differences by table, each with up to three kinds.

``added`` and ``removed`` have rows; ``changed`` has keys with the new values of columns.
"""

FREE: Mapping[str, frozenset[str]] = {
    "commits": frozenset(("sha", "message")),
    "notes": frozenset("xy"),
    "wiki_edits": frozenset(("message",)),
}
"""Columns of added rows that are not compared.

An agent chooses the message of a commit or an edit, and can set a note some meters away.
"""
HARMLESS = frozenset(("shop.grids",))
"""Tables that can differ unless a task is about them: the visible columns of the admin's grids."""
TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
)


def differences(now: sqlite3.Connection, before: bytes) -> Changes:
    """Returns the differences of a database from a snapshot.

    Texts that differ only in blanks count as equal.
    """
    if not now.total_changes:
        return {}
    now.execute("ATTACH ':memory:' AS before")
    try:
        now.deserialize(before, name="before")
        found = {name: _table(now, name) for (name,) in now.execute(TABLES).fetchall()}
    finally:
        now.execute("DETACH before")
    return {name: changes for name, changes in found.items() if changes}


def _table(db: sqlite3.Connection, table: str) -> dict[str, Rows]:
    """Returns the differences of a table."""
    columns = db.execute(f'PRAGMA main.table_info("{table}")').fetchall()
    names, keys = [c["name"] for c in columns], [c["name"] for c in columns if c["pk"]]
    join = " AND ".join(f'a."{key}" = b."{key}"' for key in keys) or "a.rowid = b.rowid"
    differ = " OR ".join(f'a."{name}" IS NOT b."{name}"' for name in names)
    sql = f'SELECT a.* FROM {{}}."{table}" a LEFT JOIN {{}}."{table}" b ON {join} WHERE {differ}'
    new, old = (
        db.execute(sql.format(*pair)).fetchall()
        for pair in (("main", "before"), ("before", "main"))
    )
    return dict(
        _compared(
            [dict(row) for row in new],
            [dict(row) for row in old],
            keys,
            FREE.get(table, frozenset()),
        )
    )


def _compared(
    new: Rows, old: Rows, keys: list[str], free: frozenset[str]
) -> Iterator[tuple[str, Rows]]:
    """Yields the kinds of changes between rows that differ.

    A row without a key can only be added or removed.
    """
    if keys:
        was, now = ({tuple(row[k] for k in keys): row for row in rows} for rows in (old, new))
        pairs = [(was[key], row) for key, row in now.items() if key in was]
        added, removed = (
            [r for k, r in now.items() if k not in was],
            [r for k, r in was.items() if k not in now],
        )
    else:
        counts = Counter(_line(row) for row in new)
        counts.subtract(_line(row) for row in old)
        pairs, added, removed = (
            [],
            [json.loads(line) for line, n in counts.items() for _ in range(n)],
            [json.loads(line) for line, n in counts.items() for _ in range(-n)],
        )
    changed = [
        {**{k: row[k] for k in keys}, "to": to}
        for before, row in pairs
        if (
            to := {
                name: value for name, value in row.items() if _plain(value) != _plain(before[name])
            }
        )
    ]
    added = [{name: value for name, value in row.items() if name not in free} for row in added]
    for kind, rows in (("added", added), ("changed", changed), ("removed", removed)):
        if rows:
            yield kind, sorted(rows, key=_line)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Returns a value in its form for comparisons.

    Capitals and superfluous blanks are removed, and variants of Markdown's signs are unified.
    """
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if not isinstance(value, str):
        return value
    return " ".join(value.lower().replace("__", "**").replace("> ", ">").split())


def side_effects(found: Mapping[str, Changes], wanted: Mapping[str, Changes]) -> list[str]:
    """Returns the tables whose changes differ from those that a task wants, one line per table."""
    told = []
    for name in sorted({*found, *wanted}):
        here, there = found.get(name, {}), wanted.get(name, {})
        for table in sorted({*here, *there}):
            kinds = sorted(
                kind
                for kind in ("added", "changed", "removed")
                if _sorted(here.get(table, {}).get(kind, []))
                != _sorted(there.get(table, {}).get(kind, []))
            )
            if kinds and (table in there or f"{name}.{table}" not in HARMLESS):
                told.append(f"{name}.{table}: {', '.join(kinds)}")
    return told


def _sorted(rows: Rows) -> list[str]:
    return sorted(_line(_plain(row)) for row in rows)
