"""Fresh episodes of the current policy in the run's environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_envs.pool import Description
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.data.types import Failure, Group
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import RunContext, Source, SourcePlugin
from agentgym_train.rollout import tasks
from agentgym_train.rollout.build import make_collector, make_pool, sampling
from agentgym_train.rollout.collector import Start


@dataclass(frozen=True, kw_only=True)
class Rollout(SourcePlugin):
    """No options: the sections ``env`` and ``rollout`` have them."""

    def check(self, config: Config, training: Description) -> None:
        """Rejects an environment with several agents.

        Raises:
            ConfigError: the environment has several agents.
        """
        check_agent(config, training)

    def group_sizes(self, config: Config) -> set[int]:
        """Returns ``env.group_size`` only."""
        return {config.env.group_size}

    def build(self, context: RunContext) -> "RolloutSource":
        """Starts the environments."""
        return RolloutSource(context)


class RolloutSource(Source):
    """Plays this process's groups.

    Args:
        context: the parts of the run.
        numbers: numbers of the groups to play; None: all groups of this process.
        **players: ``agents`` and ``opponents`` of
            :class:`agentgym_train.rollout.collector.Collector`.
    """

    def __init__(
        self, context: RunContext, *, numbers: Sequence[int] | None = None, **players: Any
    ):
        env = context.config.env
        self._context, self._task_difficulty = context, tasks.task_difficulty(context.training)
        self._numbers = list(context.mine) if numbers is None else numbers
        # A process without a group has an environment that it never resets.
        self._pool = make_pool(
            context.config, max(len(self._numbers), 1) * env.group_size, env.kwargs
        )
        # Only an algorithm that bootstraps pays for the last prompts.
        algorithm = plugins.make_algorithm(context.config.algorithm)
        keep_next = "next_value" in algorithm.required_streams
        self._collector = make_collector(
            context.config,
            self._pool,
            context.generator,
            context.chat,
            keep_next=keep_next,
            **players,
        )

    def next(self, step: int, horizon: int) -> list[Group]:
        """Plays the groups of a step.

        Sampling noise is a function of seed, step and episode only.
        """
        config = self._context.config
        return self._collector.collect(
            self.starts(step),
            max_turns=horizon,
            sampling=sampling(config, self._context.chat),
            noise=f"train {config.run.seed} {step}",
        )

    def starts(self, step: int) -> list[Start]:
        """Returns the starts of this process's episodes of a step, ``group_size`` per group.

        They are a function of seed, step and curriculum only.

        Raises:
            ConfigError: no training task has the difficulties of the curriculum.
        """
        bounds = self._context.difficulties(step)
        task_ids = None if bounds is None else tasks.within(self._task_difficulty, bounds, step)
        seed, size = self._context.config.run.seed, self._context.config.env.group_size
        return [
            start
            for group in self._numbers
            for start in [tasks.start(seed, step, group, task_ids)] * size
        ]

    @property
    def failures(self) -> list[Failure]:
        """Failures of the environments in the latest step."""
        return self._collector.failures

    def close(self) -> None:
        """Closes the environments."""
        self._pool.close()


def check_agent(config: Config, training: Description) -> None:
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
