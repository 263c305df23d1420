"""Scorers: what changes the rewards of episodes before anything learns from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from agentgym_train.types import Group, Trajectory


def rewarded(groups: Sequence[Group], rewards: Callable[[Trajectory], Iterable[float]]) -> list[Group]:
    """Returns the groups with other rewards; the given ones stay as they are, for a source may give them again.

    Args:
        groups: of a step.
        rewards: called once a trajectory, in order; returns one reward a turn.
    """

    def again(t: Trajectory) -> Trajectory:
        return replace(t, turns=[replace(turn, reward=reward) for turn, reward in zip(t.turns, rewards(t), strict=True)])

    return [replace(group, trajectories=[again(t) for t in group.trajectories]) for group in groups]
