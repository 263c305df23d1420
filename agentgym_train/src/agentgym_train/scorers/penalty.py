"""Costs of actions: of invalid ones, or of all.

With a cost for all actions, the shorter of two solutions has the larger return.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentgym_train.config.constraints import NonNegative
from agentgym_train.data.types import Group
from agentgym_train.protocols import Scorer
from agentgym_train.scorers.rewards import rewarded


@dataclass(frozen=True, kw_only=True)
class Penalty(Scorer):
    """Subtracts costs from each turn's reward.

    Raises:
        ValueError: both costs are 0.
    """

    invalid: NonNegative = 0.0
    """Cost of each invalid action, in units of reward."""
    turn: NonNegative = 0.0
    """Cost of every action, in units of reward."""

    def __post_init__(self) -> None:
        if not (self.invalid or self.turn):
            raise ValueError("set invalid or turn: both are 0, which changes nothing")

    def score(self, groups: Sequence[Group]) -> list[Group]:
        """Returns the groups with the costs subtracted from the rewards."""
        return rewarded(
            groups,
            lambda t: [turn.reward - self.turn - self.invalid * turn.invalid for turn in t.turns],
        )
