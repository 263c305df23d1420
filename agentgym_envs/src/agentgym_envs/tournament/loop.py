"""An event loop in a separate thread. It runs the agents and the clients of all players."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from agentgym_envs.errors import AgentFailure

T = TypeVar("T")
LAST = 5.0  # seconds that a cancelled call may take to end


class RunStopped(Exception):
    """Stops the game because the run ends."""


class EventLoopThread:
    """Runs coroutines for the threads of games.

    One loop serves all threads, because the client of a model belongs to one loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._pending: set[Future[Any]] = set()
        self._stopped = threading.Event()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Returns the result of an agent's coroutine.

        Raises:
            RunStopped: :meth:`stop` was called.
            AgentFailure: the coroutine cancelled its own task.
            Exception: an exception of the coroutine.
        """
        future = self._submitted(coroutine)
        self._pending.add(future)
        try:
            if self._stopped.is_set():
                future.cancel()
            return future.result()
        except CancelledError:
            if self._stopped.is_set():
                raise RunStopped from None
            raise AgentFailure("the agent cancelled its own task") from None
        finally:
            self._pending.discard(future)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Returns the result of a coroutine that :meth:`stop` does not end."""
        return self._submitted(coroutine).result()

    def stop(self) -> None:
        """Ends all calls, present and future, with RunStopped."""
        self._stopped.set()
        for future in list(self._pending):
            future.cancel()

    def close(self) -> None:
        """Ends the event loop and its thread."""
        self.run(_cancelled())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _submitted(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)


async def _cancelled() -> None:
    """Cancels the tasks of the loop, and waits for those that end soon."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=LAST)
