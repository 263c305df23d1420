"""Algorithms that learn from the episodes of a dataset: SFT and DPO.

SFT, supervised fine-tuning, maximises the log-probability of all action tokens of the source.

DPO (Rafailov et al., 2023): makes the better of two episodes of a task more probable.

Shapes: B rows, T tokens, P pairs. A row is a sample of an episode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from agentgym_envs.scores import above
from agentgym_train.config.constraints import Positive
from agentgym_train.data.batching import Batch, ForwardOutput
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
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

    def loss(self, forward: ForwardOutput, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the negative log-likelihood."""
        return -forward.logp_BT.where(micro.action_BT, 0.0).sum(), {}


@dataclass(frozen=True, kw_only=True)
class DPO(Algorithm):
    """Learns from pairs of episodes of a task; the better one has the larger return.

    Ties and single episodes contribute no loss.
    """

    beta: Positive = 0.1
    """Strength of the pull towards the initial policy: a larger value keeps the policy closer."""
    whole_groups: ClassVar[bool] = True
    group_size: ClassVar[int] = 2
    per_weight: ClassVar[frozenset[str]] = frozenset({"pairs_right"})

    @property
    def required_streams(self) -> frozenset[str]:
        """The initial policy's log-probabilities."""
        return frozenset({"reference"})

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Marks the better episode with 1, the worse with −1, and ties and single episodes with 0.

        Raises:
            ConfigError: a group has more than two episodes.
        """
        sides: list[float] = []
        for group in groups:
            returns = [t.total_reward for t in group.trajectories]
            if len(returns) > self.group_size:
                raise ConfigError(
                    "algorithm 'dpo' learns from pairs, and a group of task"
                    f" {group.trajectories[0].task_id!r} has {len(returns)} episodes: set"
                    " env.group_size=2, or source.pairs=true where source.name=dataset"
                )
            # Equal returns give 0 for both: neither is above the lowest or below the highest.
            sides += [
                float(above(r, min(returns))) - float(above(max(returns), r)) for r in returns
            ]
        side_B = torch.tensor(sides)[batch.episode_B]
        return batch.with_streams(side=side_B[:, None] * torch.ones_like(batch.logp_BT))

    def weight(self, batch: Batch) -> float:
        """Returns the number of pairs."""
        return int(_pairs(batch)[1].sum())

    def loss(self, forward: ForwardOutput, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the sum of −log σ(β · (r_better − r_worse)) over pairs.

        r is the log-ratio of an episode's action tokens under the policy and under the reference,
        over all of its rows.
        """
        ratio_B = (forward.logp_BT - micro.streams["reference"]).where(micro.action_BT, 0.0).sum(1)
        pair_B, real_P = _pairs(micro)
        margin_P = torch.zeros(len(real_P), device=ratio_B.device).index_add(
            0, pair_B, micro.streams["side"][:, 0] * ratio_B
        )
        loss_P = -torch.nn.functional.logsigmoid(self.beta * margin_P)
        right = ((margin_P > 0) & real_P).sum()
        # 0 · margin keeps the loss of an idle micro-batch connected to the model.
        return loss_P.where(real_P, 0.0 * margin_P).sum(), {"pairs_right": right}


def _pairs(batch: Batch) -> tuple[Tensor, Tensor]:
    """Returns the pair of each row, int (B,), and whether a pair is complete, bool (P,).

    A complete pair has rows of a better and of a worse episode in this batch.
    """
    groups_P, pair_B = torch.unique(batch.group_B, return_inverse=True)
    side_B = batch.streams["side"][:, 0]
    better_P, worse_P = (
        torch.zeros(len(groups_P), device=side_B.device).index_add(0, pair_B, each_B.clamp(min=0))
        for each_B in (side_B, -side_B)
    )
    return pair_B, (better_P > 0) & (worse_P > 0)
