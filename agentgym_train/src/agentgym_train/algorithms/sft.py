"""Supervised fine-tuning: maximises the log-probability of all action tokens of the source.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from agentgym_train.data.batching import Batch, Forward
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.protocols import Algorithm


@dataclass(frozen=True, kw_only=True)
class SFT(Algorithm):
    """Cross-entropy on action tokens; rewards are ignored."""

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Returns the batch unchanged: all action tokens count alike."""
        return batch

    def weight(self, batch: Batch) -> float:
        """Returns the number of action tokens."""
        return batch.action_tokens

    def loss(self, forward: Forward, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the negative log-likelihood."""
        return -forward.logp_BT.where(micro.action_BT, 0.0).sum(), {}
