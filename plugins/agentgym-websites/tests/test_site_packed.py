"""The databases in the package's files: they equal the data of the sites' modules."""

import hashlib
import os
import subprocess
import sys

import pytest

from agentgym_websites import host as hosts
from agentgym_websites.packed import FILL, FOLDER, PACKED, file_of, pack, unpack
from agentgym_websites.site import open_database

SCHEMA = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
DIGEST = """
import hashlib
from agentgym_websites import fill, host
for name in fill.FILL:
    print(name, hashlib.sha256(host.snapshot(name)).hexdigest())
"""


def contents(db):
    """Returns the schema and all rows, with the hidden key of tables that have one."""
    schema = sorted(map(tuple, db.execute(SCHEMA)))
    found = {"": schema}
    for kind, name, sql in schema:
        if kind == "table":
            columns = "*" if "WITHOUT ROWID" in sql else "rowid, *"
            found[name] = [tuple(row) for row in db.execute(f"SELECT {columns} FROM {name}")]
    return found


@pytest.mark.parametrize(
    "tables", [pytest.param(t, marks=[pytest.mark.full] * (t != "map")) for t in PACKED]
)
def test_a_file_holds_what_its_site_is_filled_with(tables):
    """If this fails, run ``python -m agentgym_websites.packed``."""
    made, read = open_database(), open_database()
    FILL[tables](made)
    unpack(file_of(tables).read_bytes(), read)
    here, there = contents(made), contents(read)
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def test_the_files_are_small():
    assert {file.stem for file in FOLDER.iterdir()} == set(PACKED)
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 1_050_000


def test_a_database_survives_packing():
    db = open_database()
    db.executescript(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT, y REAL); CREATE TABLE empty (z INT);"
        " CREATE INDEX i ON a (x);CREATE TABLE pair (k TEXT PRIMARY KEY, n INT) WITHOUT ROWID;"
        " CREATE VIEW v AS SELECT x FROM a;INSERT INTO a VALUES (3, 'é\n\"', 0.1), (7, NULL, -2);"
        " INSERT INTO pair VALUES ('b', 1), ('a', 2);"
    )
    read = open_database()
    unpack(pack(db), read)
    assert contents(read) == contents(db)
    assert [r[0] for r in read.execute("SELECT x FROM v ORDER BY x")] == [None, 'é\n"']


@pytest.mark.full
def test_every_process_has_the_same_bytes():
    path = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(
        [sys.executable, "-c", DIGEST], env=path, capture_output=True, text=True, check=True
    )
    here = [f"{name} {hashlib.sha256(hosts.snapshot(name)).hexdigest()}" for name in FILL]
    assert done.stdout.splitlines() == here
