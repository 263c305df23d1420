"""Supervised fine-tuning: the log-probability of every action token, of whatever the source gives.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Group
from agentgym_train.engine.distributed import Distributed
from agentgym_train.engine.logps import Forward
from agentgym_train.protocols import Algorithm


@dataclass(frozen=True, kw_only=True)
class SFT(Algorithm):
    """Cross-entropy on action tokens; rewards do not count."""

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Credits all alike."""
        return batch

    def weight(self, batch: Batch) -> float:
        """Returns the action tokens."""
        return batch.action_tokens

    def loss(self, forward: Forward, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the negative log-likelihood."""
        return -forward.logp_BT.where(micro.action_BT, 0.0).sum(), {}
