"""Metrics: sums over episodes, means over all processes, one JSON line per step.

On the CPU, two runs of the same configuration write equal lines, except for :data:`MEASURED`.
"""

import json
import resource
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from agentgym_envs.scores import all_equal
from agentgym_train.data.types import EpisodeFailure, EpisodeStatus, Group
from agentgym_train.distributed import Distributed
from agentgym_train.errors import RunFolderError
from agentgym_train.files import append, write_sealed, write_whole

MEASURED = ("time", "memory", "late")
"""Keys of a line that depend on the machine.

``time`` is in seconds. ``memory`` has the peaks of the main process, in GiB. ``late`` is the number
of environment responses that came after ``rollout.batch_wait``; if it is above 0, rounding can
differ between two runs.
"""
GIB = 2**30

COUNTS = ("episodes", "tokens", "action_tokens", "filtered_tokens", "late")
PER_EPISODE = (
    "success",
    "score",
    "return",
    "turns",
    "samples",
    "truncated_horizon",
    "truncated_context",
)


def memory() -> dict[str, float]:
    """Returns this process's peaks of memory so far, in GiB.

    ``process`` is resident memory. ``accelerator`` is the memory of tensors on the accelerator, if
    there is one.
    """
    # ru_maxrss is in bytes on macOS and in KiB elsewhere.
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
    learns: bool = False,
    version: int = 0,
) -> dict[str, float]:
    """Returns the sums from which :func:`means` computes rates, over the groups of all processes.

    Counts cover all groups. Rates use on-policy groups if there are any.

    Args:
        groups: this process's groups of a step.
        distributed: the processes.
        task_difficulty: the difficulty of each listed task, if the environment lists them. A step
            with an unlisted task has no mean difficulty.
        raw_groups: the groups with the rewards before scorers changed them, if there are scorers.
        learns: whether the agent learns between attempts; ``attempts`` is counted only then.
        version: optimizer steps before the update.
    """
    on_policy = [g for g in groups if not g.from_dataset]
    # The sum over processes decides, so all processes use the same kind of groups.
    rated = on_policy if distributed.sum(len(on_policy))[0] else groups
    episodes = [t for g in rated for t in g.played]
    turns = [turn for t in episodes for turn in t.turns]
    every = [call for g in groups for t in g.played for call in t.calls]
    graded = (
        [task_difficulty[t.task_id] for t in episodes if t.task_id in task_difficulty]
        if task_difficulty is not None
        else []
    )
    sums = {
        "difficulty": sum(graded),
        "graded": len(graded),
        "rated": len(episodes),
        "success": sum(t.success for t in episodes),
        "score": sum(t.score for t in episodes),
        "return": sum(t.total_reward for t in episodes),
        "turns": len(turns),
        "samples": sum(len(t.samples) for t in episodes),
        "invalid": sum(turn.invalid for turn in turns),
        "cut_actions": sum(turn.cut for turn in turns),
        "truncated_horizon": sum(t.status is EpisodeStatus.TRUNCATED_HORIZON for t in episodes),
        "truncated_context": sum(t.status is EpisodeStatus.TRUNCATED_CONTEXT for t in episodes),
        "mixed_groups": sum(_mixed(g) for g in rated),
        "groups": len(rated),
        "rated_tokens": sum(len(call.action_ids) for t in episodes for call in t.calls),
        "off_policy": sum(
            (version - call.version) * len(call.action_ids)
            for g in on_policy
            for t in g.played
            for call in t.calls
        ),
        "episodes": sum(len(g.played) for g in groups),
        "action_tokens": sum(len(call.action_ids) for call in every),
        "tokens": sum(t.length for g in groups for t in g.played),
        "filtered_tokens": sum(t.length for g in groups for t in g.filtered),
        "late": sum(t.late for g in groups for t in g.played),
    }
    if learns:
        sums["attempts"] = sum(t.attempts for t in episodes)
    if raw_groups is not None:
        numbers = {g.number for g in rated}
        sums["env_return"] = sum(
            t.total_reward for g in raw_groups if g.number in numbers for t in g.played
        )
    return dict(zip(sums, distributed.sum(*sums.values()), strict=True))


def _mixed(group: Group) -> bool:
    """Whether episodes of the same task have different returns.

    The episodes of a replaced group have another task than those that replace them.
    """
    returns: dict[tuple[str, int], list[float]] = {}
    for t in group.played:
        returns.setdefault((t.task_id, t.seed), []).append(t.total_reward)
    return not all(map(all_equal, returns.values()))


def failed(failures: Sequence[EpisodeFailure]) -> dict[str, float]:
    """Returns the counts of failures; ``failures`` must be those of all processes."""
    return {
        "env_failures": float(len(failures)),
        "given_up": float(sum(f.given_up for f in failures)),
    }


def summed(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Returns the sum of the totals of several environments."""
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def means(sums: Mapping[str, float]) -> dict[str, float]:
    """Returns the metrics of a step: rates, and unchanged counts.

    Rates are per episode. ``invalid``, ``cut_actions`` and ``action_length`` are per turn, and
    ``mixed_groups`` is per group. ``off_policy`` is the mean number of optimizer steps, over action
    tokens, between the weights that sampled the token and those before the update. ``difficulty``
    is left out unless the difficulty of each task is known. There are no rates if all episodes
    failed.
    """
    counts = {name: sums[name] for name in (*COUNTS, "env_failures", "given_up")}
    if not sums["rated"]:
        return counts
    rates = {name: sums[name] / sums["rated"] for name in PER_EPISODE}
    for name in ("attempts", "env_return"):
        if name in sums:
            rates[name] = sums[name] / sums["rated"]
    if sums["graded"] == sums["rated"]:
        rates["difficulty"] = sums["difficulty"] / sums["rated"]
    turns, groups, tokens = (max(sums[name], 1.0) for name in ("turns", "groups", "rated_tokens"))
    rates |= {name: sums[name] / turns for name in ("invalid", "cut_actions")}
    rates["action_length"] = sums["rated_tokens"] / turns
    rates["off_policy"] = sums["off_policy"] / tokens
    return {**rates, "mixed_groups": sums["mixed_groups"] / groups, **counts}


class MetricsFile:
    """A file of JSON objects, each with its ``step``.

    Args:
        path: the file.
        start: the last step to keep; later lines come from before a crash and are removed.
        distributed: the processes; the main one reads and writes the file.
    """

    def __init__(self, path: Path, *, start: int, distributed: Distributed):
        self.path, self.owner = path, distributed.is_main
        rows = distributed.from_main(lambda: read(path) if path.exists() else [])
        self.kept = [row for row in rows if row["step"] <= start]
        """The lines of earlier steps."""
        if self.owner:
            write_whole(path, _lines(self.kept))

    def write(self, *rows: dict[str, Any]) -> None:
        """Appends lines."""
        if self.owner and rows:
            append(self.path, _lines(rows))


def read(path: Path) -> list[dict[str, Any]]:
    """Returns the complete lines of a file of metrics.

    A last line that a crash cut off is left out; a resumed run reports it.

    Raises:
        RunFolderError: a line is not a row of metrics; names it.
    """
    complete, _, _ = path.read_bytes().rpartition(b"\n")
    return [
        _row(line, path, number) for number, line in enumerate(complete.split(b"\n"), 1) if complete
    ]


def _row(line: bytes, path: Path, number: int) -> dict[str, Any]:
    if is_row(line):
        row: dict[str, Any] = json.loads(line)
        return row
    raise RunFolderError(
        f"line {number} of {path} is not a row of metrics: {line[:40]!r}. Delete the line to"
        " continue without it"
    )


def is_row(line: bytes) -> bool:
    """Whether a line of a file is a JSON object with a step."""
    try:
        return isinstance(json.loads(line)["step"], int)
    except (ValueError, TypeError, LookupError, RecursionError):
        return False


class FailureLog:
    """``failures.jsonl``: one line per failure of an environment, over all processes.

    Writes failures to the file and counts the episodes that were given up.

    Args:
        path: the file.
        distributed: the processes; the main one writes.
        start: steps to keep; lines of later steps, from before a crash, are dropped.
    """

    def __init__(self, path: Path, distributed: Distributed, *, start: int):
        self.path, self.distributed = path, distributed
        self._file = MetricsFile(path, start=start, distributed=distributed)
        lost = (row["env"] for row in self._file.kept if row["given_up"] and not row["evaluation"])
        self.given_up = Counter(lost)
        """Training episodes that were given up, per environment."""

    def add(
        self, step: int, name: str, failures: Sequence[EpisodeFailure], *, evaluation: bool = False
    ) -> list[EpisodeFailure]:
        """Writes the failures of an environment; returns those of all processes.

        All processes call it.

        Args:
            step: the training step, or the step before the evaluation.
            name: of the environment.
            failures: of this process.
            evaluation: whether they belong to an evaluation, which has no failure budget.
        """
        everywhere = [f for part in self.distributed.gather(list(failures)) for f in part]
        shared = {"step": step, "env": name, "evaluation": evaluation}
        self._file.write(*(shared | asdict(f) for f in everywhere))
        if not evaluation:
            self.given_up[name] += sum(f.given_up for f in everywhere)
        return everywhere

    def most_frequent(self, name: str) -> str:
        """Returns the three most frequent errors that ended training episodes of an environment.

        All processes call it.
        """
        often = Counter(
            (row["task_id"] or f"seed {row['seed']}", row["error"])
            for row in self.distributed.from_main(lambda: read(self.path))
            if row["given_up"] and not row["evaluation"] and row["env"] == name
        ).most_common(3)
        return "; ".join(f"{count} × {where}: {error}" for (where, error), count in often)


class EvaluationNotes:
    """``evaluation.json``: named rows of held-out results. Each addition replaces the file.

    Args:
        path: the file.
        distributed: the processes; the main one reads and writes the file.

    Raises:
        RunFolderError: the file exists but is damaged.
    """

    def __init__(self, path: Path, distributed: Distributed):
        self.path, self.write = path, distributed.is_main
        self.rows = distributed.from_main(lambda: read_notes(path) if path.exists() else {})

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Adds or replaces a row."""
        self.rows[key] = row
        if self.write:
            write_sealed(self.path, written(self.rows))


def read_notes(path: Path) -> dict[str, dict[str, Any]]:
    """Returns the rows of ``evaluation.json``.

    Raises:
        RunFolderError: the file is damaged.
    """
    if found := notes_fault(path):
        raise RunFolderError(f"{path} {found}. Delete it to continue without its results")
    rows: dict[str, dict[str, Any]] = json.loads(path.read_bytes())
    return rows


def notes_fault(path: Path) -> str | None:
    """Returns why a file is no ``evaluation.json``, or None."""
    try:
        rows = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return f"is not valid JSON ({error})"
    valid = isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values())
    return None if valid else "holds no results"


def written(rows: Mapping[str, Any]) -> str:
    """Returns rows as the text of ``evaluation.json``."""
    return json.dumps(rows, indent=1) + "\n"


def _lines(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
