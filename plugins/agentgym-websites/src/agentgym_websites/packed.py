"""Databases as files of the package: reading takes a tenth of the time of filling.

``python -m agentgym_websites.packed`` writes the files again; run it after a change of
the data.
"""

import json
import lzma
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path

from agentgym_websites.site import add, open_database


def _fill(tables: str, db: sqlite3.Connection) -> None:
    import_module(f"agentgym_websites.{tables}.data").fill(db)


FILL: Mapping[str, Callable[[sqlite3.Connection], None]] = {
    tables: partial(_fill, tables) for tables in ("shop", "forum", "code", "map")
}
"""The function that fills a database, by the name of its tables; it imports what it needs."""

# A file of the shop would be as large as the others, and its data is filled faster.
PACKED: Sequence[str] = ("forum", "code", "map")
"""The databases that are read from files of the package."""

FOLDER = Path(__file__).parent / "packed"
OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def pack(db: sqlite3.Connection) -> bytes:
    """Returns the schema and the rows of a database, column by column, compressed."""
    objects = [tuple(row) for row in db.execute(OBJECTS)]
    tables = {}
    for kind, name, _ in objects:
        if kind == "table":
            rows = db.execute(f"SELECT * FROM {name}").fetchall()
            tables[name] = [list(column) for column in zip(*rows, strict=True)]
    text = json.dumps(
        {"objects": objects, "tables": tables}, ensure_ascii=False, separators=(",", ":")
    )
    return lzma.compress(text.encode(), lzma.FORMAT_XZ, filters=_FILTERS)


def unpack(content: bytes, db: sqlite3.Connection) -> None:
    """Creates the tables and rows of a packed database; indexes and views come after the rows."""
    held = json.loads(lzma.decompress(content))
    objects = sorted(held["objects"], key=lambda row: row[0] != "table")
    for is_table, group in groupby(objects, key=lambda row: row[0] == "table"):
        for _, name, sql in group:
            db.execute(sql)
            if is_table:
                add(db, name, *zip(*held["tables"][name], strict=True))
    db.commit()


def file_of(tables: str) -> Path:
    """Returns the file of a database; only the packed databases have one."""
    return FOLDER / f"{tables}.xz"


def write(fill: Mapping[str, Callable[[sqlite3.Connection], None]]) -> None:
    """Writes the files of databases."""
    FOLDER.mkdir(exist_ok=True)
    for tables, create in fill.items():
        db = open_database()
        create(db)
        file_of(tables).write_bytes(pack(db))


if __name__ == "__main__":
    write({tables: FILL[tables] for tables in PACKED})
