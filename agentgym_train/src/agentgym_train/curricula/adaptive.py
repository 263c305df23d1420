"""Lengthens the horizon once success stops rising, and shortens it when the policy collapses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentgym_envs.scores import above, all_equal
from agentgym_train.config.constraints import Count, NonNegative, Positive, Share
from agentgym_train.protocols import Curriculum


class Adaptive(Curriculum):
    """Multiplies the horizon by ``growth`` from ``start`` up to ``limit``.

    Its state is the stage, the best windows of the stage, and its latest steps.
    """

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The stages and their ends.

        Raises:
            ValueError: the limit is below the start, or the growth is not above 1.

        >>> Adaptive.Options(start=10, limit=80).stages()
        [10, 14, 20, 28, 39, 55, 77, 80]
        """

        start: Count
        """The turns of the first stage."""
        limit: Count
        """The turns of the last stage."""
        growth: Positive = 1.4
        """Turns of a stage divided by those of the stage before."""
        window: Count = 40
        """Steps per mean. The rise of success is measured over twice as many."""
        rise: NonNegative = 1.0
        """Smallest rise of success, in standard errors, that counts as improvement."""
        truncated: Share = 0.1
        """Smallest share of the window's episodes that must end at the horizon before it grows.
        Below it, more turns would change nothing."""
        collapse: Share = 0.2
        """Fall of success, or rise of the share of invalid actions, from the stage's best window
        that brings back the stage before."""
        max_kl: Positive = 1.0
        """KL divergence from the initial policy, in nats per action token, above which the stage
        before comes back. It has an effect if the algorithm has a KL penalty."""

        def __post_init__(self) -> None:
            if self.limit < self.start:
                raise ValueError(f"limit={self.limit} is below start={self.start}")
            if self.growth <= 1:
                raise ValueError(f"growth={self.growth}: must be above 1")

        def stages(self) -> list[int]:
            """Returns the turns of each stage."""
            turns = [self.start]
            while turns[-1] < self.limit:
                turns.append(min(max(turns[-1] + 1, round(turns[-1] * self.growth)), self.limit))
            return turns

    def __init__(self, options: Options):
        self._options, self._turns = options, options.stages()
        self.stage, self.success, self.invalid = 0, 0.0, 1.0
        self.recent: list[list[float]] = []

    def horizon(self, step: int) -> int:
        """Returns the turns of the current stage."""
        return self._turns[self.stage]

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Adds a step, and changes the stage if due.

        Args:
            metrics: the keys are ``success``, ``truncated_horizon`` and ``invalid``; ``kl`` is
                optional.
        """
        options = self._options
        latest = [metrics[name] for name in ("success", "truncated_horizon", "invalid")]
        self.recent = [*self.recent, [*latest, metrics.get("kl", 0.0)]][-2 * options.window :]
        if len(self.recent) < options.window:
            return
        success, truncated, invalid, kl = np.mean(self.recent[-options.window :], axis=0).tolist()
        self.success, self.invalid = max(self.success, success), min(self.invalid, invalid)
        if (
            above(self.success - options.collapse, success)
            or above(invalid, self.invalid + options.collapse)
            or above(kl, options.max_kl)
        ):
            self._begin(max(self.stage - 1, 0))
        elif (
            len(self.recent) == 2 * options.window
            and not above(options.truncated, truncated)
            and self.stage + 1 < len(self._turns)
            and above(options.rise, rise([row[0] for row in self.recent]))
        ):
            self._begin(self.stage + 1)

    def state_dict(self) -> dict[str, Any]:
        """Returns the stage, its best windows, and its latest steps."""
        return {
            "stage": self.stage,
            "success": self.success,
            "invalid": self.invalid,
            "recent": self.recent,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state."""
        self.stage, self.recent = state["stage"], state["recent"]
        self.success, self.invalid = state["success"], state["invalid"]

    def _begin(self, stage: int) -> None:
        self.stage, self.success, self.invalid, self.recent = stage, 0.0, 1.0, []


def rise(values: list[float]) -> float:
    """Returns the slope of the least-squares line through a series, in its standard errors.

    A constant series has the slope 0. A series exactly on a rising line returns infinity.

    Args:
        values: at least two numbers, one per step.

    >>> round(rise([0.0, 1.0, 1.0, 2.0]), 2)
    4.24
    """
    if all_equal(values):
        return 0.0
    steps = np.arange(len(values)) - (len(values) - 1) / 2
    centred = np.asarray(values) - np.mean(values)
    spread = steps @ steps
    slope = (steps @ centred) / spread
    residual = centred - slope * steps
    error = np.sqrt((residual @ residual) / max(len(values) - 2, 1) / spread)
    if error > 1e-9 * abs(slope):
        return float(slope / error)
    return float(np.copysign(np.inf, slope))
