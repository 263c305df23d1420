"""The environments of the samples: one pool per environment, shared by all samples."""

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from inspect_ai.hooks import Hooks, RunEnd, hooks

from agentgym_envs.evaluate.plan import EvalEnv
from agentgym_envs.pool import AsyncEnvPool

SIZE = 1024
"""Environments per pool. The pool creates those that samples use, which Inspect limits."""


class SharedPool:
    """A pool, and the numbers of its environments that no sample uses."""

    def __init__(self, env: EvalEnv, action_format: str):
        self._pool = AsyncEnvPool(env.env_id, SIZE, action_format=action_format, **env.kwargs)
        self._free = list(range(SIZE))
        self._count = asyncio.Semaphore(SIZE)

    @asynccontextmanager
    async def environment(self) -> AsyncIterator[tuple[AsyncEnvPool, int]]:
        """Lends an environment: the pool and its lowest free number."""
        async with self._count:
            number = heapq.heappop(self._free)
            try:
                yield self._pool, number
            finally:
                heapq.heappush(self._free, number)

    async def close(self) -> None:
        """Ends the workers."""
        await self._pool.close()


_pools: dict[tuple[asyncio.AbstractEventLoop, int, str], SharedPool] = {}


def shared_pool(env: EvalEnv, action_format: str) -> SharedPool:
    """Returns the pool of an environment of a plan in the running event loop."""
    key = (asyncio.get_running_loop(), id(env), action_format)
    if key not in _pools:
        _pools[key] = SharedPool(env, action_format)
    return _pools[key]


@hooks("agentgym_environments", "Ends the environments of AgentGym after a run.")
class EndEnvironments(Hooks):
    """Ends the environments after a run."""

    async def on_run_end(self, data: RunEnd) -> None:
        """Closes the pools of this event loop."""
        loop = asyncio.get_running_loop()
        for key in [key for key in _pools if key[0] is loop]:
            await _pools.pop(key).close()
