"""GRPO (Shao et al., 2024): the advantage of a trajectory is its return against its group's, on every action token."""

from dataclasses import dataclass, replace

from torch import Tensor

from agentgym_train.advantages import group_normalised
from agentgym_train.batching import Batch
from agentgym_train.limits import NonNegative, Share
from agentgym_train.losses import clipped_policy_loss, kl_k3


@dataclass(frozen=True, kw_only=True)
class GRPO:
    """Group-relative policy optimisation with a token-level loss."""

    clip_low: Share = 0.2
    clip_high: NonNegative = 0.2
    gamma: Share = 1.0
    """Discount a turn: below 1, the faster of two successes is the better one."""
    kl_coef: NonNegative = 0.0
    """Weight of the k3 divergence from the initial policy, in the loss."""

    def advantages(self, batch: Batch) -> Batch:
        """Broadcasts the group-normalised return over each trajectory's action tokens."""
        advantage_B = group_normalised(batch.return_B(self.gamma), batch.group_B)
        return replace(batch, advantage_BT=advantage_B[:, None] * batch.action_BT)

    def loss(self, logp_BT: Tensor, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Clipped surrogate plus divergence."""
        loss, clipped = clipped_policy_loss(
            logp_BT, micro.logp_BT, micro.advantage_BT, micro.action_BT, clip_low=self.clip_low, clip_high=self.clip_high
        )
        sums = {"clip_fraction": clipped.float()}
        if self.kl_coef:
            sums["kl"] = kl_k3(logp_BT, micro.reference_BT, micro.action_BT)
            loss = loss + self.kl_coef * sums["kl"]
        return loss, sums
