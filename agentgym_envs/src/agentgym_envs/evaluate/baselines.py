"""Baselines for an agent's success: uniformly random admissible actions, and the oracle.

Everything is played in an :class:`~agentgym_envs.pool.EnvPool`: an environment that hangs, exits or
raises is an error with its name.
"""

import asyncio
import os
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from agentgym_envs import registry
from agentgym_envs.agents.base import AgentFactory, load
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.plan import EvalEnv, PlannedEpisode
from agentgym_envs.evaluate.record import EpisodeRows
from agentgym_envs.evaluate.runner import EvalRunner, RunLimits
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.pool import AsyncEnvPool, describe
from agentgym_envs.stopping import run_tasks
from agentgym_envs.tasks import check_id, spread, strings

T = TypeVar("T")
ActFunction = Callable[[str, dict[str, Any]], str]
"""A function that returns the action for an observation and its info."""


class BaselineEpisode(NamedTuple):
    """The result of one task."""

    task_id: str
    success: bool
    score: float
    turns: int


def play(
    env_id: str,
    agent: str | ActFunction,
    *,
    episodes: int | None = None,
    task_ids: Sequence[str] | str | None = None,
    horizon: int | None = None,
    workers: int | None = 1,
    hosts: Sequence[str] = (),
    timeout: float = 60.0,
    on_episode: Callable[[], None] | None = None,
    kwargs: Mapping[str, Any] = MappingProxyType({}),
) -> list[BaselineEpisode]:
    """Plays named tasks, or tasks spread evenly over a split.

    Args:
        env_id: a registered id.
        agent: "random", "oracle", another registered one that needs no model, or a callable.
        episodes: number of tasks, one episode each; None takes all.
        task_ids: the tasks; None takes those of the split.
        horizon: turns; None takes the registered limit.
        workers: processes, each playing one episode at a time, on each host; None takes one a core.
        hosts: addresses of ``agentgym serve --pool`` that run the environment; empty: this machine.
        timeout: seconds that one call of the environment may take.
        on_episode: called after each.
        kwargs: for the environment, JSON-able.

    Returns:
        The episodes, in the order of the tasks.

    Raises:
        UnknownName: no such agent.
        ArgumentError: a count below one, or random play of an environment that does not list its
            actions.
        TaskError: an unknown task id.
        EnvFailure: an environment raised, hung or died.
    """
    _check_counts(episodes=episodes, workers=workers)
    factory = load(agent) if isinstance(agent, str) else AgentFactory("agent", agent, {})
    chosen = None if task_ids is None else [check_id(one) for one in strings(task_ids, "task_ids")]
    description = describe(env_id, hosts=hosts or None, **kwargs)
    ids = description.task_ids if chosen is None else chosen
    if ids is None:
        raise ArgumentError(f"{registry.named(env_id)} lists no tasks to play")
    chosen = spread(ids, len(ids) if episodes is None else episodes)
    env = EvalEnv(env_id, dict(kwargs), description.rules, description.tools)
    items = [PlannedEpisode("", "", env_id, task_id, 0, 0, env) for task_id in chosen]
    slots = _slots(workers, hosts, len(chosen))
    runner = EvalRunner(
        settings=RunSettings(agent=factory.name, format=None, horizon=horizon),
        factory=factory,
        record=EpisodeRows(),
        limits=RunLimits(concurrency=slots, workers=slots, hosts=hosts, timeout=timeout),
        on_row=lambda row: on_episode() if on_episode else None,
        strict=True,
    )
    _finish(runner.run(items))
    rows = {row["task_id"]: row for row in runner.record.rows}
    return [
        BaselineEpisode(i, rows[i]["success"], rows[i]["score"], len(rows[i]["turns"]))
        for i in chosen
    ]


def _finish(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, also where an event loop is running: in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_tasks(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def random_episodes(
    env_id: str,
    count: int,
    *,
    seed: int,
    turns: int,
    action_format: str = "plain",
    workers: int | None = 1,
    hosts: Sequence[str] = (),
    timeout: float = 60.0,
    on_episode: Callable[[], None] | None = None,
    kwargs: Mapping[str, Any] = MappingProxyType({}),
) -> list[list[str]]:
    """Plays uniformly random admissible actions.

    The result does not depend on the number of workers or the order of their answers.

    Args:
        env_id: a registered id.
        count: episodes.
        seed: fixes the tasks and the actions.
        turns: at most as many; the registered limit does not count.
        action_format: how to write actions, a key of ``agentgym_envs.wrappers.FORMATS``.
        workers: processes, each playing one episode at a time, on each host; None takes one a core.
        hosts: addresses of ``agentgym serve --pool`` that run the environment; empty: this machine.
        timeout: seconds that one call of the environment may take.
        on_episode: called after each.
        kwargs: for the environment, JSON-able.

    Returns:
        Episodes as texts: an observation, the action that was written, an observation, and so on to
        the last action.

    Raises:
        ArgumentError: a count below one, or the environment does not list its admissible actions.
        EnvFailure: an environment raised, hung or died.
    """
    _check_counts(count=count, turns=turns, workers=workers)
    slots = _slots(workers, hosts, count)
    options = {
        "workers": -(-slots // max(len(hosts), 1)),
        "hosts": hosts or None,
        "action_format": action_format,
        "timeout": timeout,
        "max_episode_steps": -1,
    }
    return _finish(
        _random_episodes(
            env_id, count, seed, turns, slots, on_episode, {**options, **_listing(env_id, kwargs)}
        )
    )


async def _random_episodes(
    env_id: str,
    count: int,
    seed: int,
    turns: int,
    slots: int,
    on_episode: Callable[[], None] | None,
    options: dict[str, Any],
) -> list[list[str]]:
    """Plays one episode in each slot at a time; the first failure is raised."""
    episodes: list[list[str]] = [[]] * count
    waiting = iter(range(count))

    async def play_on(pool: AsyncEnvPool, slot: int) -> None:
        for number in waiting:
            episodes[number] = await _random_episode(
                pool, slot, random.Random(f"{seed}:{number}"), turns, env_id
            )
            if on_episode:
                on_episode()

    async with AsyncEnvPool(env_id, slots, **options) as pool:
        await asyncio.gather(*(play_on(pool, slot) for slot in range(slots)))
    return episodes


async def _random_episode(
    pool: AsyncEnvPool, slot: int, rng: random.Random, turns: int, env_id: str
) -> list[str]:
    """Returns observations and the actions as the pool's format writes them, in turns."""
    texts: list[str] = []
    result = await pool.reset(slot, seed=rng.randrange(2**31))
    result.check()
    while not (result.terminated or result.truncated or len(texts) >= 2 * turns):
        texts.append(result.observation)
        result = await pool.send(slot, rng.choice(_listed(env_id, result.info or {})), bare=True)
        result.check()
        if result.action is not None:
            texts.append(result.action)
    return texts


def _check_counts(**counts: int | None) -> None:
    for name, given in counts.items():
        if given is not None and given < 1:
            raise ArgumentError(f"{name}={given}: must be at least 1")


def _slots(workers: int | None, hosts: Sequence[str], episodes: int) -> int:
    return max(min((workers or os.cpu_count() or 1) * max(len(hosts), 1), episodes), 1)


def _listing(env_id: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keywords that make an environment list its admissible actions."""
    if not registry.takes(env_id, "admissible"):
        raise ArgumentError(
            f"{registry.named(env_id)} has no keyword 'admissible', and random play needs its"
            " admissible actions"
        )
    return {**kwargs, "admissible": True}


def _listed(env_id: str, info: dict[str, Any]) -> list[str]:
    actions: list[str] = info.get("admissible_actions") or []
    if not actions:
        raise ArgumentError(
            f"{registry.spec(env_id).id} lists no admissible actions, which random play needs"
        )
    return actions
