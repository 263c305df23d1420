"""GiGPO (Feng et al., 2025): GRPO over trajectories, plus GRPO over turns with equal observations.

Turns of a group that saw the same observation share an anchor state. They show which of several
actions in the same state led further; the return of a trajectory does not show it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from agentgym_train.algorithms.policy_gradient import PolicyGradient, on_actions
from agentgym_train.config.constraints import NonNegative, Share
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import group_centred, returns_to_go


@dataclass(frozen=True, kw_only=True)
class GiGPO(PolicyGradient):
    """Group in group: credit by trajectory and by turn."""

    gamma: Share = 0.95
    """Discount per turn. At 1, the turns of a trajectory that returns to an observation have the
    same return, unless there are rewards between them."""
    normalise: bool = True
    """Divide by the standard deviation of the returns, for trajectories and for turns."""
    step_coef: NonNegative = 1.0
    """Weight of the turns' advantages."""
    min_group_size: ClassVar[int] = 2

    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Adds the advantage of a turn in its anchor state to that of its trajectory."""
        whole = on_actions(
            group_centred(self.returns(batch), batch.group_B, normalise=self.normalise), batch
        )
        follow_BT = returns_to_go(self.rewards(batch), batch.turn_BT, self.gamma)
        trajectories = [(group.number, t) for group in groups for t in group.trajectories]
        anchors: dict[tuple[int, str, bool], int] = {}
        places: list[tuple[int, torch.Tensor, int]] = []  # row, columns of a turn's action, anchor
        for row, episode in enumerate(batch.episode_B.tolist()):
            number, trajectory = trajectories[episode]
            for n, turn in enumerate(trajectory.turns):
                at = (batch.action_BT[row] & (batch.turn_BT[row] == n)).nonzero()[:, 0]
                if len(at):
                    # A lesson is compared with lessons, and an action with actions.
                    state = number, turn.observation, turn.lesson
                    places.append((row, at, anchors.setdefault(state, len(anchors))))
        if not places:
            return whole
        return_P = torch.stack([follow_BT[row, at[0]] for row, at, _ in places])
        anchor_P = torch.tensor([anchor for *_, anchor in places])
        step_P = group_centred(return_P, anchor_P, normalise=self.normalise)
        advantage_BT = whole.streams["advantage"].clone()
        for (row, at, _), step in zip(places, step_P, strict=True):
            advantage_BT[row, at] += self.step_coef * step
        return batch.with_streams(advantage=advantage_BT)
