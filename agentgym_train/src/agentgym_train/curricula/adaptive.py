"""Lengthens the horizon once success stops rising, and shortens it when success collapses."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from agentgym_train.config.constraints import Count, Counts, Share
from agentgym_train.protocols import Curriculum, CurriculumPlugin


@dataclass(frozen=True, kw_only=True)
class Adaptive(CurriculumPlugin):
    """Moves along ``rounds``.

    It compares the success of the last ``window`` steps with that of the ``window`` before.

    Raises:
        ValueError: a stage has no more turns than the one before.
    """

    rounds: Counts
    """The turns of each stage."""
    window: Count = 10
    """Steps per mean."""
    margin: Share = 0.02
    """Smallest rise of success from one window to the next that counts as improvement."""
    truncated: Share = 0.1
    """Smallest share of the window's episodes that must end at the horizon before it grows. Below
    it, more turns would change nothing."""
    collapse: Share = 0.2
    """Fall of success below the stage's best window that brings back the stage before."""

    def __post_init__(self) -> None:
        if any(after <= before for before, after in pairwise(self.rounds)):
            raise ValueError(
                f"rounds={list(self.rounds)}: each stage must have more turns than the one before"
            )

    def build(self) -> "AdaptiveCurriculum":
        """Starts in the first stage."""
        return AdaptiveCurriculum(self)


class AdaptiveCurriculum(Curriculum):
    """The state of a run: the stage, the success of its best window, and the latest steps."""

    def __init__(self, options: Adaptive):
        self._options = options
        self.stage, self.best = 0, 0.0
        self.recent: list[list[float]] = []
        """``success`` and ``truncated_horizon`` of the last two windows, oldest first."""

    def horizon(self, step: int) -> int:
        """Returns the turns of the current stage."""
        return self._options.rounds[self.stage]

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Adds a step's ``success`` and ``truncated_horizon``, and changes the stage if due."""
        options = self._options
        self.recent = [*self.recent, [metrics["success"], metrics["truncated_horizon"]]][
            -2 * options.window :
        ]
        early, late = self.recent[: -options.window], self.recent[-options.window :]
        if len(late) < options.window:
            return
        success, truncated = (fmean(column) for column in zip(*late, strict=True))
        if success < self.best - options.collapse:
            self._begin(max(self.stage - 1, 0))
            return
        risen = len(early) < options.window or success - fmean(s for s, _ in early) > options.margin
        if not risen and truncated >= options.truncated and self.stage + 1 < len(options.rounds):
            self._begin(self.stage + 1)
        else:
            self.best = max(self.best, success)

    def state_dict(self) -> dict[str, Any]:
        """Returns the stage, the success of its best window, and the latest steps."""
        return {"stage": self.stage, "best": self.best, "recent": self.recent}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state."""
        self.stage, self.best, self.recent = state["stage"], state["best"], state["recent"]

    def _begin(self, stage: int) -> None:
        self.stage, self.best, self.recent = stage, 0.0, []
