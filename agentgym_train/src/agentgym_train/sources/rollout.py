"""Fresh episodes of the current policy in the run's environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_envs.pool import Description
from agentgym_train import tasks
from agentgym_train.config import Config
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import Stage
from agentgym_train.rollout.build import make_collector, make_pool, sampling
from agentgym_train.rollout.collector import Start
from agentgym_train.types import Failure, Group


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """The options: none, they are those of ``env`` and ``rollout``."""

    def check(self, config: Config, training: Description) -> None:
        """Refuses an environment with several agents.

        Raises:
            ConfigError: it has.
        """
        check_agent(config, training)

    def group_sizes(self, config: Config) -> set[int]:
        """Returns ``env.group_size`` alone."""
        return {config.env.group_size}

    def build(self, stage: Stage) -> "RolloutSource":
        """Starts the environments."""
        return RolloutSource(stage)


class RolloutSource:
    """Plays this process's groups.

    Args:
        stage: the run.
        numbers: of the groups to play; None: all that are this process's.
        **seats: of the environment's agents, for :class:`agentgym_train.rollout.collector.Collector`.
    """

    def __init__(self, stage: Stage, *, numbers: Sequence[int] | None = None, **seats: Any):
        env = stage.config.env
        self._stage, self._levels = stage, tasks.levels(stage.training)
        self._numbers = list(stage.mine) if numbers is None else numbers
        # A process without a group has an environment that it never resets.
        self._pool = make_pool(stage.config, max(len(self._numbers), 1) * env.group_size, env.kwargs)
        self._collector = make_collector(stage.config, self._pool, stage.generator, stage.chat, **seats)

    def next(self, step: int, horizon: int) -> list[Group]:
        """Plays the groups of a step; sampling noise is a function of seed, step and episode alone."""
        config = self._stage.config
        return self._collector.collect(
            self.starts(step),
            max_turns=horizon,
            sampling=sampling(config, self._stage.chat),
            noise=f"train {config.run.seed} {step}",
        )

    def starts(self, step: int) -> list[Start]:
        """Returns this process's tasks of a step, each ``group_size`` times: a function of seed, step and curriculum alone.

        Raises:
            ConfigError: the curriculum asks for a difficulty that no training task has.
        """
        bounds = self._stage.difficulties(step)
        task_ids = None if bounds is None else tasks.within(self._levels, bounds, step)
        seed, size = self._stage.config.run.seed, self._stage.config.env.group_size
        return [start for group in self._numbers for start in [tasks.start(seed, step, group, task_ids)] * size]

    @property
    def failures(self) -> list[Failure]:
        """Of the environments, in the latest step."""
        return self._collector.failures

    def close(self) -> None:
        """Ends the environments."""
        self._pool.close()


def check_agent(config: Config, training: Description) -> None:
    """Refuses an environment with several agents: their trajectories would be mixed up.

    Raises:
        ConfigError: it has; says what to do.
    """
    if training.several:
        raise ConfigError(
            f"source {config.source['name']!r} plays one agent, and {config.env.id} asks for the actions of "
            f"{', '.join(training.seats)}: set source.name=self_play, or env.kwargs.seats={training.seats[0]!r}"
        )
