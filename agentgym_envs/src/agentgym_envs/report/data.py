"""The data of a report: an index of all episodes, parts with their turns, and pictures.

The index has the data of the table, the charts, the filters and the list. The texts of the episodes
are packed in parts of about a million characters each; the page unpacks a part when one of its
episodes is opened. Both are JSON, compressed with gzip. A page of thousands of episodes loads in a
third of the time and a tenth of the memory of plain JSON.

All data is base64, so no text of an environment or a model can end its HTML element.
"""

import gzip
import json
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from agentgym_envs.evaluate.transcript import requests

JSON = None | bool | int | float | str | Sequence[Any] | Mapping[str, Any]
"""The values that a settings file can hold."""

PART = 1_000_000  # characters of JSON
PNG = b"\x89PNG\r\n\x1a\n"
KEYS = ("suite", "scenario", "family", "env_id", "task_id", "difficulty", "attempt")
TEXTS = ("goal", "last", "usage", "seconds", "error", "traceback")
ReportRow = Mapping[str, Any]


@dataclass(frozen=True)
class ReportRun:
    """One column of a comparison.

    Attributes:
        name: the name in the report.
        settings: the settings of the run, which the report shows.
        rows: the lines of its ``episodes.jsonl``.
        table: one row per family, computed from ``rows``. success, low, high, least, most, pass
            (at ``k`` attempts), any, invalid, truncated and paper are shares in [0, 1]. ``kind`` is
            "family" or another kind of row. Rows of several runs with the same kind, scenario and
            family (or ``group``) are shown together.
        columns: the shown keys of ``table`` and their labels; "interval" shows low and high, and
            "bounds" shows least and most.
        notes: remarks about the table.
        warning: a warning before the table; empty for none.
        legend: the meanings of the columns.
        folder: the folder of the screenshots that ``rows`` name; None omits them.
        prompts: the system prompts and tools that ``rows`` name.
    """

    name: str
    settings: Mapping[str, JSON]
    rows: Sequence[ReportRow]
    table: Sequence[Mapping[str, str | float | int | None]] = ()
    columns: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    warning: str = ""
    legend: Sequence[str] = ()
    folder: Path | None = None
    prompts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportSection:
    """A table of texts below the results.

    Attributes:
        title: the title.
        columns: the shown keys of ``lines`` and their labels.
        lines: texts by key.
        notes: remarks about the table.
    """

    title: str
    columns: Sequence[tuple[str, str]]
    lines: Sequence[Mapping[str, str]]
    notes: Sequence[str] = ()


def write_blocks(
    runs: Sequence[ReportRun],
    write: Callable[[str, str], None],
    *,
    sections: Sequence[ReportSection] = (),
    **more: Any,
) -> None:
    """Writes the data of a report as blocks, with ``write(id, base64)``.

    The index comes last and includes ``more``.
    """
    parts = _Parts(write)
    entries = [
        entry(number, row) | parts.add(row, run)
        for number, run in enumerate(runs)
        for row in run.rows
    ]
    parts.flush()
    write("index", _packed(dumped({**overview(runs, sections), **more, "entries": entries})))


def overview(runs: Sequence[ReportRun], sections: Sequence[ReportSection]) -> dict[str, Any]:
    """Returns the data of everything but the episodes."""
    shown = [
        {
            "name": r.name,
            "settings": r.settings,
            "table": r.table,
            "columns": r.columns,
            "notes": list(r.notes),
            "warning": r.warning,
        }
        for r in runs
    ]
    return {"runs": shown, "sections": [vars(section) for section in sections]}


def texts(
    row: ReportRow, picture: Callable[[str], Any], prompts: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the texts of an episode or a fault.

    Args:
        row: a line of ``episodes.jsonl``.
        picture: returns what replaces the name of a screenshot.
        prompts: the system prompts and tools that the line names.
    """
    found = {key: row[key] for key in TEXTS if key in row}
    if row["row"] == "episode":
        found["turns"] = [
            dict(turn) | {"screenshot": picture(name) if (name := turn.get("screenshot")) else None}
            for turn in row["turns"]
        ]
        found["requests"] = requests(row, prompts)
    return found


class _Parts:
    """Collects the texts of the episodes into parts, and writes their pictures."""

    def __init__(self, write: Callable[[str, str], None]):
        self._write, self._pictures, self._number = write, count(), 0
        self._waiting: list[str] = []
        self._size = 0

    def add(self, row: ReportRow, run: ReportRun) -> dict[str, int]:
        """Adds the texts of an episode or a fault; returns their part and place."""
        found = texts(row, lambda name: self._picture(name, run.folder), run.prompts)
        self._waiting.append(dumped(found))
        self._size += len(self._waiting[-1])
        place = {"part": self._number, "at": len(self._waiting) - 1}
        if self._size >= PART:
            self.flush()
        return place

    def flush(self) -> None:
        """Writes the current part."""
        if self._waiting:
            self._write(f"part-{self._number}", _packed(f"[{','.join(self._waiting)}]"))
            self._waiting, self._size, self._number = [], 0, self._number + 1

    def _picture(self, name: str, folder: Path | None) -> int:
        """Writes a picture; returns its number, or -1 if it is missing."""
        content = png(folder, name)
        if content is None:
            return -1
        number = next(self._pictures)
        self._write(f"picture-{number}", content)
        return number


def entry(run: int, row: ReportRow) -> dict[str, Any]:
    """Returns the index entry of an episode or a fault."""
    used = row.get("usage") or {}
    tokens = used.get("prompt_tokens", 0) + used.get("completion_tokens", 0)
    head = {"run": run} | {key: row.get(key) for key in KEYS}
    head |= {"tokens": tokens, "cost": used.get("cost", 0)}
    if row["row"] == "fault":
        return head | {"fault": row["fault"], "try": row["try"], "turns": row["turns"]}
    turns = row["turns"]
    end = {"success": row["success"], "score": row["score"], "end": row["end"]}
    return (
        head | end | {"turns": len(turns), "invalid": sum(bool(turn["invalid"]) for turn in turns)}
    )


def png(folder: Path | None, name: str) -> str | None:
    """Returns a picture of the folder in base64; None for other files: rows are untrusted."""
    if folder is None:
        return None
    try:
        path = (folder / name).resolve()
        content = path.read_bytes() if path.is_relative_to(folder.resolve()) else b""
    except (OSError, ValueError):
        return None
    return b64encode(content).decode() if content.startswith(PNG) else None


def dumped(value: Any) -> str:
    """Returns JSON in ASCII; NaN and infinity become null."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)
    except ValueError:
        return json.dumps(finite(value), separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Iterable) else str(value)


def finite(value: Any) -> Any:
    """Returns a value in which NaN and infinity are None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(v) for key, v in value.items()}
    return [finite(v) for v in value] if isinstance(value, list | tuple) else value


def _packed(text: str) -> str:
    return b64encode(gzip.compress(text.encode(), compresslevel=5, mtime=0)).decode()
