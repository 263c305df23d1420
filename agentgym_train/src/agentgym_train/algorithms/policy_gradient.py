"""Policy-gradient algorithms: their base class, GRPO, RLOO and REINFORCE++.

A subclass defines ``compute_advantages``.

GRPO (Shao et al., 2024) compares a return with its group's mean. All action tokens of a trajectory
have the same advantage. These options of GRPO give related algorithms:

- Dr.GRPO (Liu et al., 2025): ``normalise = false`` and ``loss_reduction = "constant"``;
- DAPO (Yu et al., 2025): ``clip_high = 0.28`` and the default ``loss_reduction = "token"``;
- GSPO (Zheng et al., 2025): ``ratio = "sequence"``, ``loss_reduction = "sequence"``, and
  ``clip_low`` and ``clip_high`` near 3e-4;
- CISPO (MiniMax, 2025): ``surrogate = "cispo"``.

RLOO (Ahmadian et al., 2024) has the mean return of the group's other episodes as its baseline.
REINFORCE++ (Hu, 2025) whitens discounted returns-to-go over the tokens of all processes.

Shapes: B rows, T tokens. A row is an episode in ``compute_advantages``, otherwise a sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from agentgym_train.config.constraints import Count, NonNegative, Share
from agentgym_train.data.batching import Batch, ForwardOutput
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import group_centred, leave_one_out, returns_to_go, whitened
from agentgym_train.learning.losses import (
    Estimator,
    cispo_surrogate,
    clipped_surrogate,
    kl_divergence,
    log_ratios,
    token_weights,
)
from agentgym_train.protocols import Algorithm


@dataclass(frozen=True, kw_only=True)
class PolicyGradient(Algorithm):
    """A surrogate loss on action tokens, a KL penalty and an entropy bonus."""

    gamma: Share = 1.0
    """Discount per turn. Below 1, the faster of two successes has the larger return."""
    surrogate: Literal["clip", "cispo"] = "clip"
    """"clip" as in PPO, "cispo" for bounded weights that keep every token's gradient."""
    ratio: Literal["token", "sequence"] = "token"
    """"sequence" takes the geometric mean over an episode, as in GSPO. Then set ``clip_low`` and
    ``clip_high`` near 3e-4. All samples of an episode are then in one micro-batch."""
    clip_low: Share = 0.2
    """Lower clip range: ratios are clipped at 1 − ``clip_low``."""
    clip_high: NonNegative = 0.2
    """Upper clip range: ratios are clipped at 1 + ``clip_high``; 0.28 in DAPO."""
    loss_reduction: Literal["token", "sequence", "constant"] = "token"
    """"token": mean over all action tokens (DAPO). "sequence": mean over episodes of the mean over
    their tokens (GRPO's paper). "constant": sum, divided by the number of episodes and by
    ``constant`` (Dr.GRPO)."""
    constant: Count = 1024
    """Tokens, for ``loss_reduction = "constant"``."""
    kl_coef: NonNegative = 0.0
    """Weight of the KL divergence from the initial policy."""
    kl_estimator: Estimator = "k3"
    """Estimator of the KL divergence (Schulman, 2020). "k1" can be negative and is useless in the
    loss; "k3" is never negative."""
    kl_in: Literal["loss", "reward"] = "loss"
    """Where the KL divergence is added. In the reward, the usual estimator is k1."""
    entropy_coef: NonNegative = 0.0
    """Weight of the entropy bonus, over the probable tokens only."""
    importance_cap: NonNegative = 0.0
    """Upper bound of truncated importance weights (Yao et al., 2025); 0: off. Above 0, the trainer
    recomputes the log-probabilities before the update, and ratios are relative to those. With
    ``rollout.ahead = 1`` the default is 2.0."""

    @property
    def required_streams(self) -> frozenset[str]:
        """Returns those of "reference", "old" and "entropy" whose weight is not 0."""
        wanted = {
            "reference": self.kl_coef,
            "old": self.importance_cap,
            "entropy": self.entropy_coef,
        }
        return frozenset(name for name, weight in wanted.items() if weight)

    @property
    def whole_episodes(self) -> bool:
        """Whether the ratio is a mean over an episode."""
        return self.ratio == "sequence"

    def rewards(self, batch: Batch) -> Tensor:
        """Returns the rewards, shape (B, T), minus the KL penalty if it is part of the rewards."""
        if not self.kl_coef or self.kl_in == "loss":
            return batch.reward_BT
        kl_BT = kl_divergence(batch.logp_BT, batch.streams["reference"], self.kl_estimator)
        # The divergence has the precision of float32, and so has the difference.
        return batch.reward_BT.float() - self.kl_coef * kl_BT.where(batch.action_BT, 0.0)

    def returns(self, batch: Batch) -> Tensor:
        """Returns the discounted returns of whole trajectories, shape (B,)."""
        reward_BT = self.rewards(batch)
        discount_BT = torch.float_power(self.gamma, batch.turn_BT)
        return (reward_BT * discount_BT).sum(1).to(reward_BT.dtype)

    def weight(self, batch: Batch) -> float:
        """Returns the divisor of the loss, which depends on ``loss_reduction``."""
        if self.loss_reduction == "token":
            return batch.action_tokens
        # A row counts as the share of its episode's tokens, so an episode counts 1.
        count_B = batch.action_BT.sum(1).double()
        episodes = float((count_B / batch.episode_tokens_B.clamp(min=1)).sum())
        return episodes * (self.constant if self.loss_reduction == "constant" else 1)

    def zero_loss_B(self, batch: Batch) -> Tensor:
        """Returns which rows have an advantage of 0 on every action token.

        There are none if the loss has a KL penalty, an entropy bonus or a subclass's own terms.
        """
        own_loss = type(self).loss is not PolicyGradient.loss
        if own_loss or self.entropy_coef or (self.kl_coef and self.kl_in == "loss"):
            return super().zero_loss_B(batch)
        return (batch.streams["advantage"] == 0).where(batch.action_BT, True).all(1)

    def loss(self, forward: ForwardOutput, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the surrogate loss plus the KL penalty minus the entropy bonus."""
        logp_BT, action_BT, advantage_BT = (
            forward.logp_BT,
            micro.action_BT,
            micro.streams["advantage"],
        )
        # Ratios are relative to the recomputed log-probabilities if there are any, which are free
        # of the generator's rounding.
        old_BT = micro.streams.get("old", micro.logp_BT)
        member_B = micro.member_B if self.ratio == "sequence" else None
        log_ratio_BT = log_ratios(logp_BT, old_BT, action_BT, member_B=member_B)
        if self.surrogate == "clip":
            loss_BT, bounded_BT = clipped_surrogate(
                log_ratio_BT, advantage_BT, low=self.clip_low, high=self.clip_high
            )
        else:
            loss_BT, bounded_BT = cispo_surrogate(
                logp_BT, log_ratio_BT, advantage_BT, high=self.clip_high
            )
        if self.importance_cap:
            # Corrects for the difference between the trainer's and the generator's distributions.
            loss_BT = loss_BT * (old_BT - micro.logp_BT).where(action_BT, 0.0).exp().clamp(
                max=self.importance_cap
            )
        sums = {
            "clip_fraction": (bounded_BT & action_BT).sum(),
            "ratio": log_ratio_BT.detach().exp().where(action_BT, 0.0).sum(),
        }
        sums["advantage_size"] = advantage_BT.abs().where(action_BT, 0.0).sum()
        if "reference" in micro.streams:
            kl_BT = kl_divergence(logp_BT, micro.streams["reference"], self.kl_estimator)
            sums["kl"] = kl_BT.detach().where(action_BT, 0.0).sum()
            if self.kl_coef and self.kl_in == "loss":
                loss_BT = loss_BT + self.kl_coef * kl_BT
        if forward.bonus_BT is not None:
            loss_BT = loss_BT - self.entropy_coef * forward.bonus_BT
        weight_BT = token_weights(action_BT, micro.episode_tokens_B, self.loss_reduction)
        return (loss_BT.where(action_BT, 0.0) * weight_BT).sum(), sums


def on_actions(advantage_B: Tensor, batch: Batch) -> Batch:
    """Returns the batch with a trajectory's advantage on each of its action tokens."""
    return batch.with_streams(advantage=advantage_B[:, None] * batch.action_BT)


@dataclass(frozen=True, kw_only=True)
class GRPO(PolicyGradient):
    """Group-relative policy optimisation with a token-level loss."""

    normalise: bool = True
    """Divide the advantages by the standard deviation of the group's returns."""
    min_group_size: ClassVar[int] = 2

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Gives every action token the group-relative return of its trajectory."""
        return on_actions(
            group_centred(self.returns(batch), batch.group_B, normalise=self.normalise), batch
        )


@dataclass(frozen=True, kw_only=True)
class RLOO(PolicyGradient):
    """REINFORCE leave-one-out."""

    min_group_size: ClassVar[int] = 2

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Broadcasts the return minus the others' mean over each trajectory's action tokens."""
        return on_actions(leave_one_out(self.returns(batch), batch.group_B), batch)


@dataclass(frozen=True, kw_only=True)
class ReinforcePP(PolicyGradient):
    """Global whitening instead of a baseline."""

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Whitens the returns-to-go over the action tokens of all processes."""
        return_BT = returns_to_go(self.rewards(batch), batch.turn_BT, self.gamma)
        return batch.with_streams(advantage=whitened(return_BT, batch.action_BT, distributed))
