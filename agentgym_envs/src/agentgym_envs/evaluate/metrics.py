"""Metrics: pure functions over the lines of a record.

A task's success and score are means over its attempts. Their means and intervals are over tasks,
the sampling unit. Turns, truncations and tokens are means over episodes. Invalid actions are a
share of all turns.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

from agentgym_envs.evaluate.record import Row

RESAMPLES = 2000
LEVEL = 0.95


class Interval(NamedTuple):
    """A confidence interval at ``LEVEL``."""

    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """The metrics of a group of episodes."""

    tasks: int
    attempts: int
    """Largest number of attempts at a task."""
    fewest: int
    """Smallest number of attempts at a task."""
    success: float
    interval: Interval
    """Confidence interval of the success, over tasks."""
    score: float
    """The paper's Avg@k."""
    pass_at: Mapping[int, float]
    """Unbiased Pass@k by k, over the tasks with the most attempts."""
    any_score: float
    """The paper's Pass@k: share of tasks with a score above 0.

    Only the tasks with the most attempts count.
    """
    turns: float
    """Mean per episode."""
    invalid: float
    """Share of actions that were not understood."""
    truncated: float
    """Share of episodes that did not terminate."""
    prompt_tokens: float
    """Mean per episode."""
    completion_tokens: float
    """Mean per episode."""


class Pairing(NamedTuple):
    """Two runs on the tasks that both have played."""

    tasks: int
    difference: float
    """Mean success of the second run minus that of the first."""
    interval: Interval | None
    """Interval of the difference; None if the difference is the same on all tasks."""
    better: int
    """Tasks on which the second succeeds more often."""
    worse: int
    p: float
    """p-value of the two-sided sign test."""


def wilson(successes: float, n: int) -> Interval:
    """Returns Wilson's score interval for a share (Wilson, 1927).

    Args:
        successes: at most ``n``.
        n: trials, at least one.

    >>> low, high = wilson(10, 20)
    >>> round(low, 2), round(high, 2)
    (0.3, 0.7)
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share, spread = successes / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def bootstrap(values: Sequence[float], *, seed: int = 0) -> Interval:
    """Returns the bootstrap's percentile interval of the mean.

    Args:
        values: one value per task.
        seed: seed of the resampling.
    """
    rng = random.Random(seed)
    means = sorted(fmean(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = round((1 - LEVEL) / 2 * RESAMPLES)
    return Interval(means[tail], means[RESAMPLES - 1 - tail])


def success_interval(means: Sequence[float], attempts: int) -> Interval:
    """Returns the interval of a mean success over tasks.

    With one attempt per task this is Wilson's interval, otherwise the bootstrap's over tasks. If
    all tasks have the same mean (all failed, all solved), the bootstrap's interval has no width.
    Then this is Wilson's interval too, with a task as one trial.

    Args:
        means: mean success of each task.
        attempts: largest number of attempts at a task.
    """
    if attempts == 1 or min(means) == max(means):
        return wilson(min(sum(means), len(means)), len(means))
    return bootstrap(means)


def pass_at_k(n: int, c: int, k: int) -> float:
    """Returns the unbiased Pass@k (Chen et al., 2021).

    This is the chance that k of n attempts, drawn without replacement, hold a success.

    Args:
        n: attempts.
        c: successes among them.
        k: at most ``n``.

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def score_of(row: Row) -> float:
    """Returns an episode's score; a score that is not a finite number counts as 0."""
    return 0.0 if unscored(row) else float(row["score"])


def unscored(row: Row) -> bool:
    """Returns whether an episode's score is not a finite number."""
    return not (isinstance(row["score"], int | float) and math.isfinite(row["score"]))


def summarise(rows: Sequence[Row]) -> Summary:
    """Returns the summary of some episodes, at least one."""
    tasks = list(by_task(rows).values())
    successes = [fmean(row["success"] for row in attempts) for attempts in tasks]
    most = max(map(len, tasks))
    complete = [attempts for attempts in tasks if len(attempts) == most]
    turns = [turn for row in rows for turn in row["turns"]]
    return Summary(
        tasks=len(tasks),
        attempts=most,
        fewest=min(map(len, tasks)),
        success=fmean(successes),
        interval=success_interval(successes, most),
        score=fmean(fmean(map(score_of, attempts)) for attempts in tasks),
        pass_at={
            k: fmean(
                pass_at_k(most, sum(row["success"] for row in attempts), k) for attempts in complete
            )
            for k in range(1, most + 1)
        },
        any_score=fmean(any(score_of(row) > 0 for row in attempts) for attempts in complete),
        turns=len(turns) / len(rows),
        invalid=sum(turn["invalid"] for turn in turns) / max(len(turns), 1),
        truncated=fmean(row["end"] != "terminated" for row in rows),
        prompt_tokens=fmean(row["usage"].get("prompt_tokens", 0) for row in rows),
        completion_tokens=fmean(row["usage"].get("completion_tokens", 0) for row in rows),
    )


def compare(first: Sequence[Row], second: Sequence[Row]) -> Pairing | None:
    """Compares two runs on the tasks that both played; returns None without a common task."""
    mine, theirs = (
        {task: fmean(r["success"] for r in rows) for task, rows in by_task(run).items()}
        for run in (first, second)
    )
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        return None
    differences = [theirs[task] - mine[task] for task in shared]
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    interval = bootstrap(differences) if min(differences) < max(differences) else None
    return Pairing(
        len(shared), fmean(differences), interval, better, worse, sign_test(better, worse)
    )


def sign_test(better: int, worse: int) -> float:
    """Returns the two-sided p-value of the sign test.

    >>> sign_test(9, 1)
    0.021484375
    """
    n, least = better + worse, min(better, worse)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(least + 1)) / (1 << n))


def by_task(rows: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Groups episodes by suite, family and task."""
    return grouped(rows, lambda row: (row["suite"], row["family"], row["task_id"]))


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Groups rows by a key, in the order of its first appearance."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
