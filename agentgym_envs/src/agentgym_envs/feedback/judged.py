"""Comparisons in a report: episodes, choices, annotators and their agreement."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.evaluate.metrics import grouped
from agentgym_envs.feedback.agreement import agreement
from agentgym_envs.feedback.record import CHOICES, EpisodePair, episode
from agentgym_envs.lines import JsonRow

JudgedRun = tuple[str, Sequence[JsonRow]]
Places = dict[str, list[tuple[str, int]]]
WORDS = {"tie": "equally good", "neither": "neither"}


def judged(comparisons: Sequence[JsonRow], runs: Sequence[JudgedRun]) -> dict[str, Any]:
    """Returns the comparisons for a report.

    Episodes are identified by their content, because folders can be renamed after the judgement.

    Args:
        comparisons: the valid comparisons (:func:`agentgym_envs.feedback.record.standing`).
        runs: the names and lines of the reported folders, in order.

    Returns:
        "notes", texts; and "pairs" with env_id, task_id, sides a and b, and "choices". A side has
        "run", "attempt" and "number", the index of the episode among all lines, or None. A choice
        has annotator, choice and comment.
    """
    places = _places(runs)
    pairs = [_pair(rows, places) for rows in grouped(comparisons, EpisodePair.of).values()]
    missing = sum(any(pair[side]["number"] is None for side in "ab") for pair in pairs)
    notes = [*_results(comparisons), str(agreement(comparisons))]
    notes += (
        [f"{missing} of {len(pairs)} pairs have an episode that is in none of these folders"]
        if missing
        else []
    )
    return {"notes": notes, "pairs": pairs}


def _places(runs: Sequence[JudgedRun]) -> Places:
    """Returns the places of each episode by its content."""
    places: Places = {}
    numbered = enumerate((name, row) for name, rows in runs for row in rows)
    for number, (name, row) in numbered:
        if row["row"] == "episode":
            places.setdefault(_played(row, episode(name, row)), []).append((name, number))
    return places


def _played(row: Mapping[str, Any], side: JsonRow) -> str:
    return json.dumps([row["env_id"], row["task_id"], {**side, "run": ""}], sort_keys=True)


def _pair(rows: Sequence[JsonRow], places: Places) -> dict[str, Any]:
    first = rows[0]
    sides = {side: _side(first[side], places.get(_played(first, first[side]), [])) for side in "ab"}
    choices = [{key: row[key] for key in ("annotator", "choice", "comment")} for row in rows]
    return {"env_id": first["env_id"], "task_id": first["task_id"], **sides, "choices": choices}


def _side(side: JsonRow, found: Sequence[tuple[str, int]]) -> dict[str, Any]:
    number = dict(reversed(found)).get(side["run"], found[0][1] if found else None)
    return {"run": side["run"], "attempt": side["attempt"], "number": number}


def _results(comparisons: Sequence[JsonRow]) -> list[str]:
    """Returns a sentence per pair of runs, or for the attempts of a single run."""
    found = grouped(comparisons, lambda row: (row["a"]["run"], row["b"]["run"]))
    return [_result(a, b, Counter(row["choice"] for row in rows)) for (a, b), rows in found.items()]


def _result(a: str, b: str, counts: Counter[str]) -> str:
    names = WORDS | (
        {"a": f"{a} is better", "b": f"{b} is better"}
        if a != b
        else {"a": "earlier attempt", "b": "later attempt"}
    )
    shares = ", ".join(f"{names[choice]} {counts[choice]}" for choice in CHOICES)
    return f"{a}: {shares}" if a == b else f"{a} and {b}: {shares}"
