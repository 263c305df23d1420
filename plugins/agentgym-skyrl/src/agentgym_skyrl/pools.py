"""The environments of all episodes of a process: one pool per registered name.

skyrl-gym calls an episode from any thread, so the pools run in an event loop of their own thread.
"""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.pool import AsyncEnvPool, EnvDescription, PoolResult, SharedPool, describe

EPISODES = 8192
"""Largest number of episodes of a registered name at the same time."""


class Lent:
    """An environment of a pool, until :meth:`give_back`.

    Raises:
        ArgumentError: too many episodes at the same time. To wait would stop SkyRL: the threads
            that wait would be missing to the episodes that play.
    """

    def __init__(self, pool: "Pool"):
        if not pool.count.acquire(blocking=False):
            raise ArgumentError(
                f"more than {EPISODES} episodes at the same time: lower trainer.train_batch_size"
                " or generator.n_samples_per_prompt"
            )
        self._count = pool.count
        self._lending: AbstractAsyncContextManager[tuple[AsyncEnvPool, int]]
        self._lending = pool.shared.environment()
        self._pool, self._number = run(self._lending.__aenter__())

    def reset(self, **start: Any) -> PoolResult:
        """Starts an episode.

        Raises:
            EnvFailure: the environment failed.
        """
        return _checked(run(self._pool.reset(self._number, **start)))

    def send(self, action: str) -> PoolResult:
        """Acts.

        Raises:
            EnvFailure: the environment failed.
        """
        return _checked(run(self._pool.send(self._number, action)))

    def give_back(self) -> None:
        """Leaves the environment to other episodes."""
        run(self._lending.__aexit__(None, None, None))
        self._count.release()


class Pool:
    """The environments of a registered name.

    Args:
        target: a registered id, or "module:id".
        **options: more arguments of :class:`agentgym_envs.pool.EnvPool`.
    """

    def __init__(self, target: str, **options: Any):
        self.description: EnvDescription = describe(target, **options)
        self.shared: SharedPool = run(_make(target, options))
        self.count = threading.BoundedSemaphore(EPISODES)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Runs a coroutine in the loop of the pools; returns its result."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


async def _make(target: str, options: dict[str, Any]) -> SharedPool:
    return SharedPool(target, size=EPISODES, **options)


def _checked(result: PoolResult) -> PoolResult:
    result.check()
    return result
