"""EnvPool for asyncio: each request is awaited separately."""

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Self

import gymnasium

from agentgym_envs.errors import ArgumentError
from agentgym_envs.pool.pool import EnvPool
from agentgym_envs.pool.result import Result

Request = tuple[int, Callable[[], None], asyncio.Future[Result]]
"""The environment's index, a function that sends the request to the pool, and the future result."""

News = tuple[asyncio.Future[Result], Result | Exception]


class AsyncEnvPool:
    """An :class:`EnvPool` in a separate thread.

    Create it inside a running event loop. Each environment serves one caller at a time: a second
    request before the answer to the first is an ``ArgumentError``.

    Args:
        env_id: a registered id, or "module:id".
        num_envs: number of environments.
        **kwargs: more arguments of :class:`EnvPool`.
    """

    def __init__(self, env_id: str, num_envs: int, **kwargs: Any):
        self._pool = EnvPool(env_id, num_envs, **kwargs)
        self._loop = asyncio.get_running_loop()
        self._woken = False
        """Whether the thread was woken and has not looked at ``_asked`` since."""
        self._current: dict[int, asyncio.Future[Result]] = {}
        self._asked: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    async def reset(
        self,
        index: int,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
        keywords: dict[str, Any] | None = None,
    ) -> Result:
        """See :meth:`EnvPool.reset`."""
        return await self._ask(
            index,
            lambda: self._pool.reset(index, seed=seed, options=options, keywords=keywords),
        )

    async def send(self, index: int, action: str, *, bare: bool = False) -> Result:
        """See :meth:`EnvPool.send`."""
        return await self._ask(index, lambda: self._pool.send(index, action, bare=bare))

    async def ask_oracle(self, index: int) -> Result:
        """See :meth:`EnvPool.ask_oracle`."""
        return await self._ask(index, lambda: self._pool.ask_oracle(index))

    async def ask_description(self, index: int) -> Result:
        """See :meth:`EnvPool.ask_description`."""
        return await self._ask(index, lambda: self._pool.ask_description(index))

    async def drop(self, index: int) -> Result:
        """See :meth:`EnvPool.drop`."""
        return await self._ask(index, lambda: self._pool.drop(index))

    async def close(self) -> None:
        """Ends the workers; requests that wait are cancelled."""
        self._asked.put(None)
        self._pool.wake()
        await asyncio.to_thread(self._thread.join)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _ask(self, index: int, ask: Callable[[], None]) -> Result:
        if not self._thread.is_alive():
            raise gymnasium.error.ClosedEnvironmentError("the pool is closed")
        current = self._current.get(index)
        if current is not None and not current.done():  # a cancelled request is done
            raise ArgumentError(
                f"environment {index} has not answered its last request; await that answer first"
            )
        answer: asyncio.Future[Result] = self._loop.create_future()
        self._current[index] = answer
        self._asked.put((index, ask, answer))
        if not self._woken:  # a call of the system for each request would be slow
            self._woken = True
            self._pool.wake()
        return await answer

    def _serve(self) -> None:
        # One queue per environment: a cancelled caller's request is still ahead of the next
        # caller's.
        waiting: list[deque[asyncio.Future[Result]]] = [deque() for _ in range(self._pool.num_envs)]
        try:
            with self._pool:
                while self._take(waiting):
                    results = self._pool.recv()
                    self._tell([(waiting[r.index].popleft(), r) for r in results])
        finally:
            for answer in chain(*waiting):
                self._loop.call_soon_threadsafe(answer.cancel)

    def _take(self, waiting: list[deque[asyncio.Future[Result]]]) -> bool:
        """Passes all new requests to the pool; waits for one if no request is outstanding.

        Returns:
            False after :meth:`close`.
        """
        self._woken = False  # before the look at the queue: a later request wakes again
        while not any(waiting) or not self._asked.empty():
            request = self._asked.get()
            if request is None:
                return False
            index, ask, answer = request
            try:
                ask()
            except Exception as error:
                self._tell([(answer, error)])
            else:
                waiting[index].append(answer)
        return True

    def _tell(self, news: Sequence[News]) -> None:
        if news:
            self._loop.call_soon_threadsafe(_settle, news)


def _settle(news: Sequence[News]) -> None:
    for answer, found in news:
        if answer.cancelled():
            continue
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)
