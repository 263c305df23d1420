"""What a report shows, and how it travels in the page: an index of all episodes, parts with their turns, pictures.

The index holds what the table, the charts, the filters and the list need. The texts of the episodes
are packed in parts of about a million characters each; the page unpacks a part when one of its
episodes is opened. Both are JSON, compressed with gzip: a page of thousands of episodes is there in
a third of the time, and takes a tenth of the memory, that their plain JSON would.

What crosses into HTML is base64 alone, so no text of an environment or a model can end the element
that holds it.
"""

import gzip
import json
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

JSON = None | bool | int | float | str | Sequence[Any] | Mapping[str, Any]
"""The keys that a settings file can hold."""

PART = 1_000_000  # characters of JSON
PNG = b"\x89PNG\r\n\x1a\n"
KEYS = ("suite", "scenario", "family", "env_id", "task_id", "difficulty", "attempt")
TEXTS = ("goal", "last", "usage", "seconds", "error")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """One column of a comparison.

    Attributes:
        name: what readers know it by.
        settings: what it was started with; shown.
        rows: the lines of its ``episodes.jsonl``.
        table: a row a family, computed from ``rows``; success, low, high, pass (at ``k`` attempts),
            any, invalid, truncated and
            paper are shares in [0, 1]. ``kind`` is "family", or says what else the row is of; rows
            of several runs that agree in
            it, in scenario and in family (or in ``group``) stand together.
        columns: the keys of ``table`` that are shown, and their labels; "interval" shows low and
            high.
        notes: what a reader must know of the table.
        folder: where the screenshots are that ``rows`` name; None leaves them out.
    """

    name: str
    settings: Mapping[str, JSON]
    rows: Sequence[Row]
    table: Sequence[Mapping[str, str | float | int | None]] = ()
    columns: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    folder: Path | None = None


@dataclass(frozen=True)
class Section:
    """A table of texts below the results.

    Attributes:
        title: what it is.
        columns: the keys of ``lines`` that are shown, and their labels.
        lines: texts by key.
        notes: what a reader must know of it.
    """

    title: str
    columns: Sequence[tuple[str, str]]
    lines: Sequence[Mapping[str, str]]
    notes: Sequence[str] = ()


def write_blocks(
    runs: Sequence[Run],
    write: Callable[[str, str], None],
    *,
    sections: Sequence[Section] = (),
    **more: Any,
) -> None:
    """Writes the data of a report, one block at a time: ``write(id, base64)``; the index comes last, with ``more`` in it."""
    parts = _Parts(write)
    entries = [
        _entry(number, row) | parts.add(row, run.folder)
        for number, run in enumerate(runs)
        for row in run.rows
    ]
    parts.flush()
    shown = [
        {
            "name": r.name,
            "settings": r.settings,
            "table": r.table,
            "columns": r.columns,
            "notes": list(r.notes),
        }
        for r in runs
    ]
    more["sections"] = [vars(section) for section in sections]
    write("index", _packed(_dumped({"runs": shown, **more, "entries": entries})))


class _Parts:
    """The texts of the episodes, gathered until they fill a part, and their pictures."""

    def __init__(self, write: Callable[[str, str], None]):
        self._write, self._pictures, self._number = write, count(), 0
        self._waiting: list[str] = []
        self._size = 0

    def add(self, row: Row, folder: Path | None) -> dict[str, int]:
        """Takes the texts of an episode or a fault; returns where they will be."""
        texts = {key: row[key] for key in TEXTS if key in row}
        if row["row"] == "episode":
            texts["turns"] = [
                dict(turn) | self._picture(turn.get("screenshot"), folder) for turn in row["turns"]
            ]
        self._waiting.append(_dumped(texts))
        self._size += len(self._waiting[-1])
        place = {"part": self._number, "at": len(self._waiting) - 1}
        if self._size >= PART:
            self.flush()
        return place

    def flush(self) -> None:
        """Writes what waits."""
        if self._waiting:
            self._write(f"part-{self._number}", _packed(f"[{','.join(self._waiting)}]"))
            self._waiting, self._size, self._number = [], 0, self._number + 1

    def _picture(self, name: str | None, folder: Path | None) -> dict[str, int | None]:
        """Writes a picture; returns its number, or -1 for one that is not there."""
        if name is None:
            return {"screenshot": None}
        content = None if folder is None else _png(folder, name)
        if content is None:
            return {"screenshot": -1}
        number = next(self._pictures)
        self._write(f"picture-{number}", b64encode(content).decode())
        return {"screenshot": number}


def _entry(run: int, row: Row) -> dict[str, Any]:
    """Returns what the list and the charts know of an episode or a fault."""
    entry = {"run": run} | {key: row.get(key) for key in KEYS}
    if row["row"] == "fault":
        return entry | {"fault": row["fault"], "try": row["try"], "turns": row["turns"]}
    turns = row["turns"]
    end = {"success": row["success"], "score": row["score"], "end": row["end"]}
    return (
        entry | end | {"turns": len(turns), "invalid": sum(bool(turn["invalid"]) for turn in turns)}
    )


def _png(folder: Path, name: str) -> bytes | None:
    """Returns a picture of the folder; rows may come from anywhere, so other files are none."""
    try:
        path = (folder / name).resolve()
        content = path.read_bytes() if path.is_relative_to(folder.resolve()) else b""
    except (OSError, ValueError):
        return None
    return content if content.startswith(PNG) else None


def _dumped(value: Any) -> str:
    """Returns JSON in ASCII, lone surrogates as escapes; what JSON has no number for becomes null."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Iterable) else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(v) for key, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list | tuple) else value


def _packed(text: str) -> str:
    return b64encode(gzip.compress(text.encode(), compresslevel=5, mtime=0)).decode()
