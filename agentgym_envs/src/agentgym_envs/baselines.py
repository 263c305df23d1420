"""What an agent's success is compared with: uniformly random admissible actions, and the oracle."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import gymnasium

from agentgym_envs.errors import UnknownName
from agentgym_envs.tasks import stable_hash


class Episode(NamedTuple):
    """What came of one task."""

    task_id: str
    success: bool
    score: float
    turns: int


def random_agent(env: gymnasium.Env[str, str], info: dict[str, Any], rng: random.Random) -> Iterator[str]:
    """Yields admissible actions, each with the same chance. Needs ``admissible=True``."""
    while True:
        yield rng.choice(info["admissible_actions"])


def oracle_agent(env: gymnasium.Env[str, str], info: dict[str, Any], rng: random.Random) -> Iterator[str]:
    """Yields the environment's own solution."""
    yield from env.unwrapped.oracle()  # type: ignore[attr-defined]


AGENTS: dict[str, Callable[..., Iterator[str]]] = {"random": random_agent, "oracle": oracle_agent}


def spread(task_ids: Sequence[str], count: int) -> list[str]:
    """Returns ``count`` ids at even distances over the list (all of them if there are fewer)."""
    count = min(count, len(task_ids))
    return [task_ids[i * len(task_ids) // count] for i in range(count)]


def play(
    env_id: str,
    agent: str,
    *,
    episodes: int,
    horizon: int | None = None,
    on_episode: Callable[[], None] | None = None,
    **kwargs: Any,
) -> list[Episode]:
    """Plays tasks spread evenly over a split.

    Args:
        env_id: a registered id.
        agent: "random" or "oracle".
        episodes: tasks, one episode each.
        horizon: turns; None takes the registered limit.
        on_episode: called after each.
        **kwargs: for the environment.

    Raises:
        UnknownName: no such agent.
    """
    if agent not in AGENTS:
        raise UnknownName("agent", agent, AGENTS)
    if agent == "random":
        kwargs = {**kwargs, "admissible": True}
    env = gymnasium.make(env_id, max_episode_steps=horizon, **kwargs)
    results = []
    try:
        for task_id in spread(env.unwrapped.task_ids, episodes):  # type: ignore[attr-defined]
            _, info = env.reset(options={"task_id": task_id})
            rng = random.Random(stable_hash(task_id))
            for action in AGENTS[agent](env, info, rng):
                _, _, terminated, truncated, latest = env.step(action)
                info.update(latest)
                if terminated or truncated:
                    break
            results.append(Episode(task_id, info["success"], info["score"], info["turn"]))
            if on_episode:
                on_episode()
    finally:
        env.close()
    return results
