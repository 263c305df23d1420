"""Helpers of scorers, which change the rewards of episodes before the update."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentgym_train import plugins
from agentgym_train.data.types import Group, Trajectory


def watched(tables: Sequence[Mapping[str, Any]]) -> Collection[str]:
    """Returns the streams that the metrics need with these scorers.

    A policy can exploit a learned score; the KL divergence from the initial policy shows it.
    """
    return (
        {"reference"}
        if any(plugins.make(plugins.SCORER, table).cls.learned for table in tables)
        else ()
    )


def rewarded(
    groups: Sequence[Group], rewards: Callable[[Trajectory], Iterable[float]]
) -> list[Group]:
    """Returns copies of the groups with other rewards.

    The originals do not change, since a source can return them again.

    Args:
        groups: the groups of a step.
        rewards: called once per trajectory, in order; returns one reward per turn.
    """

    def copy(t: Trajectory) -> Trajectory:
        return replace(
            t,
            turns=[
                replace(turn, reward=reward)
                for turn, reward in zip(t.turns, rewards(t), strict=True)
            ],
        )

    return [
        replace(
            group,
            trajectories=[copy(t) for t in group.trajectories],
            filtered=[copy(t) for t in group.filtered],
        )
        for group in groups
    ]
