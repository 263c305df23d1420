"""Tasks of Inspect: a suite, a family of a suite, an environment."""

import logging
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.evaluate.left_out import lines
from agentgym_envs.evaluate.plan import PlannedEpisode, plan
from agentgym_envs.wrappers import FORMATS
from agentgym_inspect.scoring import score, success
from agentgym_inspect.solver import play

log = logging.getLogger(__name__)


@task
def suite(
    name: str = "agentgym-rl", episodes: int | None = None, action_format: str = "react"
) -> Task:
    """All families of a suite.

    Args:
        name: of the suite.
        episodes: tasks per family; by default all.
        action_format: the format of responses.
    """
    return _task(name, action_format, episodes=episodes)


@task
def family(
    name: str,
    suite: str = "agentgym-rl",
    episodes: int | None = None,
    action_format: str = "react",
) -> Task:
    """One family or scenario of a suite.

    Args:
        name: of the family or scenario, for example "Depth 2" or "textcraft".
        suite: its suite.
        episodes: tasks per family; by default all.
        action_format: the format of responses.
    """
    return _task(suite, action_format, episodes=episodes, only=[name])


@task
def environment(
    id: str,
    split: str = "test",
    tasks: str | None = None,
    episodes: int | None = None,
    action_format: str = "react",
    **kwargs: Any,
) -> Task:
    """The tasks of an environment.

    Args:
        id: a registered id, or "module:id".
        split: "train", "dev" or "test".
        tasks: a task id or glob pattern.
        episodes: number of tasks; by default all.
        action_format: the format of responses.
        **kwargs: keywords of the environment.
    """
    return _task(id, action_format, split=split, tasks=tasks, episodes=episodes, kwargs=kwargs)


def _task(target: str, action_format: str, **options: Any) -> Task:
    if action_format not in FORMATS:
        raise UnknownName("action format", action_format, FORMATS)
    items, skipped = plan(target, **options)
    for line in lines(skipped):
        log.warning("%s", line)
    if not items:
        raise ArgumentError(f"{target}: {'. '.join(lines(skipped))}")
    named = {
        f"{item.family} {item.task_id}" if item.suite else item.task_id: item for item in items
    }
    return Task(
        dataset=MemoryDataset([_sample(name, item) for name, item in named.items()], name=target),
        solver=play(named, action_format),
        scorer=[success(), score()],
        continue_on_fail=True,  # and then fail: other samples are played, and errors are seen
        metadata={"skipped": {one.family: one.reason for one in skipped}},
    )


def _sample(name: str, item: PlannedEpisode) -> Sample:
    metadata = {"scenario": item.scenario, "family": item.family, "difficulty": item.difficulty}
    return Sample(id=name, input=item.task_id, metadata=metadata)
