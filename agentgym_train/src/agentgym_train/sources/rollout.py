"""Fresh episodes of the current policy in the run's environment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentgym_envs.pool import EnvDescription
from agentgym_envs.scores import above, all_equal
from agentgym_train.config import Config
from agentgym_train.config.constraints import Share, Whole
from agentgym_train.data.types import EpisodeFailure, EpisodeStatus, Group
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import RunContext, Source, StepPlan
from agentgym_train.rollout import tasks
from agentgym_train.rollout.build import make_collector, make_pool, sampling
from agentgym_train.rollout.tasks import EpisodeStart


class FreshEpisodes(Source):
    """Episodes that the policy plays; the sections ``env`` and ``rollout`` have the options.

    Args:
        context: the parts of the run.
        numbers: numbers of the groups to play; None: all groups of this process.
        replacements: see :class:`Rollout.Options`.
        even_difficulties: see :class:`Rollout.Options`.
        **players: ``agents`` and ``opponents`` of
            :class:`agentgym_train.rollout.collector.EpisodeCollector`.
    """

    @classmethod
    def check(cls, options: Any, config: Config, training: EnvDescription) -> None:
        """Rejects an environment with several agents.

        Raises:
            ConfigError: the environment has several agents.
        """
        check_agent(config, training)

    @classmethod
    def group_sizes(cls, options: Any, config: Config) -> set[int]:
        """Returns ``env.group_size`` only."""
        return {config.env.group_size}

    def __init__(
        self,
        context: RunContext,
        *,
        numbers: Sequence[int] | None = None,
        replacements: int = 0,
        even_difficulties: bool = False,
        **players: Any,
    ):
        env = context.config.env
        self._even = even_difficulties
        self._context, self._task_difficulty = context, tasks.task_difficulty(context.training)
        self._numbers = list(context.mine) if numbers is None else numbers
        self._replacements, self._failures = replacements, list[EpisodeFailure]()
        # A process without a group has an environment that it never resets.
        self._pool = make_pool(
            context.config, max(len(self._numbers), 1) * env.group_size, env.kwargs
        )
        # Only an algorithm that bootstraps pays for the last prompts.
        keep_next = "next_value" in context.algorithm.required_streams
        self._sampling = sampling(context.config, context.chat)
        self._collector = make_collector(
            context.config,
            self._pool,
            context.generator,
            context.chat,
            context.training,
            keep_next=keep_next,
            **players,
        )

    def next(self, plan: StepPlan) -> list[Group]:
        """Plays the groups of a step, and the replacements of groups that teach nothing.

        Sampling noise is a function of seed, step and episode only.
        """
        self._failures = []
        groups = self._play(plan, self._numbers, attempt=0)
        for attempt in range(1, self._replacements + 1):
            replaced = {group.number: group for group in groups if not _differ(group)}
            if not replaced:
                break
            played = self._play(plan, list(replaced), attempt=attempt)
            better = {
                group.number: replace(
                    group, filtered=group.filtered + replaced[group.number].played
                )
                for group in played
            }
            groups = [better.get(group.number, group) for group in groups]
        return groups

    def _play(self, plan: StepPlan, numbers: Sequence[int], *, attempt: int) -> list[Group]:
        config = self._context.config
        groups = self._collector.collect(
            self.starts(plan, numbers, attempt=attempt),
            max_turns=plan.horizon,
            sampling=self._sampling,
            noise=f"train {config.run.seed} {plan.step}",
        )
        self._failures += self._collector.failures
        return list(map(_filtered, groups)) if config.rollout.overlong_filtering else groups

    def starts(
        self, plan: StepPlan, numbers: Sequence[int], *, attempt: int = 0
    ) -> list[EpisodeStart]:
        """Returns the starts of a step's episodes, ``group_size`` per group.

        They are a function of seed, plan and attempt only.

        Args:
            plan: the plan of the step.
            numbers: the numbers of the groups; those that the plan leaves out are not played.
            attempt: how many times these groups were replaced before.

        Raises:
            ConfigError: no training task has the difficulties of the plan.
        """
        seed, size = self._context.config.run.seed, self._context.config.env.group_size
        known, bounds, step = self._task_difficulty, plan.difficulties, plan.step
        task_ids = None if bounds is None else tasks.within(known, bounds, step)
        starts = [
            tasks.start(seed, step, group, task_ids, attempt=attempt)
            for group in numbers
            if group in plan.groups
        ]
        if self._even and known is not None:
            drawn_from = {task_id: known[task_id] for task_id in task_ids or known}
            places = {number: place for place, number in enumerate(self._context.groups)}
            evenly = partial(
                tasks.evenly, seed, step, groups=len(places), known=drawn_from, attempt=attempt
            )
            starts = [start._replace(task_id=evenly(places[start.group])) for start in starts]
        return [start for start in starts for _ in range(size)]

    @property
    def failures(self) -> list[EpisodeFailure]:
        """Failures of the environments in the latest step."""
        return self._failures

    def close(self) -> None:
        """Closes the environments; ``next`` in another thread ends."""
        self._collector.stop()
        self._pool.close()


class Rollout(FreshEpisodes):
    """Plays the groups of a step, and can replace those that teach nothing."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """Replacement of groups, and the choice of tasks."""

        replacements: Whole = 0
        """A group whose episodes all have the same return is replaced by a group of another task,
        up to so many times; the last one is kept. The returns are those of the environment, before
        scorers. Metrics count all episodes, and ``filtered_tokens`` has the tokens of the replaced
        ones. This is DAPO's dynamic sampling (Yu et al., 2025)."""
        even_difficulties: bool = False
        """Whether the groups of a step spread evenly over the difficulties of the listed tasks.
        Metrics then vary less from step to step. Tasks that the environment does not list are not
        played."""

    @classmethod
    def check(cls, options: Options, config: Config, training: EnvDescription) -> None:
        """Rejects an environment with several agents, and options that cannot work.

        Raises:
            ConfigError: the environment has several agents; groups of one episode cannot be
                replaced; tasks without difficulties cannot be spread.
        """
        super().check(options, config, training)
        if options.even_difficulties and tasks.task_difficulty(training) is None:
            raise ConfigError(
                f"source.even_difficulties=true, and {config.env.id} lists no tasks with"
                " difficulties: set it to false"
            )
        if options.replacements and config.env.group_size < 2:
            raise ConfigError(
                f"source.replacements={options.replacements} compares the episodes of a group, and"
                " env.group_size=1: use a larger group, or 0 replacements"
            )

    def __init__(self, options: Options, context: RunContext):
        super().__init__(
            context,
            replacements=options.replacements,
            even_difficulties=options.even_difficulties,
        )


def _filtered(group: Group) -> Group:
    """Returns the group with the episodes that the context ended among the filtered ones."""
    overlong = [t for t in group.trajectories if t.status is EpisodeStatus.TRUNCATED_CONTEXT]
    return replace(
        group,
        trajectories=[
            t for t in group.trajectories if t.status is not EpisodeStatus.TRUNCATED_CONTEXT
        ],
        filtered=[*group.filtered, *overlong],
    )


def _differ(group: Group) -> bool:
    """Whether the returns of a group's episodes differ."""
    return not all_equal(t.total_reward for t in group.trajectories)


def check_agent(config: Config, training: EnvDescription) -> None:
    """Rejects an environment with several agents, since their trajectories would be mixed.

    Raises:
        ConfigError: the environment has several agents; says what to do.
    """
    if training.several:
        raise ConfigError(
            f"source {config.source['name']!r} plays one agent, and {config.env.id} asks for the"
            f" actions of {', '.join(training.seats)}: set source.name=self_play, or"
            f" env.kwargs.seats={training.seats[0]!r}"
        )


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
