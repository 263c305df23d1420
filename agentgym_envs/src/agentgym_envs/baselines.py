"""What an agent's success is compared with: uniformly random admissible actions, and the oracle.

Everything is played in an :class:`~agentgym_envs.pool.EnvPool`: an environment that hangs, exits or raises is an error with its
name.
"""

import os
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from agentgym_envs import registry
from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.pool import EnvPool, Result, describe
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
    workers: int | None = 1,
    timeout: float = 60.0,
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
        workers: processes, each playing one episode at a time; None takes one a core.
        timeout: seconds that one call of the environment may take.
        on_episode: called after each.
        **kwargs: for the environment, JSON-able.

    Returns:
        The episodes, in the order of the tasks.

    Raises:
        UnknownName: no such agent.
        ArgumentError: a count below one, or random play of an environment that does not list its actions.
        TaskError: an unknown task id.
        EnvFailure: an environment raised, hung or died.
    """
    if isinstance(agent, str) and agent not in ("random", "oracle"):
        raise UnknownName("agent", agent, ("random", "oracle"))
    if agent == "random":
        kwargs = _listing(env_id, kwargs)
    _check_counts(episodes=episodes, workers=workers)
    ids = _task_ids(env_id, kwargs) if task_ids is None else task_ids
    chosen = spread(ids, len(ids) if episodes is None else episodes)
    players = [_Player(agent, task_id) for task_id in chosen]
    slots = _slots(workers, len(chosen))
    with EnvPool(env_id, slots, workers=slots, timeout=timeout, max_episode_steps=horizon, **kwargs) as pool:
        _drive(pool, players, on_episode)
    return [player.episode for player in players]


def random_episodes(
    env_id: str,
    count: int,
    *,
    seed: int,
    turns: int,
    action_format: str = "plain",
    workers: int | None = 1,
    timeout: float = 60.0,
    on_episode: Callable[[], None] | None = None,
    **kwargs: Any,
) -> list[list[str]]:
    """Plays uniformly random admissible actions; the same whatever the number of workers and the order of their answers.

    Args:
        env_id: a registered id.
        count: episodes.
        seed: fixes the tasks and the actions.
        turns: at most as many; the registered limit does not count.
        action_format: how to write actions, a key of ``agentgym_envs.wrappers.FORMATS``.
        workers: processes, each playing one episode at a time; None takes one a core.
        timeout: seconds that one call of the environment may take.
        on_episode: called after each.
        **kwargs: for the environment, JSON-able.

    Returns:
        Episodes as texts: an observation, the action that was written, an observation, and so on to the last action.

    Raises:
        ArgumentError: a count below one, or the environment does not list its admissible actions.
        EnvFailure: an environment raised, hung or died.
    """
    _check_counts(count=count, turns=turns, workers=workers)
    keywords = {"action_format": action_format, "timeout": timeout, "max_episode_steps": -1, **_listing(env_id, kwargs)}
    walkers = [_Walker(random.Random(f"{seed}:{number}"), turns) for number in range(count)]
    slots = _slots(workers, count)
    with EnvPool(env_id, slots, workers=slots, **keywords) as pool:
        _drive(pool, walkers, on_episode)
    return [walker.texts for walker in walkers]


class _Player:
    """An episode of a named task by an agent."""

    def __init__(self, agent: str | Agent, task_id: str):
        self._agent, self._task_id = agent, task_id
        self._rng = random.Random(stable_hash(task_id))
        self.episode = Episode(task_id, False, 0.0, 0)

    def reset(self, pool: EnvPool, index: int) -> None:
        pool.reset(index, options={"task_id": self._task_id})

    def go_on(self, pool: EnvPool, result: Result) -> bool:
        """Takes an answer in and asks for the next step; says whether there is one."""
        info = result.info
        if info is None:  # the oracle had nothing more to say
            return False
        self.episode = Episode(self._task_id, info["success"], info["score"], info["turn"])
        if result.terminated or result.truncated:
            return False
        if self._agent == "oracle":
            pool.ask_oracle(result.index)
        elif callable(self._agent):
            pool.send(result.index, self._agent(result.observation, info))
        else:
            pool.send(result.index, self._rng.choice(_listed(pool, info)))
        return True


class _Walker:
    """An episode of random actions, written in the pool's format."""

    def __init__(self, rng: random.Random, turns: int):
        self._rng, self._turns = rng, turns
        self.texts: list[str] = []

    def reset(self, pool: EnvPool, index: int) -> None:
        pool.reset(index, seed=self._rng.randrange(2**31))

    def go_on(self, pool: EnvPool, result: Result) -> bool:
        """Takes an answer in and asks for the next step; says whether there is one."""
        if result.action is not None:
            self.texts.append(result.action)
        if result.terminated or result.truncated or len(self.texts) >= 2 * self._turns:
            return False
        self.texts.append(result.observation)
        pool.send(result.index, self._rng.choice(_listed(pool, result.info or {})), bare=True)
        return True


def _drive(pool: EnvPool, episodes: Sequence[_Player | _Walker], on_episode: Callable[[], None] | None) -> None:
    """Plays episodes, one in each slot of the pool at a time; the first failure is raised."""
    waiting = iter(episodes)
    playing = dict(zip(range(pool.num_envs), waiting, strict=False))
    for index, episode in playing.items():
        episode.reset(pool, index)
    while playing:
        for result in pool.recv():
            result.check()
            if playing[result.index].go_on(pool, result):
                continue
            if on_episode:
                on_episode()
            following = next(waiting, None)
            if following is None:
                del playing[result.index]
            else:
                playing[result.index] = following
                following.reset(pool, result.index)


def _check_counts(**counts: int | None) -> None:
    for name, given in counts.items():
        if given is not None and given < 1:
            raise ArgumentError(f"{name}={given}: must be at least 1")


def _slots(workers: int | None, episodes: int) -> int:
    return max(min(workers or os.cpu_count() or 1, episodes), 1)


def _listing(env_id: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns the keywords that make an environment list its admissible actions."""
    if not registry.takes(env_id, "admissible"):
        raise ArgumentError(f"{registry.named(env_id)} has no keyword 'admissible', and random play needs its admissible actions")
    return {**kwargs, "admissible": True}


def _listed(pool: EnvPool, info: dict[str, Any]) -> list[str]:
    actions: list[str] = info.get("admissible_actions") or []
    if not actions:
        raise ArgumentError(f"{pool.spec.id} lists no admissible actions, which random play needs")
    return actions


def _task_ids(env_id: str, kwargs: dict[str, Any]) -> Sequence[str]:
    ids = describe(env_id, **kwargs).task_ids
    if ids is None:
        raise ArgumentError(f"{registry.named(env_id)} lists no tasks to play")
    return ids
