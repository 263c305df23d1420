"""Versions of files: commits with a parent and their changes, and branches that point at a commit.

Most versions of a file differ by a few lines. A text is stored complete, or as its difference from
another text.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from agentgym_websites.code.diff import Diff, blame, compare

SCHEMA = """
CREATE TABLE commits (id INTEGER PRIMARY KEY, project_id INT, sha TEXT, author_id INT, message TEXT, made TEXT, added INT, removed INT, parent INT);
CREATE TABLE blobs (id INTEGER PRIMARY KEY, text TEXT, base INT);
CREATE TABLE changes (commit_id INT, path TEXT, blob_id INT, PRIMARY KEY (commit_id, path)) WITHOUT ROWID;
CREATE TABLE branches (project_id INT, name TEXT, head INT, PRIMARY KEY (project_id, name)) WITHOUT ROWID;
CREATE TABLE tags (project_id INT, name TEXT, commit_id INT, PRIMARY KEY (project_id, name)) WITHOUT ROWID;
CREATE INDEX commits_of ON commits (project_id, sha);
CREATE VIEW history AS WITH RECURSIVE line (id, depth) AS (
  SELECT head, 0 FROM branches WHERE name = 'main'
  UNION ALL SELECT parent, depth + 1 FROM commits c JOIN line ON c.id = line.id WHERE parent IS NOT NULL
) SELECT c.*, depth FROM line JOIN commits c ON c.id = line.id;
CREATE VIEW files AS SELECT project_id, path, text AS content FROM (
  SELECT project_id, path, blob_id, min(depth) FROM history h JOIN changes ON commit_id = h.id GROUP BY project_id, path
) JOIN blobs b ON b.id = blob_id;
"""
# A commit and all commits before it, with the number of steps to each.
LINE = (
    "WITH RECURSIVE line (id, depth) AS (SELECT ?, 0"
    " UNION ALL SELECT parent, depth + 1 FROM commits c JOIN line ON c.id = line.id WHERE parent IS NOT NULL) "
)
MAIN = "main"


class Entry(NamedTuple):
    """A file of a commit: its text's number and the commit that wrote it."""

    blob: int
    commit: int


def _delta(base: str, text: str) -> str:
    old, new = base.splitlines(True), text.splitlines(True)
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return json.dumps(
        [[a, b, "".join(new[c:d])] for tag, a, b, c, d in steps if tag != "equal"],
        ensure_ascii=False,
    )


def _patched(base: str, delta: str) -> str:
    lines, there, parts = base.splitlines(True), 0, list[str]()
    for start, end, text in json.loads(delta):
        parts += [*lines[there:start], text]
        there = end
    return "".join([*parts, *lines[there:]])


def store(db: sqlite3.Connection, text: str, like: int | None = None) -> int:
    """Stores a text; returns its number.

    Args:
        db: the database.
        text: the complete text.
        like: number of a similar text; the difference from it is stored.
    """
    kept = text if like is None else _delta(load(db, like), text)
    key = db.execute("INSERT INTO blobs (text, base) VALUES (?, ?)", (kept, like)).lastrowid
    assert key is not None
    return key


def shrink(db: sqlite3.Connection, blob: int, like: int) -> None:
    """Replaces a stored text by its difference from a later one."""
    db.execute(
        "UPDATE blobs SET text = ?, base = ? WHERE id = ?",
        (_delta(load(db, like), load(db, blob)), like, blob),
    )


def load(db: sqlite3.Connection, blob: int | None) -> str:
    """Returns a text; "" for None."""
    chain = db.execute(
        "WITH RECURSIVE chain (text, base) AS (SELECT text, base FROM blobs WHERE id = ?"
        " UNION ALL SELECT b.text, b.base FROM blobs b JOIN chain ON b.id = chain.base) SELECT text FROM chain",
        (blob,),
    ).fetchall()
    text = ""
    for n, (kept,) in enumerate(reversed(chain)):
        text = _patched(text, kept) if n else kept
    return text


def head(db: sqlite3.Connection, project: int, branch: str) -> int | None:
    """Returns the last commit of a branch or a tag; None without one."""
    sql = "SELECT head FROM branches WHERE project_id = ?1 AND name = ?2 UNION ALL SELECT commit_id FROM tags WHERE project_id = ?1 AND name = ?2"
    found = db.execute(sql, (project, branch)).fetchone()
    return found[0] if found else None


def tree(db: sqlite3.Connection, commit: int | None) -> dict[str, Entry]:
    """Returns the files of a commit by their paths, in order."""
    sql = (
        LINE
        + "SELECT path, blob_id, commit_id FROM (SELECT path, blob_id, commit_id, min(depth) FROM line"
        " CROSS JOIN changes ON commit_id = line.id GROUP BY path) WHERE blob_id IS NOT NULL ORDER BY path"
    )
    return {path: Entry(blob, by) for path, blob, by in db.execute(sql, (commit,))}


def line(db: sqlite3.Connection, commit: int | None) -> list[int]:
    """Returns a commit and all commits before it."""
    return [
        r[0]
        for r in db.execute(LINE + "SELECT id FROM line ORDER BY depth", (commit,))
        if r[0] is not None
    ]


def fork(db: sqlite3.Connection, ours: int, theirs: int) -> int | None:
    """Returns the last common commit of two lines; None without one."""
    there = dict.fromkeys(line(db, ours))
    return next((c for c in line(db, theirs) if c in there), None)


def differences(db: sqlite3.Connection, before: int | None, after: int) -> list[Diff]:
    """Returns the differences between the files of two commits."""
    old, new = tree(db, before), tree(db, after)
    paths = [
        p
        for p in sorted({**old, **new})
        if p not in old or p not in new or old[p].blob != new[p].blob
    ]

    def text(files: Mapping[str, Entry], path: str) -> str | None:
        return load(db, files[path].blob) if path in files else None

    return [compare(path, text(old, path), text(new, path)) for path in paths]


def versions(db: sqlite3.Connection, commit: int, path: str) -> list[tuple[int, int]]:
    """Returns the commits that changed a file and its texts then, newest first."""
    sql = (
        LINE
        + "SELECT line.id, blob_id FROM line CROSS JOIN changes ON commit_id = line.id WHERE path = ? ORDER BY depth"
    )
    return [(r[0], r[1]) for r in db.execute(sql, (commit, path))]


def authors(db: sqlite3.Connection, commit: int, path: str) -> list[tuple[int, list[str]]]:
    """Returns a file's lines in runs, each with the commit that wrote it."""
    return blame((c, load(db, blob)) for c, blob in reversed(versions(db, commit, path)))


def commit(
    db: sqlite3.Connection,
    project: int,
    parent: int | None,
    author: int,
    message: str,
    made: str,
    texts: Mapping[str, str | None],
) -> int:
    """Adds a commit; returns its number.

    Args:
        db: the database.
        project: number of the project.
        parent: the commit before; None for the first.
        author: number of the author.
        message: the commit's message.
        made: day of the commit.
        texts: the changed files by path; None deletes a file.
    """
    before = tree(db, parent)
    diffs = [
        compare(path, load(db, before[path].blob) if path in before else None, text)
        for path, text in texts.items()
    ]
    count = db.execute("SELECT count(*) FROM commits").fetchone()[0]
    sha = hashlib.sha1(f"{project} {parent} {message} {count}".encode()).hexdigest()[:8]
    values: Any = (
        project,
        sha,
        author,
        message,
        made,
        sum(d.added for d in diffs),
        sum(d.removed for d in diffs),
        parent,
    )
    sql = "INSERT INTO commits (project_id, sha, author_id, message, made, added, removed, parent) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    key = db.execute(sql, values).lastrowid
    assert key is not None
    for path, text in texts.items():
        db.execute(
            "INSERT INTO changes VALUES (?, ?, ?)",
            (key, path, None if text is None else store(db, text)),
        )
    return key


def conflicts(db: sqlite3.Connection, ours: int, theirs: int) -> list[str]:
    """Returns the files that both lines have changed since their last common commit."""
    mine, other, old = tree(db, ours), tree(db, theirs), tree(db, fork(db, ours, theirs))
    return [
        p for p in _changed(old, other) if mine.get(p) != old.get(p) and mine.get(p) != other.get(p)
    ]


def _changed(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
    return [p for p in sorted({**old, **new}) if old.get(p) != new.get(p)]


def merge(
    db: sqlite3.Connection,
    project: int,
    ours: int,
    theirs: int,
    author: int,
    message: str,
    made: str,
) -> int:
    """Adds a merge commit to one line, with the changes of the other; returns its number.

    The lines must have no conflicts.
    """
    old, new = tree(db, fork(db, ours, theirs)), tree(db, theirs)
    texts = {p: load(db, new[p].blob) if p in new else None for p in _changed(old, new)}
    return commit(db, project, ours, author, message, made, texts)
