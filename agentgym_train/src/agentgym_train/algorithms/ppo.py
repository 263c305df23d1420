"""PPO (Schulman et al., 2017) with a critic and generalized advantage estimation.

The section ``[critic]`` of the configuration describes the critic. A step is a token or a turn.
With turns, the critic learns one value per turn, before its first action token, and all tokens of
the turn have the turn's advantage.

A truncated episode ends like any other, unless ``bootstrap`` is set. Then an episode that was
truncated at the horizon continues with the critic's value of its last observation (partial-episode
bootstrapping, Pardo et al., 2018).

Shapes: B rows, T tokens, N turns. A row is an episode in ``compute_advantages``, otherwise a
sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from agentgym_train.algorithms.policy_gradient import PolicyGradient
from agentgym_train.config.constraints import NonNegative, Share
from agentgym_train.data.batching import Batch, ForwardOutput
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import gae, whitened
from agentgym_train.learning.losses import clipped_value_loss, token_weights


@dataclass(frozen=True, kw_only=True)
class PPO(PolicyGradient):
    """A policy-gradient loss, and a loss for the values of a critic."""

    per: Literal["token", "turn"] = "token"
    """The unit of a step in advantage estimation: a token or a turn."""
    lam: Share = 1.0
    """Decay per step. Below 1, the critic stands for rewards more than 1 / (1 − lam) steps away."""
    bootstrap: bool = False
    """Continue an episode that was truncated at the horizon with the critic's value of its last
    observation. Off: the return ends with the last action. Episodes that the environment ended, or
    whose next prompt does not fit into the context, end with their last action in both cases."""
    normalise: bool = True
    """Whiten advantages over the tokens of all processes."""
    value_coef: NonNegative = 0.5
    """Weight of the value loss.

    For a separate critic model it matters only if the gradient is clipped.
    """
    value_clip: NonNegative = 0.2
    """Value-clip range: the loss rewards no larger change of a value in one update. 0: no limit."""

    @property
    def required_streams(self) -> frozenset[str]:
        """Returns those of the base class, "value", and "next_value" if it bootstraps."""
        own = {"value", "next_value"} if self.bootstrap else {"value"}
        return super().required_streams | own

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Sets three streams.

        They are "advantage", the critic's targets "return", and "value_weight": the number of
        tokens for which a value counts in the loss.
        """
        value_BT = batch.streams["value"]
        weight_BT = batch.action_BT.float() if self.per == "token" else turn_weights(batch)
        step_BT = weight_BT > 0
        raw_BT = gae(
            self.rewards(batch),
            value_BT,
            batch.turn_BT,
            step_BT,
            gamma=self.gamma,
            lam=self.lam,
            # The stream has one number per episode, on the last action token.
            next_value_B=batch.streams["next_value"].sum(1) if self.bootstrap else None,
        )
        # The critic's target is the λ-return, which is A + V. It is taken before whitening, which
        # changes the unit.
        return_BT = (raw_BT + value_BT).where(step_BT, 0.0)
        advantage_BT = forward_fill(raw_BT, step_BT).where(batch.action_BT, 0.0)
        if self.normalise:
            advantage_BT = whitened(advantage_BT, batch.action_BT, distributed)
        return batch.with_streams(
            **{"advantage": advantage_BT, "return": return_BT, "value_weight": weight_BT}
        )

    def loss(self, forward: ForwardOutput, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the sum of the policy's loss and the loss of the values."""
        policy, sums = super().loss(forward, micro)
        value_BT, return_BT = forward.value_BT, micro.streams["return"]
        weight_BT = micro.streams["value_weight"]
        assert value_BT is not None
        loss_BT, bounded_BT = clipped_value_loss(
            value_BT, micro.streams["value"], return_BT, clip=self.value_clip
        )
        logged = {
            "value_loss": loss_BT,
            "value": value_BT,
            "value_target": return_BT,
            "value_clip_fraction": bounded_BT.float(),
        }
        sums |= {name: (stream_BT.detach() * weight_BT).sum() for name, stream_BT in logged.items()}
        reduction_BT = token_weights(micro.action_BT, micro.episode_tokens_B, self.loss_reduction)
        return policy + self.value_coef * (loss_BT * weight_BT * reduction_BT).sum(), sums


def turn_weights(batch: Batch) -> Tensor:
    """Returns the number of a turn's action tokens, on its first action token.

    The value of a turn thus counts as much as its tokens do in the policy's loss.

    Returns:
        float32, shape (B, T); 0 for all other tokens.
    """
    turns = int(batch.turn_BT.max()) + 1 if batch.turn_BT.numel() else 1
    # Padding has turn 0 but no action token, so it adds nothing to the count of the first turn.
    count_BN = torch.zeros(len(batch.turn_BT), turns).scatter_add(
        1, batch.turn_BT, batch.action_BT.float()
    )
    # The first action token of a turn has no action token of the same turn before it. Turns never
    # decrease, so the running maximum is the turn of the latest action token, counted from 1.
    number_BT = batch.turn_BT + 1
    latest_BT = number_BT.where(batch.action_BT, 0).cummax(1).values
    first_BT = batch.action_BT & (pad(latest_BT, (1, 0))[:, :-1] < number_BT)
    return count_BN.gather(1, batch.turn_BT).where(first_BT, 0.0)


def forward_fill(stream_BT: Tensor, step_BT: Tensor) -> Tensor:
    """Returns a stream in which every token has the number of the latest step up to it.

    Tokens before the first step have the number of column 0.
    """
    # The column of the latest step is the running maximum of the steps' columns.
    at_BT = torch.arange(stream_BT.shape[1]).where(step_BT, 0).cummax(1).values
    return stream_BT.gather(1, at_BT)
