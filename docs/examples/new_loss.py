"""An algorithm that learns only from the best trajectory of each group."""

from dataclasses import dataclass

import torch

from agentgym_train import NonNegative, PolicyGradient, on_actions


@dataclass(frozen=True, kw_only=True)
class Best(PolicyGradient):
    """The best has advantage 1 if it beats the worst by more than ``least``."""

    least: NonNegative = 0.0

    def compute_advantages(self, batch, groups, distributed):
        """Returns the batch with advantages; B counts episodes."""
        return_B = self.returns(batch)
        chosen_B = torch.zeros_like(return_B)
        for number in batch.group_B.unique():
            rows = (batch.group_B == number).nonzero()[:, 0]
            best = rows[return_B[rows].argmax()]
            lead = return_B[best] - return_B[rows].min()
            chosen_B[best] = float(lead > self.least)
        return on_actions(chosen_B, batch)
