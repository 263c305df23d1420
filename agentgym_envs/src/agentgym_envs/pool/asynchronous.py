"""EnvPool for asyncio: each request is awaited separately."""

import asyncio
import socket
import time
from collections import defaultdict, deque
from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple, Self

import gymnasium

from agentgym_envs.errors import ArgumentError
from agentgym_envs.pool.pool import EnvPool
from agentgym_envs.pool.result import PoolResult


class _Asked(NamedTuple):
    """A request that the pool does not have yet."""

    env: int
    ask: Callable[[], None]
    """Passes the request to the pool."""
    answer: asyncio.Future[PoolResult]


class AsyncEnvPool:
    """An :class:`EnvPool` in an event loop.

    Create it inside a running event loop. Each environment serves one caller at a time: a second
    request before the answer to the first is an ``ArgumentError``.

    Args:
        env_id: a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        num_envs: number of environments.
        **kwargs: more arguments of :class:`EnvPool`.
    """

    def __init__(self, env_id: str, num_envs: int, **kwargs: Any):
        self._pool = EnvPool(env_id, num_envs, **kwargs)
        self._loop = asyncio.get_running_loop()
        self._asked: list[_Asked] = []
        # One queue per environment: a cancelled caller's request is still ahead of the next
        # caller's.
        self._waiting: defaultdict[int, deque[asyncio.Future[PoolResult]]] = defaultdict(deque)
        self._watched: dict[socket.socket, bool] = {}
        """The sockets that the loop watches, and whether also for room to write."""
        self._wanted: dict[socket.socket, bool] = {}
        """Those of them from which an answer can come."""
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """The monotonic time of the timer."""
        self._repair: asyncio.Task[None] | None = None
        self._closed = False

    async def reset(
        self,
        index: int,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
        keywords: dict[str, Any] | None = None,
    ) -> PoolResult:
        """See :meth:`EnvPool.reset`."""
        return await self._ask(
            index,
            lambda: self._pool.reset(index, seed=seed, options=options, keywords=keywords),
        )

    async def send(self, index: int, action: str, *, bare: bool = False) -> PoolResult:
        """See :meth:`EnvPool.send`."""
        return await self._ask(index, lambda: self._pool.send(index, action, bare=bare))

    async def ask_oracle(self, index: int) -> PoolResult:
        """See :meth:`EnvPool.ask_oracle`."""
        return await self._ask(index, lambda: self._pool.ask_oracle(index))

    async def ask_description(self, index: int) -> PoolResult:
        """See :meth:`EnvPool.ask_description`."""
        return await self._ask(index, lambda: self._pool.ask_description(index))

    async def drop(self, index: int) -> PoolResult:
        """See :meth:`EnvPool.drop`."""
        return await self._ask(index, lambda: self._pool.drop(index))

    async def close(self) -> None:
        """Ends the workers; requests that wait are cancelled."""
        self._stop()
        if self._repair is not None:
            await self._repair
        await asyncio.to_thread(self._pool.close)
        for answer in chain(*self._waiting.values()):
            answer.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _ask(self, index: int, ask: Callable[[], None]) -> PoolResult:
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the pool is closed")
        waiting = self._waiting[index]
        if waiting and not waiting[-1].done():  # a cancelled request is done
            raise ArgumentError(
                f"environment {index} has not answered its last request; await that answer first"
            )
        answer: asyncio.Future[PoolResult] = self._loop.create_future()
        waiting.append(answer)
        if not self._asked:
            self._loop.call_soon(self._turn)
        self._asked.append(_Asked(index, ask, answer))
        return await answer

    def _turn(self) -> None:
        """Sends the new requests, and receives the answers that are ready."""
        if self._closed or self._repair is not None:
            return
        asked, self._asked = self._asked, []
        try:
            with self._pool.together():
                for request in asked:
                    self._pass(request)
            self._tell(self._pool.poll())
        except Exception as error:  # a worker cannot be started, for example
            self._give_up(error)
        else:
            self._wait()

    def _pass(self, request: _Asked) -> None:
        """Passes a request to the pool."""
        try:
            request.ask()
        except Exception as error:
            self._waiting[request.env].remove(request.answer)
            if not request.answer.cancelled():
                request.answer.set_exception(error)

    def _tell(self, results: list[PoolResult]) -> None:
        for result in results:
            answer = self._waiting[result.index].popleft()
            if not answer.cancelled():
                answer.set_result(result)

    def _wait(self) -> None:
        """Arranges the next turn: at an answer, at a deadline, or after a repair."""
        if self._pool.broken:
            self._forget_all()  # the repair closes sockets
            self._repair = self._loop.create_task(self._mend())
            return
        self._watch(self._pool.connections())
        if not self._pool.outstanding:
            return
        due = self._pool.next_check()
        if self._timer is None or due < self._due:
            if self._timer is not None:
                self._timer.cancel()
            self._due = due
            self._timer = self._loop.call_later(due - time.monotonic(), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._turn()

    async def _mend(self) -> None:
        """Replaces the workers that have failed, which can take seconds."""
        try:
            self._tell(await asyncio.to_thread(self._pool.recv, timeout=0.0))
        except Exception as error:
            self._give_up(error)
        self._repair = None
        self._turn()

    def _watch(self, wanted: dict[socket.socket, bool]) -> None:
        """Lets the loop call :meth:`_turn` when a socket is ready.

        Sockets without a request stay watched, because a change for each request would be slow.
        """
        self._wanted = wanted
        for connection, writes in wanted.items():
            if connection not in self._watched:
                self._watched[connection] = False
                self._loop.add_reader(connection, self._read, connection)
            if writes != self._watched[connection]:
                self._watched[connection] = writes
                if writes:
                    self._loop.add_writer(connection, self._turn)
                else:
                    self._loop.remove_writer(connection)

    def _read(self, connection: socket.socket) -> None:
        if connection in self._wanted:
            self._turn()
        else:  # the process has ended; the next request finds that out
            self._forget(connection)

    def _forget(self, connection: socket.socket) -> None:
        self._loop.remove_reader(connection)
        if self._watched.pop(connection):
            self._loop.remove_writer(connection)

    def _forget_all(self) -> None:
        for connection in [*self._watched]:
            self._forget(connection)

    def _stop(self) -> None:
        self._closed = True
        self._forget_all()
        if self._timer is not None:
            self._timer.cancel()

    def _give_up(self, error: Exception) -> None:
        """Answers all requests with an error."""
        self._stop()
        for answer in chain(*self._waiting.values()):
            if not answer.done():
                answer.set_exception(error)
