"""What an agent's success is compared with: uniformly random admissible actions, and the oracle."""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import UnknownName
from agentgym_envs.tasks import stable_hash

Agent = Callable[[str, dict[str, Any]], str]
"""An agent of the user's: the action for an observation and its info."""


class Episode(NamedTuple):
    """What came of one task."""

    task_id: str
    success: bool
    score: float
    turns: int


def spread(task_ids: Sequence[str], count: int) -> list[str]:
    """Returns ``count`` ids at even distances over the list (all of them if there are fewer)."""
    count = min(count, len(task_ids))
    return [task_ids[i * len(task_ids) // count] for i in range(count)]


def play(
    env_id: str,
    agent: str | Agent,
    *,
    episodes: int | None = None,
    task_ids: Sequence[str] | None = None,
    horizon: int | None = None,
    on_episode: Callable[[], None] | None = None,
    **kwargs: Any,
) -> list[Episode]:
    """Plays named tasks, or tasks spread evenly over a split.

    Args:
        env_id: a registered id.
        agent: "random", "oracle", or a callable.
        episodes: how many tasks, one episode each; None takes all.
        task_ids: which; None takes the split's.
        horizon: turns; None takes the registered limit.
        on_episode: called after each.
        **kwargs: for the environment.

    Raises:
        UnknownName: no such agent.
    """
    if isinstance(agent, str) and agent not in ("random", "oracle"):
        raise UnknownName("agent", agent, ("random", "oracle"))
    if agent == "random":
        kwargs = {**kwargs, "admissible": True}
    env = registry.make(env_id, max_episode_steps=horizon, **kwargs)
    world: Any = env.unwrapped
    ids = world.task_ids if task_ids is None else task_ids
    results = []
    try:
        for task_id in spread(ids, len(ids) if episodes is None else episodes):
            results.append(_episode(env, agent, task_id))
            if on_episode:
                on_episode()
    finally:
        env.close()
    return results


def play_parallel(env_id: str, agent: str, task_ids: Sequence[str], *, workers: int | None = None, **kwargs: Any) -> list[Episode]:
    """Plays named tasks in several processes.

    Args:
        env_id: a registered id.
        agent: "random" or "oracle".
        task_ids: of the split in ``kwargs``.
        workers: processes; by default one a core.
        **kwargs: as for :func:`play`.

    Returns:
        The episodes, in the order of ``task_ids``.
    """
    count = min(workers or os.cpu_count() or 1, len(task_ids))
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(play, env_id, agent, task_ids=task_ids[n::count], **kwargs) for n in range(count)]
        played = {e.task_id: e for job in jobs for e in job.result()}
    return [played[task_id] for task_id in task_ids]


def _episode(env: gymnasium.Env[str, str], agent: str | Agent, task_id: str) -> Episode:
    observation, info = env.reset(options={"task_id": task_id})
    world: Any = env.unwrapped
    rng = random.Random(stable_hash(task_id))
    solution: Iterator[str] = world.oracle() if agent == "oracle" else iter(())
    over = False
    while not over:
        if callable(agent):
            action = agent(observation, info)
        else:
            chosen = next(solution, None) if agent == "oracle" else rng.choice(info["admissible_actions"])
            if chosen is None:  # the oracle has nothing more to say
                break
            action = chosen
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    return Episode(task_id, info["success"], info["score"], info["turn"])
