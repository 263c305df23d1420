"""Costs of actions: of invalid ones, of cut ones, or of all; and of episodes that grow too long.

With a cost for all actions, the shorter of two solutions has the larger return.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentgym_train.config.constraints import NonNegative
from agentgym_train.data.types import EpisodeStatus, Group, Trajectory
from agentgym_train.protocols import Scorer
from agentgym_train.scorers.rewards import rewarded


@dataclass(frozen=True, kw_only=True)
class Penalty(Scorer):
    """Subtracts costs from each turn's reward.

    Raises:
        ValueError: all costs are 0.
    """

    invalid: NonNegative = 0.0
    """Cost of each invalid action, in units of reward."""
    turn: NonNegative = 0.0
    """Cost of every action, in units of reward."""
    cut: NonNegative = 0.0
    """Cost of each action that ``rollout.max_new_tokens`` cut, in units of reward."""
    overlong: NonNegative = 0.0
    """Cost of an episode that the context ended (``truncated_context``), on its last action, in
    units of reward. A cost of at least the difference between the best and the worst return keeps
    a policy from escaping a bad end by long responses."""

    def __post_init__(self) -> None:
        if not (self.invalid or self.turn or self.cut or self.overlong):
            raise ValueError("set invalid, turn, cut or overlong: all are 0, which changes nothing")

    def score(self, groups: Sequence[Group]) -> list[Group]:
        """Returns the groups with the costs subtracted from the rewards."""
        return rewarded(groups, self._rewards)

    def _rewards(self, t: Trajectory) -> list[float]:
        """Returns the reward of each turn of an episode."""
        rewards = [
            turn.reward - self.turn - self.invalid * turn.invalid - self.cut * turn.cut
            for turn in t.turns
        ]
        if rewards and t.status is EpisodeStatus.TRUNCATED_CONTEXT:
            rewards[-1] -= self.overlong
        return rewards
