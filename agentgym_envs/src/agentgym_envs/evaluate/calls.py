"""Calls of an agent's code: bounded in time, with every exception turned into a failure.

A coroutine is cancelled at the time limit. A coroutine that blocks the event loop for as long is
interrupted by a signal; Python delivers signals to the main thread only, so a tournament, whose
agents run in another thread, cannot interrupt it. A function that is not ``async`` runs in a new
daemon thread. Python cannot stop a thread, so after the limit the thread keeps running in the
background. Other episodes and the end of the process do not wait for it.
"""

import asyncio
import contextvars
import inspect
import os
import signal
import threading
import traceback
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from agentgym_envs.errors import AgentFailure, AgentGymError, message_of

FRAMES = 2  # frames of a recorded traceback; with the exception, five lines
LONGEST = 300  # characters of a line of it


class _Blocked(BaseException):
    """A coroutine blocks the event loop. Agents that catch every ``Exception`` do not catch it."""


@dataclass(frozen=True)
class AgentCaller:
    """Calls agents.

    Args:
        limit: seconds that one call may take; None: no limit.
    """

    limit: float | None = None

    async def call(self, agent: Any, method: str, *arguments: Any) -> Any:
        """Calls an agent's method; returns None if the agent lacks it.

        Raises:
            AgentFailure: the method raised, hung or cancelled its own task.
            AgentGymError: the method raised this error, for example a ``ProviderError``.
        """
        function = getattr(agent, method, None)
        if function is None:
            return None
        who = f"{method!r} of the agent {type(agent).__name__}"
        with _failures(who):
            try:
                async with asyncio.timeout(self.limit) as limit:
                    result, error = await _outcome(function, *arguments, limit=self.limit)
            except _Blocked:
                text = f"{who} blocked the event loop for {self.limit:g} s (--agent-timeout)"
                raise AgentFailure(text) from None
            except TimeoutError:
                if not limit.expired():
                    raise
                text = f"{who} did not return within {self.limit:g} s (--agent-timeout)"
                raise AgentFailure(text) from None
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) and task.cancelling():
                    raise
                raise AgentFailure(f"{who} cancelled its own task") from None
        if isinstance(error, AgentGymError):
            raise error
        if error is not None:  # not raised above: a coroutine cannot raise StopIteration
            raise _failure(who, error) from error
        return result


def made(create: Callable[[], Any]) -> Any:
    """Creates an agent, in the event loop's thread.

    Raises:
        AgentFailure: the constructor raised.
    """
    with _failures("the agent's constructor"):
        return create()


@contextmanager
def _failures(who: str) -> Iterator[None]:
    """Turns exceptions into an ``AgentFailure``."""
    try:
        yield
    except (AgentGymError, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit, _Blocked):
        raise
    except BaseException as error:  # a panic of a Rust library, for example, is no Exception
        raise _failure(who, error) from error


def _failure(who: str, error: BaseException) -> AgentFailure:
    return AgentFailure(f"{who} raised {_named(error)}", brief(error))


def brief(error: BaseException) -> str:
    """Returns the end of an exception's traceback, in at most five lines."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    lines = [
        line
        for frame in frames
        for line in (f"{frame.filename}:{frame.lineno} in {frame.name}", f"    {frame.line}")
    ]
    return "\n".join(line[:LONGEST] for line in (*lines, f"{type(error).__name__}: {_said(error)}"))


def _named(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    said = _said(error)
    return f"{type(error).__name__}{where}" + (f": {said}" if said else "")


def _said(error: BaseException) -> str:
    return " ".join(message_of(error).split())[:LONGEST]


async def _outcome(
    function: Callable[..., Any], *arguments: Any, limit: float | None
) -> tuple[Any, BaseException | None]:
    """Returns a function's result, or the exception of a function that ran in a thread."""
    if inspect.iscoroutinefunction(function):
        return await _interruptible(function(*arguments), limit), None
    result, error = await asyncio.wrap_future(_in_thread(function, *arguments))
    if inspect.iscoroutine(result):
        return await _interruptible(result, limit), error
    return (await result if isinstance(result, Awaitable) else result), error


@types.coroutine
def _interruptible(
    coroutine: Coroutine[Any, Any, Any], limit: float | None
) -> Generator[Any, Any, Any]:
    """Awaits a coroutine; raises ``_Blocked`` in it if it does not yield within the limit."""
    resume, value = coroutine.send, None
    while True:
        try:
            with _alarm(limit):
                awaited = resume(value)
        except StopIteration as done:
            return done.value
        try:
            resume, value = coroutine.send, (yield awaited)
        except BaseException as error:  # a cancellation, for example, which the coroutine may catch
            resume, value = coroutine.throw, error


@contextmanager
def _alarm(limit: float | None) -> Iterator[None]:
    """Raises ``_Blocked`` in the block if it runs for ``limit`` seconds in the main thread."""
    if limit is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise _Blocked

    handler = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _in_thread(
    function: Callable[..., Any], *arguments: Any
) -> "Future[tuple[Any, BaseException | None]]":
    """Runs a function in a daemon thread; its exception is a value."""
    future: Future[tuple[Any, BaseException | None]] = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result((context.run(function, *arguments), None))
        except BaseException as error:
            future.set_result((None, error))

    threading.Thread(target=work, name="agent", daemon=True).start()
    return future
