"""The pairs of episodes to compare.

With two runs, a pair has the same task and attempt. With one run, a pair has two attempts at a
task.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

from agentgym_envs.errors import AgentGymError
from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.metrics import grouped
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.feedback.record import episode
from agentgym_envs.pool import describe

TASK = ("suite", "scenario", "family", "env_id", "task_id")
NamedRun = tuple[str, Sequence[EpisodeRow]]
"""The name of a folder of results, and its lines."""


def pairs(runs: Sequence[NamedRun], rules: Callable[[str], str]) -> list[EpisodeRow]:
    """Returns comparisons without a choice, in the order of the results.

    Two identical episodes are not compared.

    Args:
        runs: two runs; or one, whose attempts at each task are compared. The first pairs of all
            tasks come before the second ones.
        rules: returns an environment's instructions.
    """
    found = _between(*runs) if len(runs) == 2 else _within(*runs)
    apart = [
        (row, a, b) for row, a, b in found if (a["turns"], a["last"]) != (b["turns"], b["last"])
    ]
    known = {
        env_id: rules(env_id) for env_id in dict.fromkeys(row["env_id"] for row, _, _ in apart)
    }
    named = [{key: row[key] for key in ("env_id", "family", "task_id")} for row, _, _ in apart]
    return [
        name | {"instructions": known[name["env_id"]], "a": a, "b": b}
        for name, (_, a, b) in zip(named, apart, strict=True)
    ]


def instructions(env_id: str, kwargs: dict[str, Any]) -> str:
    """Returns an environment's rules; empty if it cannot be made with the keywords.

    Args:
        env_id: a registered id.
        kwargs: the keywords of a run's settings; those for one family of a suite have a dot.
    """
    own = {key: value for key, value in kwargs.items() if "." not in key}
    try:
        return describe(env_id, **own).instructions
    except AgentGymError:
        return ""


def _between(one: NamedRun, two: NamedRun) -> Iterable[tuple[EpisodeRow, EpisodeRow, EpisodeRow]]:
    others = {(*_task(row), row["attempt"]): row for row in record.episodes(two[1])}
    for row in record.episodes(one[1]):
        other = others.get((*_task(row), row["attempt"]))
        if other is not None:
            yield row, episode(one[0], row), episode(two[0], other)


def _within(one: NamedRun) -> list[tuple[EpisodeRow, EpisodeRow, EpisodeRow]]:
    name, rows = one
    by_task = grouped(record.episodes(rows), _task).values()
    numbered = [
        (n, *two) for attempts in by_task for n, two in enumerate(combinations(attempts, 2))
    ]
    return [
        (a, episode(name, a), episode(name, b))
        for _, a, b in sorted(numbered, key=lambda found: found[0])
    ]


def _task(row: EpisodeRow) -> tuple[Any, ...]:
    return tuple(row[key] for key in TASK)
