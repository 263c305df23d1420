"""SharedPool: one pool for a host that starts and ends episodes on its own."""

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agentgym_envs.pool.asynchronous import AsyncEnvPool

SIZE = 1024
"""Environments per pool. The pool creates those that episodes use, and the host limits these."""


class SharedPool:
    """A pool that lends its environments to episodes.

    Create it inside a running event loop.

    Args:
        env_id: a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        size: largest number of episodes at the same time; more episodes wait.
        **kwargs: more arguments of :class:`AsyncEnvPool`.
    """

    def __init__(self, env_id: str, *, size: int = SIZE, **kwargs: Any):
        self._pool = AsyncEnvPool(env_id, size, **kwargs)
        self._free = list(range(size))
        self._count = asyncio.Semaphore(size)

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
