"""Sessions of one environment id: each has its own environment in an AsyncEnvPool."""

import asyncio
import secrets
from collections import deque
from collections.abc import Mapping
from typing import Any

from agentgym_envs.errors import ArgumentError, EnvFailure, EnvTimeout, TaskError, shown
from agentgym_envs.pool import AsyncEnvPool, EnvDescription, PoolResult
from agentgym_envs.serve.limits import ServerLimits, client_keywords
from agentgym_envs.serve.metrics import ServerMetrics
from agentgym_envs.serve.refusal import RefusedRequest

LARGEST = 2**53  # JavaScript reads larger numbers wrongly


class ClientSession:
    """One client's environment.

    Args:
        number: the name of the session. It is random, so that the number of a session before a
            restart of the server names no other session.
        index: the environment in the pool.
        now: the time of the loop.
    """

    def __init__(self, number: int, index: int, now: float):
        self.number = number
        self.index = index
        self.used = now
        """Time of the end of the last request."""
        self.requests = 0
        """Requests that run or wait."""
        self.turn = asyncio.Lock()
        """Requests are answered one after another, in the order of their arrival."""
        self.keywords: dict[str, Any] = {}
        self.result: PoolResult | None = None
        """The last result; None before the first reset and after a failure."""
        self.steps = 0
        """Steps of this episode."""
        self.trouble = "call reset first"
        """The reason why a step is not possible without a result."""
        self.closed = False

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.result is not None and (self.result.terminated or self.result.truncated)

    async def __aenter__(self) -> None:
        """Waits until the earlier requests are answered.

        Raises:
            RefusedRequest: the session was closed.
        """
        self.requests += 1
        try:
            await self.turn.acquire()
        except BaseException:
            self._leave()
            raise
        if self.closed:
            self.turn.release()
            self._leave()
            raise RefusedRequest(404, f"session {self.number} was closed")

    async def __aexit__(self, *error: object) -> None:
        self.turn.release()
        self._leave()

    def _leave(self) -> None:
        self.requests -= 1
        self.used = asyncio.get_running_loop().time()

    def last(self) -> PoolResult:
        """Returns the last result.

        Raises:
            RefusedRequest: no episode has a result; the message has the reason.
        """
        if self.result is None:
            raise RefusedRequest(409, f"session {self.number}: {self.trouble}")
        return self.result


class EnvSessions:
    """All sessions of one environment id.

    Args:
        env_id: a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        limits: the server's limits.
        metrics: counts steps and failures.
        workers: see :class:`agentgym_envs.pool.EnvPool`.
        keywords: constructor keywords that the operator sets; clients can override those of
            ``CLIENT_KEYWORDS``.
    """

    def __init__(
        self,
        env_id: str,
        *,
        limits: ServerLimits,
        metrics: ServerMetrics,
        workers: int | None = None,
        keywords: Mapping[str, Any],
    ):
        self.env_id = env_id
        self.limits = limits
        self.description: EnvDescription
        self._metrics = metrics
        self._workers, self._keywords = workers, dict(keywords)
        self._open: dict[int, ClientSession] = {}
        self._free = deque(range(limits.sessions))
        self._pool: AsyncEnvPool

    @property
    def name(self) -> str:
        """The id without the "module:" prefix."""
        return self.env_id.rpartition(":")[2]

    def __len__(self) -> int:
        return len(self._open)

    async def start(self) -> None:
        """Starts the pool and reads the environment's description.

        Raises:
            AgentGymError: the environment cannot be made.
        """
        self._pool = AsyncEnvPool(
            self.env_id, self.limits.sessions, workers=self._workers, **self._keywords
        )
        try:
            result = await self._pool.ask_description(0)
            result.check()
            self.description = EnvDescription(**result.info or {})
            await self._pool.drop(0)
        except BaseException:
            await self._pool.close()
            raise

    async def stop(self) -> None:
        """Ends the pool."""
        await self._pool.close()

    @property
    def split(self) -> str:
        """The split of a session whose client names none."""
        return str(self._keywords.get("split", "train"))

    async def describe(self, split: str) -> EnvDescription:
        """Returns the description of an environment of a split.

        Raises:
            RefusedRequest: the environment cannot be made.
        """
        keywords = {**self._keywords, "split": split}
        try:
            async with AsyncEnvPool(self.env_id, 1, workers=1, **keywords) as pool:
                result = await pool.ask_description(0)
                result.check()
                return EnvDescription(**result.info or {})
        except (ArgumentError, TaskError) as error:
            raise RefusedRequest(400, f"split: {error}") from error
        except EnvFailure as error:
            raise RefusedRequest(
                504 if isinstance(error, EnvTimeout) else 500, str(error)
            ) from error

    def open(self) -> ClientSession:
        """Starts a session; it has no environment before its first reset.

        Raises:
            RefusedRequest: all sessions are taken.
        """
        if not self._free:
            raise RefusedRequest(
                503,
                f"{self.name}: all {self.limits.sessions} sessions are taken; close one or try"
                " again later",
            )
        number = secrets.randbelow(LARGEST)
        session = ClientSession(number, self._free.popleft(), asyncio.get_running_loop().time())
        self._open[number] = session
        return session

    def get(self, number: object, field: str = "session") -> ClientSession:
        """Returns a session.

        Raises:
            RefusedRequest: no session has this number.
        """
        if isinstance(number, bool) or not isinstance(number, int):
            raise RefusedRequest(
                400, f"{field}: must be the number of a session, not {shown(number)}"
            )
        if (session := self._open.get(number)) is None:
            raise RefusedRequest(
                404,
                f"{field}: there is no session {number}; it was closed, or ended after"
                f" {self.limits.idle:g} s without a request",
            )
        return session

    async def reset(
        self,
        session: ClientSession,
        *,
        task_id: str | None = None,
        seed: int | None = None,
        keywords: Mapping[str, Any] | None = None,
    ) -> PoolResult:
        """Starts an episode.

        Args:
            session: the session.
            task_id: the task; None: the seed draws one.
            seed: see :meth:`agentgym_envs.TextEnv.reset`; None: random.
            keywords: constructor keywords of the client. Keywords that differ from those of the
                last reset replace the environment.

        Raises:
            RefusedRequest: a wrong value, or a failure of the environment.
        """
        wanted = client_keywords(keywords or {})
        options = None if task_id is None else {"task_id": task_id}
        async with session:
            if wanted != session.keywords:
                await self._pool.drop(session.index)
            session.keywords, session.steps = wanted, 0
            try:
                result = await self._pool.reset(
                    session.index, seed=seed, options=options, keywords=wanted
                )
            except ArgumentError as error:
                raise RefusedRequest(400, str(error)) from error
            return self._noted(session, result)

    async def step(
        self, session: ClientSession, action: object, field: str = "action"
    ) -> PoolResult:
        """Takes a step.

        Raises:
            RefusedRequest: no episode runs, the action is not a string, or the environment failed.
        """
        if not isinstance(action, str):
            raise RefusedRequest(400, f"{field}: must be a string, not {shown(action)}")
        async with session:
            session.last()
            if session.over:
                raise RefusedRequest(
                    409, f"session {session.number}: the episode is over; call reset"
                )
            result = self._noted(session, await self._pool.send(session.index, action))
            session.steps += 1
            self._metrics.steps[self.name] += 1
            return result

    async def close(self, session: ClientSession) -> None:
        """Ends a session and its environment. A second call does nothing."""
        if session.closed:
            return
        session.closed = True
        del self._open[session.number]
        async with session.turn:
            await self._pool.drop(session.index)
        self._free.append(session.index)

    async def close_idle(self) -> None:
        """Ends the sessions that had no request for too long; a running request counts."""
        end = asyncio.get_running_loop().time() - self.limits.idle
        idle = [s for s in self._open.values() if not s.requests and s.used < end]
        self._metrics.expired[self.name] += len(idle)
        await asyncio.gather(*map(self.close, idle))

    def _noted(self, session: ClientSession, result: PoolResult) -> PoolResult:
        """Keeps a result as the session's last.

        Raises:
            RefusedRequest: the result is an error.
        """
        if (error := result.error) is None:
            session.result = result
            return result
        session.result = None
        cause = error.__cause__
        if isinstance(cause, ArgumentError | TaskError):
            session.trouble = "the last reset was refused; call reset"
            raise RefusedRequest(400, str(cause)) from error
        session.trouble = f"the environment failed ({error}); call reset"
        self._metrics.failures[self.name, type(error).__name__] += 1
        raise _failure(error) from error


def _failure(error: EnvFailure) -> RefusedRequest:
    return RefusedRequest(
        504 if isinstance(error, EnvTimeout) else 500, f"{error}. The session goes on with a reset."
    )
