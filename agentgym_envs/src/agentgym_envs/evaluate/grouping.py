"""Groups the tasks of one family by kind and by difficulty, in few groups."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from agentgym_envs.evaluate.record import EpisodeRow

KINDS = 12  # with more kinds of tasks, the table has no line per kind
LEVELS = 5  # with more difficulties, the table has a line per range
RANGES = 3  # each with about the same number of tasks

RowGroups = list[tuple[str, str, list[EpisodeRow]]]
"""Kind of a line, its name, and its rows."""


def parts(rows: Sequence[EpisodeRow]) -> RowGroups:
    """Returns the rows of one family by kind of task and by range of difficulty.

    A grouping with one group is left out, and kinds that differ in difficulty alone.
    """
    by_kind = list(_by_kind(rows))
    levels = list(_by_difficulty(rows))
    groups = [[{_task(row) for row in group} for _, _, group in by] for by in (by_kind, levels)]
    same = all(group in groups[1] for group in groups[0])
    return [
        *(by_kind if len(by_kind) > 1 and not same else []),
        *(levels if len(levels) > 1 else []),
    ]


def kind_of(rows: Iterable[EpisodeRow]) -> Callable[[str], str] | None:
    """Returns what tells the kind from a task's id; None if no part of the ids names few kinds.

    An id names the kind before a number, as ``hop1-country-7`` does, or before its first hyphen, as
    ``pick_and_place_simple-Mug-Desk-308-0`` does. ALFWorld's own games are in folders.
    """
    ids = {row["task_id"] for row in rows}
    most = max(2, min(KINDS, len(ids) // 2))
    for tell in (_before_number, _before_hyphen):
        kinds = {tell(task_id) for task_id in ids}
        if 1 < len(kinds) <= most and all(re.search("[a-z]", kind, re.I) for kind in kinds):
            return tell
    return None


def _before_number(task_id: str) -> str:
    return task_id.rpartition("-")[0] if re.search(r"-\d+$", task_id) else ""


def _before_hyphen(task_id: str) -> str:
    return next((part for part in task_id.split("/") if "-" in part), "").partition("-")[0]


def _by_kind(rows: Sequence[EpisodeRow]) -> Iterator[tuple[str, str, list[EpisodeRow]]]:
    if tell := kind_of(rows):
        kinds = dict.fromkeys(tell(row["task_id"]) for row in rows)
        for kind in sorted(kinds):
            yield "kind", kind, [row for row in rows if tell(row["task_id"]) == kind]


def _by_difficulty(rows: Sequence[EpisodeRow]) -> Iterator[tuple[str, str, list[EpisodeRow]]]:
    for low, high in ranges([*{_task(row): row["difficulty"] for row in rows}.values()]):
        name = f"difficulty {low:g}" if low == high else f"difficulty {low:g}–{high:g}"
        yield "difficulty", name, [row for row in rows if low <= row["difficulty"] <= high]


def ranges(difficulties: Sequence[float]) -> list[tuple[float, float]]:
    """Returns the first and the last difficulty of each range, for the difficulties of tasks.

    >>> ranges([1, 1, 2, 3])
    [(1, 1), (2, 2), (3, 3)]
    >>> ranges([*range(9)])
    [(0, 2), (3, 5), (6, 8)]
    """
    levels, distinct = sorted(difficulties), sorted(set(difficulties))
    if len(distinct) <= LEVELS:
        return [(level, level) for level in distinct]
    starts = sorted({levels[n * len(levels) // RANGES] for n in range(RANGES)})
    places = [*(distinct.index(start) for start in starts), len(distinct)]
    return [(start, distinct[end - 1]) for start, end in zip(starts, places[1:], strict=True)]


def _task(row: EpisodeRow) -> Any:
    return row["scenario"], row["task_id"]
