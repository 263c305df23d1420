"""GRPO (Shao et al., 2024): the advantage compares a return with its group's mean.

All action tokens of a trajectory have the same advantage. These options give related algorithms:

- Dr.GRPO (Liu et al., 2025): ``normalise = false`` and ``loss_reduction = "constant"``;
- DAPO (Yu et al., 2025): ``clip_high = 0.28`` and the default ``loss_reduction = "token"``;
- GSPO (Zheng et al., 2025): ``ratio = "sequence"``, ``loss_reduction = "sequence"``, and
  ``clip_low`` and ``clip_high`` near 3e-4;
- CISPO (MiniMax, 2025): ``surrogate = "cispo"``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agentgym_train.algorithms.policy_gradient import PolicyGradient, on_actions
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import group_centred


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
