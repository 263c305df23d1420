"""RLOO (Ahmadian et al., 2024): the baseline is the mean return of the group's other episodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agentgym_train.algorithms.policy_gradient import PolicyGradient, on_actions
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import leave_one_out


@dataclass(frozen=True, kw_only=True)
class RLOO(PolicyGradient):
    """REINFORCE leave-one-out."""

    min_group_size: ClassVar[int] = 2

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Broadcasts the return minus the others' mean over each trajectory's action tokens."""
        return on_actions(leave_one_out(self.returns(batch), batch.group_B), batch)
