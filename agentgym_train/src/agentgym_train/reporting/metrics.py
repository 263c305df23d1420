"""Metrics: sums over episodes, means over all processes, one JSON line a step.

Everything but :data:`MEASURED` follows from the configuration: on CPU two runs of it give equal
lines.
"""

import json
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from agentgym_train.data.types import Failure, Group, Status
from agentgym_train.engine.distributed import Distributed
from agentgym_train.errors import RunFolderError
from agentgym_train.files import append, write_whole

FILES = ("metrics.jsonl", "failures.jsonl")
"""A line a step, and a line a failure of an environment."""
MEASURED = ("time", "memory", "late")
"""Keys of a line that depend on the machine: seconds, the first process's peaks in GiB, and how many answers of environments came
after ``rollout.batch_wait``. Where ``late`` is above 0, rounding may differ between two runs."""
GIB = 2**30


COUNTS = ("episodes", "tokens", "action_tokens", "late")
PER_EPISODE = ("success", "score", "return", "turns", "truncated_horizon", "truncated_context")


def memory() -> dict[str, float]:
    """Returns the most memory, in GiB, that this process has had resident so far, and its tensors on the accelerator, if any."""
    unit = 1 if sys.platform == "darwin" else 1024
    peaks = {"process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / GIB}
    if torch.accelerator.is_available():
        peaks["accelerator"] = torch.get_device_module().max_memory_allocated() / GIB
    return peaks


def totals(
    groups: Sequence[Group],
    distributed: Distributed,
    task_difficulty: Mapping[str, int] | None = None,
    *,
    raw_groups: Sequence[Group] | None = None,
) -> dict[str, float]:
    """Returns what the means of :func:`means` are made of, summed over the groups of all processes.

    Counts cover all groups. Rates use on-policy groups if there are any.

    Args:
        groups: of a step.
        distributed: the processes.
        task_difficulty: the difficulty of each listed task, if the environment lists them. A step
            with an unlisted task has no mean difficulty.
        raw_groups: the groups with the rewards before scorers changed them, if there are scorers.
    """
    fresh = [g for g in groups if not g.from_dataset]
    told = fresh if distributed.sum(len(fresh))[0] else groups
    episodes = [t for g in told for t in g.played]
    turns = [turn for t in episodes for turn in t.turns]
    every = [turn for g in groups for t in g.played for turn in t.turns]
    graded = (
        [task_difficulty[t.task_id] for t in episodes if t.task_id in task_difficulty]
        if task_difficulty is not None
        else []
    )
    here = {
        "difficulty": sum(graded),
        "graded": len(graded),
        "told": len(episodes),
        "success": sum(t.success for t in episodes),
        "score": sum(t.score for t in episodes),
        "return": sum(t.total_reward for t in episodes),
        "turns": len(turns),
        "invalid": sum(turn.invalid for turn in turns),
        "truncated_horizon": sum(t.status is Status.TRUNCATED_HORIZON for t in episodes),
        "truncated_context": sum(t.status is Status.TRUNCATED_CONTEXT for t in episodes),
        "mixed_groups": sum(len({t.total_reward for t in g.played}) > 1 for g in told),
        "groups": len(told),
        "said": sum(len(turn.action_ids) for turn in turns),
        "episodes": sum(len(g.played) for g in groups),
        "action_tokens": sum(len(turn.action_ids) for turn in every),
        "tokens": sum(len(turn.prompt_ids) + len(turn.action_ids) for turn in every),
        "late": sum(t.late for g in groups for t in g.played),
    }
    if raw_groups is not None:
        numbers = {g.number for g in told}
        here["env_return"] = sum(
            t.total_reward for g in raw_groups if g.number in numbers for t in g.played
        )
    return dict(zip(here, distributed.sum(*here.values()), strict=True))


def failed(failures: Sequence[Failure]) -> dict[str, float]:
    """Returns the counts of failures; they are those of all processes already."""
    return {
        "env_failures": float(len(failures)),
        "given_up": float(sum(f.given_up for f in failures)),
    }


def summed(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Adds up the totals of several environments."""
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def means(sums: Mapping[str, float]) -> dict[str, float]:
    """Turns sums into rates; counts stay.

    Rates are per episode, per turn for ``invalid`` and ``action_length``, per group for
    ``mixed_groups``; for ``difficulty`` where it is known of each task. Where no episode could be
    played there are none: only the environment failed.
    """
    counts = {name: sums[name] for name in (*COUNTS, "env_failures", "given_up")}
    if not sums["told"]:
        return counts
    rates = {name: sums[name] / sums["told"] for name in PER_EPISODE}
    if "env_return" in sums:
        rates["env_return"] = sums["env_return"] / sums["told"]
    if sums["graded"] == sums["told"]:
        rates["difficulty"] = sums["difficulty"] / sums["told"]
    turns, groups = (max(sums[name], 1.0) for name in ("turns", "groups"))
    rates |= {"invalid": sums["invalid"] / turns, "action_length": sums["said"] / turns}
    return {**rates, "mixed_groups": sums["mixed_groups"] / groups, **counts}


class MetricsFile:
    """A file of JSON objects, each with its ``step``.

    Args:
        path: the file.
        start: steps to keep; later lines, from before a crash, are dropped.
        owner: this process writes; the others read what it has written.
    """

    def __init__(self, path: Path, *, start: int, owner: bool = True):
        self.path, self.owner = path, owner
        self.kept = [row for row in read(path) if row["step"] <= start] if path.exists() else []
        """The lines of earlier steps."""
        if owner:
            write_whole(path, _lines(self.kept))

    def write(self, *rows: dict[str, Any]) -> None:
        """Appends lines."""
        if self.owner and rows:
            append(self.path, _lines(rows))


def read(path: Path) -> list[dict[str, Any]]:
    """Returns the complete lines of a metrics file; a last line that a crash cut off is left out.

    Raises:
        RunFolderError: a line is none of ours; names it.
    """
    complete, _, _ = path.read_bytes().rpartition(b"\n")
    return [_row(line, path, number) for number, line in enumerate(complete.splitlines(), 1)]


def _row(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
        if isinstance(row["step"], int):
            return row
    except (ValueError, TypeError, KeyError):
        pass
    raise RunFolderError(
        f"line {number} of {path} is no row of metrics: {line[:40]!r}. Delete the line to go on"
        " without it"
    )


class Notes:
    """``evaluation.json``: named rows of held-out results, kept whole on disk after every addition.

    Args:
        path: the file.
        write: whether this process writes it.

    Raises:
        RunFolderError: the file is there and is not what was written.
    """

    def __init__(self, path: Path, *, write: bool):
        self.path, self.write = path, write
        self.rows = _rows(path) if path.exists() else {}

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Adds or replaces a row."""
        self.rows[key] = row
        if self.write:
            write_whole(self.path, json.dumps(self.rows, indent=1) + "\n")


def _rows(path: Path) -> dict[str, dict[str, Any]]:
    try:
        rows = json.loads(path.read_bytes())
    except ValueError as error:
        raise RunFolderError(
            f"{path} is cut off or garbled ({error}). Delete it to go on without its results"
        ) from error
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise RunFolderError(f"{path} holds no results. Delete it to go on without them")
    return rows


def _lines(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
