"""Metrics: pure functions over the lines of a record.

A task's success and score are means over its attempts. Their means and intervals are over tasks,
the sampling unit. Turns, truncations and tokens are means over episodes. Invalid actions are a
share of all turns.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

import numpy as np

from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.scores import above

RESAMPLES = 2000
DRAWS = 10_000  # random weights of an interval
LEVEL = 0.95


class ConfidenceInterval(NamedTuple):
    """A confidence interval at ``LEVEL``."""

    low: float
    high: float


@dataclass(frozen=True)
class MetricSummary:
    """The metrics of a group of episodes."""

    tasks: int
    attempts: int
    """Largest number of attempts at a task."""
    fewest: int
    """Smallest number of attempts at a task."""
    success: float
    successes: Sequence[float]
    """Mean success of each task."""
    interval: ConfidenceInterval
    """Confidence interval of the success, over tasks."""
    score: float
    """The paper's Avg@k."""
    pass_at: Mapping[int, float]
    """Unbiased Pass@k by k, over the tasks with the most attempts."""
    pass_all: Mapping[int, float]
    """Unbiased Pass^k by k, over the tasks with the most attempts."""
    any_score: float
    """The paper's Pass@k: share of tasks with a score above 0.

    Only the tasks with the most attempts count.
    """
    turns: float
    """Mean per episode."""
    invalid: float
    """Share of actions that were not understood."""
    truncated: float
    """Share of episodes that ran out of turns or context."""
    refused: float
    """Share of episodes that the model or a filter refused. They count as they stand."""
    cut: float
    """Share of the model's replies that reached the limit of tokens."""
    prompt_tokens: float
    """Mean per episode."""
    completion_tokens: float
    """Mean per episode."""


class PairedRuns(NamedTuple):
    """Two runs on the tasks that both have played."""

    tasks: int
    difference: float
    """Mean success of the second run minus that of the first."""
    interval: ConfidenceInterval
    """Confidence interval of the difference, over tasks."""
    better: int
    """Tasks on which the second succeeds more often."""
    worse: int
    p: float
    """p-value of the two-sided sign test."""


def wilson(successes: float, n: int) -> ConfidenceInterval:
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
    return ConfidenceInterval(max(0.0, centre - half), min(1.0, centre + half))


def mean_interval(groups: Sequence[Sequence[float]]) -> ConfidenceInterval:
    """Returns the interval of a mean over groups, in which each group counts the same.

    A group is a family or a scenario, and a value is a task's mean over its attempts. The tasks are
    the sampling unit. The method weights them at random (the Bayesian bootstrap of Rubin, 1981) and
    adds one more task, which scores 0 or 1 with even odds. The interval holds the middle 95 % of
    these means. A lower value moves neither end up.

    With 0 alone or 1 alone, the extra task gives the one-sided bounds of Gaffke (2005) and of
    Learned-Miller and Thomas (2019, arXiv:1905.06208). With both, values of 0 and 1 give the mid-p
    interval of a share (Lancaster, 1961), up to the error of the simulation. The weights do not
    depend on the groups, so differences between groups make the interval wider.

    Args:
        groups: values in [0, 1]; each group has at least one.

    >>> low, high = mean_interval([[1.0] * 6])
    >>> round(low, 1), high
    (0.6, 1.0)
    """
    tasks = sorted((1 / (len(groups) * len(group)), x) for group in groups for x in group)
    rng, total, part = np.random.default_rng(0), np.zeros(DRAWS), np.zeros(DRAWS)
    for share, value in tasks:
        weights = share * rng.standard_exponential(DRAWS)
        total += weights
        part += weights * value
    # The extra task weighs as much as one of n tasks of equal weight, where n is the effective
    # sample size of Kish (1965).
    extra = sum(share * share for share, _ in tasks) * rng.standard_exponential(DRAWS)
    means = np.sort(np.concatenate([part, part + extra]) / np.tile(total + extra, 2))
    tail = round((1 - LEVEL) / 2 * len(means))
    return ConfidenceInterval(float(means[tail]), float(means[-1 - tail]))


def difference_interval(differences: Sequence[float]) -> ConfidenceInterval:
    """Returns the interval of a mean of differences in [-1, 1]; see :func:`mean_interval`."""
    low, high = mean_interval([[(1 + d) / 2 for d in differences]])
    return ConfidenceInterval(2 * low - 1, 2 * high - 1)


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


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Returns the unbiased Pass^k (Yao et al., 2024, arXiv:2406.12045).

    This is the chance that k of n attempts, drawn without replacement, are all successes.

    Args:
        n: attempts.
        c: successes among them.
        k: at most ``n``.

    >>> pass_hat_k(4, 3, 2)
    0.5
    """
    return math.comb(c, k) / math.comb(n, k)


def score_of(row: EpisodeRow) -> float:
    """Returns an episode's score; a score that is not a finite number counts as 0."""
    return 0.0 if unscored(row) else float(row["score"])


def unscored(row: EpisodeRow) -> bool:
    """Returns whether an episode's score is not a finite number."""
    return not (isinstance(row["score"], int | float) and math.isfinite(row["score"]))


def summarise(rows: Sequence[EpisodeRow]) -> MetricSummary:
    """Returns the summary of some episodes, at least one."""
    tasks = list(by_task(rows).values())
    successes = [fmean(row["success"] for row in attempts) for attempts in tasks]
    most = max(map(len, tasks))
    complete = [attempts for attempts in tasks if len(attempts) == most]
    solved = [sum(row["success"] for row in attempts) for attempts in complete]
    turns = [turn for row in rows for turn in row["turns"]]
    return MetricSummary(
        tasks=len(tasks),
        attempts=most,
        fewest=min(map(len, tasks)),
        success=fmean(successes),
        successes=successes,
        interval=mean_interval([successes]),
        score=fmean(fmean(map(score_of, attempts)) for attempts in tasks),
        pass_at={k: fmean(pass_at_k(most, c, k) for c in solved) for k in range(1, most + 1)},
        pass_all={k: fmean(pass_hat_k(most, c, k) for c in solved) for k in range(1, most + 1)},
        any_score=fmean(
            any(above(score_of(row), 0.0) for row in attempts) for attempts in complete
        ),
        turns=len(turns) / len(rows),
        invalid=sum(turn["invalid"] for turn in turns) / max(len(turns), 1),
        truncated=fmean(row["end"] not in ("terminated", "refused") for row in rows),
        refused=fmean(row["end"] == "refused" for row in rows),
        cut=cut_replies(rows),
        prompt_tokens=fmean(row["usage"].get("prompt_tokens", 0) for row in rows),
        completion_tokens=fmean(row["usage"].get("completion_tokens", 0) for row in rows),
    )


def without_refused(rows: Sequence[EpisodeRow]) -> tuple[float, float] | None:
    """Returns success and score of the episodes that were not refused; None without any.

    Both are means over tasks.
    """
    tasks = by_task(row for row in rows if row["end"] != "refused").values()
    if not tasks:
        return None
    success = fmean(fmean(row["success"] for row in attempts) for attempts in tasks)
    return success, fmean(fmean(map(score_of, attempts)) for attempts in tasks)


def cut_replies(rows: Sequence[EpisodeRow]) -> float:
    """Returns the share of replies that reached the limit of tokens; 0 without a reply."""
    calls = [call for row in rows for call in row.get("calls", ())]
    cut = sum(1 for call in calls if call.get("finish") == "length")
    return cut / max(len(calls), 1)


def compare(first: Sequence[EpisodeRow], second: Sequence[EpisodeRow]) -> PairedRuns | None:
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
    interval = difference_interval(differences)
    return PairedRuns(
        len(shared), fmean(differences), interval, better, worse, sign_test(better, worse)
    )


def sign_test(better: int, worse: int) -> float:
    """Returns the two-sided p-value of the sign test.

    >>> sign_test(9, 1)
    0.021484375
    """
    n, least = better + worse, min(better, worse)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(least + 1)) / (1 << n))


def by_task(rows: Iterable[EpisodeRow]) -> dict[tuple[str, str, str], list[EpisodeRow]]:
    """Groups episodes by suite, family and task."""
    return grouped(rows, lambda row: (row["suite"], row["family"], row["task_id"]))


def grouped(
    rows: Iterable[EpisodeRow], key: Callable[[EpisodeRow], Any]
) -> dict[Any, list[EpisodeRow]]:
    """Groups rows by a key, in the order of its first appearance."""
    groups: dict[Any, list[EpisodeRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
