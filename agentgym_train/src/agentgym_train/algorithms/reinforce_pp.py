"""REINFORCE++ (Hu, 2025): discounted returns-to-go, whitened over the tokens of all processes."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentgym_train.algorithms.policy_gradient import PolicyGradient
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import returns_to_go, whitened


@dataclass(frozen=True, kw_only=True)
class ReinforcePP(PolicyGradient):
    """Global whitening instead of a baseline."""

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Whitens the returns-to-go over the action tokens of all processes."""
        return_BT = returns_to_go(self.rewards(batch), batch.turn_BT, self.gamma)
        return batch.with_streams(advantage=whitened(return_BT, batch.action_BT, distributed))
