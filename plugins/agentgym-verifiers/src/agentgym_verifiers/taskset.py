"""The taskset: the tasks of an environment or a suite."""

import logging
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.evaluate.left_out import lines
from agentgym_envs.evaluate.plan import PlannedEpisode, plan
from agentgym_envs.wrappers import FORMATS

log = logging.getLogger(__name__)


class AgentGymConfig(vf.TasksetConfig):
    """The options ``--env.taskset.…``."""

    target: str = "agentgym-rl"
    """A registered id, "module:id", or a suite such as "agentgym-rl"."""
    split: str = "test"
    """Of an environment: "train", "dev" or "test". A suite has its own."""
    tasks: list[str] | None = None
    """Task ids or glob patterns that narrow an environment's split."""
    only: list[str] = []
    """Families or scenarios of a suite; by default all."""
    episodes: int | None = None
    """Tasks per environment or family, at even distances; by default all."""
    action_format: str = "react"
    """The format of responses."""
    kwargs: dict[str, Any] = {}
    """Keywords of the environment."""


class AgentGymData(vf.TaskData):
    """One task, with all that is needed to play it."""

    env_id: str
    kwargs: dict[str, Any]
    action_format: str
    start: dict[str, Any]
    """The arguments of the reset."""
    family: str
    difficulty: int


class AgentGymTask(vf.Task[AgentGymData]):
    """A task. The environment scores it."""

    @property
    def key(self) -> str:
        """The same in every run: its place among the tasks is not part of it."""
        return f"{self.data.env_id} {self.data.name}"


class AgentGymTaskset(vf.Taskset[AgentGymTask, AgentGymConfig]):
    """The tasks of an environment or a suite."""

    def load(self) -> Iterator[AgentGymTask]:
        """Yields the tasks.

        Raises:
            AgentGymError: the environment, suite, family, split or action format does not exist;
                or nothing of it can be played.
        """
        config = self.config
        if config.action_format not in FORMATS:
            raise UnknownName("action format", config.action_format, FORMATS)
        items, skipped = plan(
            config.target,
            split=config.split,
            tasks=config.tasks,
            only=config.only,
            episodes=config.episodes,
            kwargs=config.kwargs,
        )
        for line in lines(skipped):
            log.warning("%s", line)
        if not items:
            raise ArgumentError(f"{config.target}: {'. '.join(lines(skipped))}")
        for item in items:
            yield AgentGymTask(_data(item, config.action_format), config.task)


def _data(item: PlannedEpisode, action_format: str) -> AgentGymData:
    rules = (item.env.instructions, FORMATS[action_format](item.env.tools).describe())
    return AgentGymData(
        id=item.task_id,
        name=f"{item.family} {item.task_id}" if item.suite else item.task_id,
        prompt=None,  # the environment has the first word
        system_prompt="\n\n".join(filter(None, rules)) or None,
        env_id=item.env.env_id,
        kwargs=dict(item.env.kwargs),
        action_format=action_format,
        start=item.start,
        family=item.family,
        difficulty=item.difficulty,
    )
