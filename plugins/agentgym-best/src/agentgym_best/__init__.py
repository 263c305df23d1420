"""An algorithm that learns only from the best trajectory of each group.

Shapes: B trajectories.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from agentgym_envs.scores import above
from agentgym_train import Batch, Distributed, Group, NonNegative, PolicyGradient, on_actions


@dataclass(frozen=True, kw_only=True)
class Best(PolicyGradient):
    """The best trajectory has advantage 1 if it exceeds the worst by more than ``least``."""

    least: NonNegative = 0.0

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Returns the batch with advantages; the first of several best trajectories counts."""
        return_B = self.returns(batch)
        chosen_B = torch.zeros_like(return_B)
        for number in batch.group_B.unique():
            rows = (batch.group_B == number).nonzero()[:, 0]
            best = rows[return_B[rows].argmax()]
            lead = float(return_B[best] - return_B[rows].min())
            chosen_B[best] = float(above(lead, self.least))
        return on_actions(chosen_B, batch)
