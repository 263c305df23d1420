"""Comparisons: an append-only JSONL file with one line per judgement.

A judgement compares two episodes of the same task.

A line of a comparison::

    {"row": "comparison", "env_id": "agentgym/BabyAI-v2", "family": "agentgym/BabyAI-v2", "task_id":
    "GoToObj-3",
     "instructions": "the environment's rules",
     "a": {"run": "react", "attempt": 0, "settings": "5f…", "success": true, "score": 1.0, "end":
     "terminated",
           "last": "the last observation",
           "turns": [{"observation": …, "response": …, "action": …, "reward": 1.0, "invalid":
           false}, …]},
     "b": {…}, "choice": "a", "comment": "", "annotator": "kim"}

``choice`` is "a" or "b" (which is better), "tie" (equally good) or "neither" (both are bad).
``run`` is the name of a folder of results; a turn of an episode with several agents also has
"seat". ``family`` is that of the results, which tells apart what several agents did in the same
game; it may be missing. The order of the sides has no meaning: a line with sides and choice
swapped means the same. A later comparison of the same two episodes by the same annotator replaces
the earlier one. A line that takes a comparison back is::

    {"row": "undo", "env_id": …, "family": …, "task_id": …, "annotator": "kim",
     "a": {"run": …, "attempt": …, "settings": …}, "b": {…}}
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agentgym_envs import lines
from agentgym_envs.errors import ArgumentError
from agentgym_envs.lines import JsonRow, has

CHOICES = ("a", "b", "tie", "neither")
TURNED = {"a": "b", "b": "a"}
NUMBER = (int, float, type(None))
NAMED = {"run": str, "attempt": int, "settings": str}
EPISODE = {**NAMED, "success": bool, "score": NUMBER, "end": str, "last": str, "turns": list}
TURN = {"observation": str, "response": str, "action": str, "reward": NUMBER, "invalid": bool}
HEAD = {"env_id": str, "task_id": str, "a": dict, "b": dict, "annotator": str}
COMPARISON = {**HEAD, "instructions": str, "choice": str, "comment": str}


class EpisodeSide(NamedTuple):
    """Identifies an episode of a task."""

    run: str
    attempt: int
    settings: str

    @classmethod
    def of(cls, episode: Mapping[str, Any]) -> "EpisodeSide":
        """Returns the identity of an episode."""
        return cls(*(episode[name] for name in cls._fields))


class EpisodePair(NamedTuple):
    """Identifies two episodes of the same task; ``a`` is the smaller side."""

    env_id: str
    family: str
    task_id: str
    a: EpisodeSide
    b: EpisodeSide

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "EpisodePair":
        """Returns the pair of a line."""
        a, b = sorted((EpisodeSide.of(row["a"]), EpisodeSide.of(row["b"])))
        return cls(row["env_id"], row.get("family", ""), row["task_id"], a, b)


class ComparisonFile:
    """A file of comparisons, open for more lines; one process at a time.

    Args:
        path: the file; created if it does not exist.

    Raises:
        ArgumentError: the file cannot be written, has an invalid line, or is open in another
            process.
    """

    def __init__(self, path: Path):
        self._lines = lines.JsonLinesFile(
            path,
            busy=f"another process has {path} open: wait for its end, or use another --out",
        )
        self.rows, self.cut = read(path)
        """The lines so far, and the bytes of a partial last line, which is dropped."""
        self._lines.drop(self.cut)

    def add(self, row: JsonRow) -> None:
        """Adds a line; it is on the disk when this returns."""
        self._lines.add(row)
        self.rows.append(row)

    def close(self) -> None:
        """Closes the file; other processes can open it."""
        self._lines.close()


def read(path: Path) -> tuple[list[JsonRow], int]:
    """Returns the lines of a file of comparisons, and the bytes of a partial last line.

    Raises:
        ArgumentError: no such file, or an invalid line; the message has its number.
    """
    try:
        return lines.read(path, fits=_fits, what="comparison")
    except OSError as error:
        raise ArgumentError(
            f"{path} holds no comparisons: it cannot be read ({error.strerror})"
        ) from error


def standing(rows: Iterable[JsonRow]) -> list[JsonRow]:
    """Returns the valid comparisons: the last per annotator and pair, unless undone.

    Their sides are in order: see :func:`ordered`.
    """
    found: dict[tuple[str, EpisodePair], JsonRow] = {}
    for row in rows:
        key = (row["annotator"], EpisodePair.of(row))
        found.pop(key, None)
        if row["row"] == "comparison":
            found[key] = ordered(row)
    return list(found.values())


def ordered(row: JsonRow) -> JsonRow:
    """Returns a comparison, or a pair without a choice, with its sides in sorted order."""
    if EpisodeSide.of(row["a"]) <= EpisodeSide.of(row["b"]):
        return row
    turned = {**row, "a": row["b"], "b": row["a"]}
    return (
        turned | {"choice": TURNED.get(row["choice"], row["choice"])} if "choice" in row else turned
    )


def undo(comparison: JsonRow) -> JsonRow:
    """Returns the line that takes a comparison back."""
    sides = {side: EpisodeSide.of(comparison[side])._asdict() for side in ("a", "b")}
    named: JsonRow = {
        key: comparison[key]
        for key in ("env_id", "family", "task_id", "annotator")
        if key in comparison
    }
    return {"row": "undo", **named, **sides}


def episode(run: str, row: Mapping[str, Any]) -> JsonRow:
    """Returns the part of an episode that a comparison keeps.

    Args:
        run: the name of its folder.
        row: its line of results (:mod:`agentgym_envs.evaluate.record`).
    """
    kept = {key: row[key] for key in ("attempt", "settings", "success", "score", "end")}
    turns = [{key: turn[key] for key in (*TURN, "seat") if key in turn} for turn in row["turns"]]
    return {"run": run, **kept, "last": row.get("last") or "", "turns": turns}


def _fits(row: Any) -> bool:
    if row["row"] == "undo":
        return has(row, HEAD) and all(has(row[side], NAMED) for side in ("a", "b"))
    if row["row"] != "comparison" or not has(row, COMPARISON) or row["choice"] not in CHOICES:
        return False
    return all(
        has(row[side], EPISODE) and all(has(turn, TURN) for turn in row[side]["turns"])
        for side in ("a", "b")
    )
