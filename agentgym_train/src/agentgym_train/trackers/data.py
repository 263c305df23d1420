"""Shared code of trackers: the check for their library, and conversion of their data."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from agentgym_envs.errors import MissingExtra
from agentgym_train.data.types import Trajectory
from agentgym_train.reporting import report

SAMPLES = "samples"
"""The name of logged episodes; ``episodes`` is the name of a metric."""
COLUMNS = ["step", "task", "return", "text"]
"""The columns of a table of episodes."""


def require(library: str) -> None:
    """Rejects a tracker whose library is not installed.

    Raises:
        MissingExtra: the library is missing; names the pip command.
    """
    # A folder without code has a spec without an origin. wandb creates a folder named "wandb".
    spec = find_spec(library)
    if spec is None or spec.origin is None:
        raise MissingExtra(f"the tracker {library}", library, "agentgym-train")


def flat(metrics: Mapping[str, Any], head: str = "") -> dict[str, float]:
    """Returns the numbers of a row of metrics, without its ``step``.

    >>> flat({"step": 3, "loss": 1, "time": {"update": 2.5}})
    {'loss': 1.0, 'time/update': 2.5}
    """
    numbers: dict[str, float] = {}
    for key, value in metrics.items():
        if isinstance(value, Mapping):
            numbers |= flat(value, f"{head}{key}/")
        elif isinstance(value, int | float) and head + key != "step":
            numbers[head + key] = float(value)
    return numbers


def rows(step: int, episodes: Sequence[Trajectory]) -> list[list[Any]]:
    """Returns episodes as rows of :data:`COLUMNS`."""
    return [
        [step, t.task_id or f"seed {t.seed}", t.total_reward, report.as_text(t)] for t in episodes
    ]
