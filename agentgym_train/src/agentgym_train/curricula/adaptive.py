"""More turns once success stops rising at the present ones, fewer when it collapses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any

from agentgym_train.config.constraints import Count, Counts, Share


@dataclass(kw_only=True)
class Adaptive:
    """Moves along ``rounds`` by what the last ``window`` steps of a stage, and the ``window`` before, say of success.

    Raises:
        ValueError: a stage that is no longer than the one before.
    """

    rounds: Counts
    """The turns of each stage."""
    window: Count = 10
    """Steps whose means are compared."""
    margin: Share = 0.02
    """A rise of success from one window to the next up to which it counts as none."""
    truncated: Share = 0.1
    """Least share of the window's episodes that ran into the horizon: with fewer, more turns would change nothing."""
    collapse: Share = 0.2
    """A fall of success below the stage's best window beyond which the stage before comes back."""
    stage: int = field(default=0, init=False)
    best: float = field(default=0.0, init=False)
    recent: list[list[float]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        if any(after <= before for before, after in pairwise(self.rounds)):
            raise ValueError(f"rounds={list(self.rounds)}: each stage must have more turns than the one before")

    def horizon(self, step: int) -> int:
        """Returns the turns of the present stage, whatever the step."""
        return self.rounds[self.stage]

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Takes a step's ``success`` and ``truncated_horizon``, both shares of its episodes."""
        self.recent = [*self.recent, [metrics["success"], metrics["truncated_horizon"]]][-2 * self.window :]
        early, late = self.recent[: -self.window], self.recent[-self.window :]
        if len(late) < self.window:
            return
        success, truncated = (fmean(column) for column in zip(*late, strict=True))
        if success < self.best - self.collapse:
            self._begin(max(self.stage - 1, 0))
            return
        risen = len(early) < self.window or success - fmean(s for s, _ in early) > self.margin
        if not risen and truncated >= self.truncated and self.stage + 1 < len(self.rounds):
            self._begin(self.stage + 1)
        else:
            self.best = max(self.best, success)

    def state_dict(self) -> dict[str, Any]:
        """Returns the stage, the success of its best window, and its last steps."""
        return {"stage": self.stage, "best": self.best, "recent": self.recent}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores them."""
        self.stage, self.best, self.recent = state["stage"], state["best"], state["recent"]

    def _begin(self, stage: int) -> None:
        self.stage, self.best, self.recent = stage, 0.0, []
