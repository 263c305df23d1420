"""What trackers share: whether their library is there, and what they are given, in the shape that they want."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from agentgym_envs.errors import MissingExtra
from agentgym_train.data.types import Trajectory
from agentgym_train.reporting import report

SAMPLES = "samples"
"""What episodes are logged under; ``episodes`` is a metric."""
COLUMNS = ["step", "task", "return", "text"]
"""Of a table of episodes."""


def require(library: str) -> None:
    """Refuses a tracker whose library is not installed; a mere folder of its name, which wandb leaves behind, is not it.

    Raises:
        MissingExtra: names the pip command.
    """
    spec = find_spec(library)
    if spec is None or spec.origin is None:
        raise MissingExtra(f"the tracker {library}", library, "agentgym-train")


def flat(metrics: Mapping[str, Any], head: str = "") -> dict[str, float]:
    """Returns the numbers of a row of metrics but its ``step``, those of inner tables under ``table/key``."""
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
