"""PPO (Schulman et al., 2017) with a critic: advantages by generalized advantage estimation, and a loss for the values.

The critic is described by ``[critic]`` of the configuration. Its steps are tokens, or turns: then
one value a turn is learned, that before its first token, and all tokens of the turn have the turn's
advantage. An episode that was cut off ends like any other: no value stands for what it would have
earned.

Shapes: B trajectories, T tokens, N turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from agentgym_train.algorithms.policy_gradient import PolicyGradient
from agentgym_train.config.constraints import NonNegative, Share
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Group
from agentgym_train.engine.distributed import Distributed
from agentgym_train.engine.logps import Forward
from agentgym_train.learning.advantages import gae, whitened
from agentgym_train.learning.losses import clipped_value_loss, token_weights


@dataclass(frozen=True, kw_only=True)
class PPO(PolicyGradient):
    """Actor and critic."""

    per: Literal["token", "turn"] = "token"
    """The unit of a step in advantage estimation: a token or a turn."""
    lam: Share = 1.0
    """Decay a step. Below 1, what is more than 1 / (1 − lam) steps away is left to the critic."""
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
        """Values too."""
        return super().required_streams | {"value"}

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Sets "advantage", the critic's targets "return", and "value_weight": for how many tokens a value is learned."""
        value_BT = batch.streams["value"]
        weight_BT = batch.action_BT.float() if self.per == "token" else turn_weights(batch)
        step_BT = weight_BT > 0
        raw_BT = gae(
            self.rewards(batch), value_BT, batch.turn_BT, step_BT, gamma=self.gamma, lam=self.lam
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

    def loss(self, forward: Forward, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """The policy's loss and that of the values."""
        policy, sums = super().loss(forward, micro)
        value_BT, return_BT, weight_BT = (
            forward.value_BT,
            micro.streams["return"],
            micro.streams["value_weight"],
        )
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
        return policy + self.value_coef * (
            loss_BT * weight_BT * token_weights(micro.action_BT, self.loss_reduction)
        ).sum(), sums


def turn_weights(batch: Batch) -> Tensor:
    """Returns, on the first action token of each turn, how many the turn has; 0 elsewhere. float32, shape (B, T)."""
    turns = int(batch.turn_BT.max()) + 1 if batch.turn_BT.numel() else 1
    # Padding has turn 0 but no action token, so it adds nothing to the count of the first turn.
    count_BN = torch.zeros(len(batch.turn_BT), turns).scatter_add(
        1, batch.turn_BT, batch.action_BT.float()
    )
    # The first action token of a turn has a left neighbour that is not an action token of the same
    # turn.
    goes_on_BT = torch.zeros_like(batch.action_BT)
    goes_on_BT[:, 1:] = batch.action_BT[:, :-1] & (batch.turn_BT[:, 1:] == batch.turn_BT[:, :-1])
    return count_BN.gather(1, batch.turn_BT).where(batch.action_BT & ~goes_on_BT, 0.0)


def forward_fill(stream_BT: Tensor, step_BT: Tensor) -> Tensor:
    """Returns a stream in which every token has the number of the latest step."""
    # The column of the latest step is the running maximum of the steps' columns.
    at_BT = torch.arange(stream_BT.shape[1]).where(step_BT, 0).cummax(1).values
    return stream_BT.gather(1, at_BT)
