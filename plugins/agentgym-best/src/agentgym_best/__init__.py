"""An algorithm that learns only from the best trajectory of each group.

Shapes: B trajectories.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from agentgym_train.algorithms.policy_gradient import PolicyGradient, on_actions
from agentgym_train.batching import Batch
from agentgym_train.limits import NonNegative
from agentgym_train.types import Group
from agentgym_train.world import World


@dataclass(frozen=True, kw_only=True)
class Best(PolicyGradient):
    """The best trajectory has advantage 1 if it exceeds the worst by more than ``least``."""

    least: NonNegative = 0.0

    def credit(self, batch: Batch, groups: Sequence[Group], world: World) -> Batch:
        """Returns the batch with advantages; the first of several best trajectories counts."""
        return_B = self.returns(batch)
        chosen_B = torch.zeros_like(return_B)
        for number in batch.group_B.unique():
            rows = (batch.group_B == number).nonzero()[:, 0]
            best = rows[return_B[rows].argmax()]
            chosen_B[best] = float(return_B[best] - return_B[rows].min() > self.least)
        return on_actions(chosen_B, batch)
