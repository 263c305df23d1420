"""DPO (Rafailov et al., 2023): of two episodes of a task the better one becomes more probable than the worse one.

Shapes: B trajectories, T tokens, P pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from agentgym_train.batching import Batch
from agentgym_train.engine.logps import Forward
from agentgym_train.errors import ConfigError
from agentgym_train.limits import Positive
from agentgym_train.types import Group
from agentgym_train.world import World


@dataclass(frozen=True, kw_only=True)
class DPO:
    """Learns from groups of two, the better one first."""

    beta: Positive = 0.1
    """How far from the initial policy: the larger, the nearer."""
    needs: ClassVar[frozenset[str]] = frozenset({"reference"})
    whole_groups: ClassVar[bool] = True

    def credit(self, batch: Batch, groups: Sequence[Group], world: World) -> Batch:
        """Marks the better with 1 and the worse with −1.

        Raises:
            ConfigError: a group that is no pair.
        """
        if odd := next((g for g in groups if len(g.trajectories) not in (0, 2)), None):
            raise ConfigError(
                f"algorithm 'dpo' learns from pairs, and a group of task {odd.trajectories[0].task_id!r} has "
                f"{len(odd.trajectories)} episodes: set source.pairs=true"
            )
        sign_BT = 1.0 - 2.0 * (batch.episode_B % 2)[:, None] * torch.ones_like(batch.logp_BT)
        return batch.with_streams(side=sign_BT)

    def weight(self, batch: Batch) -> float:
        """Returns the pairs."""
        return int((torch.unique(batch.group_B, return_counts=True)[1] == 2).sum())

    def loss(self, forward: Forward, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns −log σ(β · (better − worse)), each the log-ratio of its action tokens to the reference's."""
        ratio_B = (forward.logp_BT - micro.streams["reference"]).where(micro.action_BT, 0.0).sum(1)
        _, pair_B, size_P = torch.unique(micro.group_B, return_inverse=True, return_counts=True)
        margin_P = torch.zeros(len(size_P), device=ratio_B.device).index_add(0, pair_B, micro.streams["side"][:, 0] * ratio_B)
        loss_P = -torch.nn.functional.logsigmoid(self.beta * margin_P)
        real_P = size_P == 2  # an idle micro-batch has no pair
        right = ((margin_P > 0) & real_P).sum()
        return loss_P.where(real_P, 0.0 * margin_P).sum(), {"pairs_right": right}
