"""Rollouts of the policy, filtered by score.

With ``algorithm = sft`` it is AgentEvol (Xi et al., 2024).
"""

from dataclasses import dataclass, replace

from agentgym_envs.scores import above
from agentgym_train.config.constraints import Share
from agentgym_train.data.types import Group
from agentgym_train.protocols import RunContext, StepPlan
from agentgym_train.sources.rollout import FreshEpisodes


class RejectionSampling(FreshEpisodes):
    """Rollouts that are filtered. Metrics count all episodes."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The filter: episodes with a score below ``score`` are excluded from the loss."""

        score: Share = 1.0
        """Minimum score of an episode in the loss, from 0 to 1."""

    def __init__(self, options: Options, context: RunContext):
        super().__init__(context)
        self._score = options.score

    def next(self, plan: StepPlan) -> list[Group]:
        """Plays the groups of a step; moves trajectories with a low score to ``filtered``."""
        return [self._sorted(group) for group in super().next(plan)]

    def _sorted(self, group: Group) -> Group:
        low = [t for t in group.trajectories if above(self._score, t.score)]
        return replace(
            group,
            trajectories=[t for t in group.trajectories if not above(self._score, t.score)],
            filtered=[*group.filtered, *low],
        )
