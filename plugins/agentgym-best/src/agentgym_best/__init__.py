"""Of each group the best trajectory counts, and no other. Shapes: B trajectories."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from agentgym_train import Batch, Distributed, Group, NonNegative, PolicyGradient, on_actions


@dataclass(frozen=True, kw_only=True)
class Best(PolicyGradient):
    """An advantage of 1 for the best trajectory of a group that is more than ``least`` above the group's worst."""

    least: NonNegative = 0.0

    def compute_advantages(self, batch: Batch, groups: Sequence[Group], distributed: Distributed) -> Batch:
        """Marks the first of the best of each group."""
        return_B = self.returns(batch)
        chosen_B = torch.zeros_like(return_B)
        for number in batch.group_B.unique():
            rows = (batch.group_B == number).nonzero()[:, 0]
            best = rows[return_B[rows].argmax()]
            chosen_B[best] = float(return_B[best] - return_B[rows].min() > self.least)
        return on_actions(chosen_B, batch)
