"""The episodes that a results folder was planned to hold, and those that it lacks.

``settings.json`` lists the tasks of each family under ``"planned"``::

    {"suite": "", "scenario": "", "family": "agentgym/Maze-v1", "env_id": "agentgym/Maze-v1",
     "attempts": 1, "episodes": 40, "tasks": {"maze-1": 2, …}}

``tasks`` has the difficulty of each task. ``attempts`` is per task, and a family has an entry for
each number of attempts. A later command adds its tasks and removes none, so the plan has every
episode that could have been in the folder.

A missing episode is a row like those of :mod:`.record`: ``{"row": "missing", "failed": false, …}``.
``failed`` tells an episode of which each try so far failed from one that was not played.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

PlanRow = dict[str, Any]
FAMILY = ("suite", "scenario", "family", "env_id")
TYPES = {**dict.fromkeys(FAMILY, str), "attempts": int, "episodes": int, "tasks": dict}
"""Required keys of an entry, and their types."""
UNKNOWN = "the plan is unknown, so episodes may be missing: an earlier version played this"


class PlanCoverage(NamedTuple):
    """Counts of the finished and missing episodes of a plan, and bounds of the success."""

    tasks: int
    attempts: int
    """Largest number of attempts at a task."""
    finished: int
    unplayed: int
    """Missing episodes that were not played."""
    failed: int
    """Missing episodes of which each try so far failed."""
    least: float
    """The success if all missing episodes fail: a mean over tasks."""
    most: float
    """The success if all missing episodes are solved."""

    @property
    def episodes(self) -> int:
        """The number of planned episodes."""
        return self.finished + self.unplayed + self.failed


def extended(entries: Iterable[PlanRow], planned: Iterable[PlanRow]) -> list[PlanRow]:
    """Returns the entries of a plan with further episodes.

    Args:
        entries: of the plan so far.
        planned: episodes with the first keys of a line of ``episodes.jsonl``.
    """
    families: dict[tuple[str, ...], dict[str, tuple[float, int]]] = {}
    for row in (*_episodes(entries), *planned):
        tasks = families.setdefault(tuple(row[key] for key in FAMILY), {})
        _, attempts = tasks.get(row["task_id"], (0, 0))
        tasks[row["task_id"]] = row["difficulty"], max(attempts, row["attempt"] + 1)
    found = []
    for family, tasks in families.items():
        for attempts in sorted({n for _, n in tasks.values()}):
            own = {task: level for task, (level, n) in tasks.items() if n == attempts}
            counts = {"attempts": attempts, "episodes": attempts * len(own)}
            found.append({**dict(zip(FAMILY, family, strict=True)), **counts, "tasks": own})
    return found


def missing(rows: Iterable[PlanRow], entries: Iterable[PlanRow]) -> list[PlanRow]:
    """Returns a row for each planned episode without a line.

    Args:
        rows: the lines of the folder.
        entries: of the plan.
    """
    ends: dict[tuple[Any, ...], set[str]] = {}
    for row in rows:
        ends.setdefault(_key(row), set()).add(row["row"])
    there = ((row, ends.get(_key(row), set())) for row in _episodes(entries))
    return [row | {"failed": "fault" in end} for row, end in there if "episode" not in end]


def with_missing(rows: Sequence[PlanRow], settings: Mapping[str, Any]) -> list[PlanRow]:
    """Returns the lines of a folder and rows for the episodes that it lacks."""
    return [*rows, *missing(rows, settings.get("planned", ()))]


def without_lines(rows: Iterable[PlanRow]) -> list[PlanRow]:
    """Returns the rows of missing episodes alone."""
    return [row for row in rows if row["row"] == "missing"]


def remark(settings: Mapping[str, Any]) -> list[str]:
    """Returns a note that the plan of a folder is unknown, if it is.

    The evaluations of agentgym-train are written as a whole.
    """
    return [] if "planned" in settings or "step" in settings else [UNKNOWN]


def coverage(rows: Iterable[PlanRow]) -> PlanCoverage | None:
    """Returns what is there of the planned episodes; None if none is missing.

    Args:
        rows: lines, each episode once, and rows of missing episodes.
    """
    tasks: dict[tuple[Any, ...], list[PlanRow]] = {}
    for row in rows:
        if row["row"] != "fault":
            tasks.setdefault((row["suite"], row["family"], row["task_id"]), []).append(row)
    each = [row for task in tasks.values() for row in task]
    absent = [row for row in each if row["row"] == "missing"]
    if not absent:
        return None
    failed = sum(row["failed"] for row in absent)
    return PlanCoverage(
        tasks=len(tasks),
        attempts=max(map(len, tasks.values())),
        finished=len(each) - len(absent),
        unplayed=len(absent) - failed,
        failed=failed,
        least=fmean(fmean(row.get("success", False) for row in task) for task in tasks.values()),
        most=fmean(fmean(row.get("success", True) for row in task) for task in tasks.values()),
    )


def warning(found: PlanCoverage | None) -> str:
    """Returns a warning about a table of an incomplete run; empty if it is complete."""
    if found is None:
        return ""
    begin = f"{found.finished:,} of {found.episodes:,} episodes, incomplete: "
    failed = f"{found.failed:,} failed in each try so far"
    if not found.unplayed:
        return begin + failed
    left = f"{found.unplayed:,} not played yet" + (f", {failed}" if found.failed else "")
    return f"{begin}finished episodes are the short ones ({left})"


def is_plan(entries: Any) -> bool:
    """Returns whether a value has the form of a plan."""
    return isinstance(entries, list) and all(map(_is_entry, entries))


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key), kind) for key, kind in TYPES.items())
        and all(isinstance(level, int | float) for level in entry["tasks"].values())
    )


def _episodes(entries: Iterable[PlanRow]) -> Iterator[PlanRow]:
    """Yields a row for each planned episode."""
    for entry in entries:
        family = {"row": "missing"} | {key: entry[key] for key in FAMILY}
        for task_id, difficulty in entry["tasks"].items():
            for attempt in range(entry["attempts"]):
                yield {**family, "task_id": task_id, "difficulty": difficulty, "attempt": attempt}


def _key(row: PlanRow) -> tuple[Any, ...]:
    return row["suite"], row["family"], row["task_id"], row["attempt"]
