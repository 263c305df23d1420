"""Scorers: what changes the rewards of episodes before anything learns from them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentgym_train import plugins
from agentgym_train.data.types import Group, Trajectory


def watched(tables: Sequence[Mapping[str, Any]]) -> Collection[str]:
    """Returns the streams that metrics need with these scorers: a learned one can be played for, which divergence shows."""
    return (
        {"reference"}
        if any(plugins.make(plugins.SCORER, table).learned for table in tables)
        else ()
    )


def rewarded(
    groups: Sequence[Group], rewards: Callable[[Trajectory], Iterable[float]]
) -> list[Group]:
    """Returns the groups with other rewards; the given ones stay as they are, for a source may give them again.

    Args:
        groups: of a step.
        rewards: called once a trajectory, in order; returns one reward a turn.
    """

    def again(t: Trajectory) -> Trajectory:
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
            trajectories=[again(t) for t in group.trajectories],
            filtered=[again(t) for t in group.filtered],
        )
        for group in groups
    ]
