"""Scores of samples, and their intervals by family."""

from statistics import fmean
from typing import Any

from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    metric,
    scorer,
    value_to_float,
)
from inspect_ai.solver import TaskState

from agentgym_envs.evaluate.metrics import grouped, mean_interval
from agentgym_inspect.solver import OUTCOME

ALL = "all"


@metric
def interval() -> Metric:
    """Means and 95 % intervals over tasks: of all tasks, and of each family if there are several.

    The interval is that of ``agentgym eval``. With several epochs, a value is a task's mean.
    """
    number = value_to_float()

    def measure(scores: list[SampleScore]) -> Value:
        families = grouped(scores, lambda one: (one.sample_metadata or {}).get("family", ALL))
        groups = {ALL: scores} | (families if len(families) > 1 else {})
        found: dict[str, Any] = {}
        for name, members in groups.items():
            values = [number(one.score.value) for one in members]
            if values:
                low, high = mean_interval([values])
                found |= {name: fmean(values), f"{name}, low": low, f"{name}, high": high}
        return found

    return measure


@scorer(metrics=[interval()])
def success() -> Scorer:
    """1 if the environment says that the task is solved, otherwise 0."""
    return _scorer("success")


@scorer(metrics=[interval()])
def score() -> Scorer:
    """The environment's score, from 0 to 1."""
    return _scorer("score")


def _scorer(key: str) -> Scorer:
    async def read(state: TaskState, target: Target) -> Score:
        outcome = state.store.get(OUTCOME)
        if outcome is None:  # with --score-on-error
            return Score.unscored(explanation="the episode was not played to its end")
        return Score(value=float(outcome[key]), metadata={"end": outcome["end"]})

    return read
