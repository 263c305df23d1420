"""EnvPool: many environments in few processes, stepped whenever each is ready, with failures kept apart from rewards.

A worker process holds several environments and answers in order. Every request gets exactly one :class:`Result`. When a
worker dies or does not answer in time it is killed and replaced; the requests of its environments end in an
:class:`~agentgym_envs.errors.EnvFailure`, and so does the next step of its
other environments, whose state is lost. All other workers go on untouched.
"""

import os
import pickle
import socket
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import EnvFailure, EnvRaised, EnvTimeout, WorkerDied

CLOSE_PATIENCE = 5.0  # seconds a worker gets to close its environments


@dataclass(frozen=True)
class Result:
    """The answer to one request.

    Attributes:
        index: the environment, from 0 to ``num_envs - 1``.
        observation: the text; empty after an error.
        reward: 0.0 after a reset.
        terminated: the task is decided.
        truncated: a step limit of the environment was reached.
        info: see the contract.
        error: what failed, or None. Whoever trains must look at it first.
    """

    index: int
    observation: str = ""
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any] | None = None
    error: EnvFailure | None = None


class _Worker:
    """A child process, its pipe, and the requests that it has not answered yet."""

    def __init__(self, setup: dict[str, Any]):
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agentgym_envs.pool_worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        theirs.close()
        self.pipe = Connection(ours.detach())
        self.waiting: deque[int] = deque()
        self.since = time.monotonic()
        self.pipe.send_bytes(pickle.dumps(setup))

    def send(self, request: tuple[Any, ...]) -> None:
        if not self.waiting:
            self.since = time.monotonic()
        self.waiting.append(request[1])
        self.pipe.send_bytes(pickle.dumps(request))

    def receive(self) -> Any:
        answer = pickle.loads(self.pipe.recv_bytes())
        self.waiting.popleft()
        self.since = time.monotonic()
        return answer

    def stop(self, patience: float) -> None:
        """Closes the pipe, which ends the worker, and kills it if that takes too long."""
        self.pipe.close()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class EnvPool:
    """Runs ``num_envs`` copies of an environment in ``workers`` processes.

    Args:
        env_id: a registered id, or "module:id".
        num_envs: environments.
        workers: processes; by default one a CPU core, at most one an environment.
        timeout: seconds that one call of an environment may take.
        action_format: how responses hold actions, a key of ``agentgym_envs.wrappers.FORMATS``.
        **kwargs: for ``gymnasium.make``.

    Raises:
        UnknownName: no such id.
        ValueError: a count or time that is not positive.
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int,
        *,
        workers: int | None = None,
        timeout: float = 60.0,
        action_format: str = "plain",
        **kwargs: Any,
    ):
        if num_envs < 1 or (workers is not None and workers < 1) or timeout <= 0:
            raise ValueError(f"num_envs={num_envs}, workers={workers} and timeout={timeout} must be positive")
        self.spec = registry.spec(env_id)
        self.num_envs = num_envs
        self.timeout = timeout
        self._setup = {"id": env_id, "kwargs": kwargs, "action_format": action_format}
        self._workers: list[_Worker | None] = [None] * min(num_envs, workers or os.cpu_count() or 1)
        self._lost = [False] * num_envs
        self._ready: deque[Result] = deque()
        self._closed = False

    def reset(self, index: int, *, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Asks for a new episode; a failed environment is made anew. The answer comes from :meth:`recv`."""
        self._lost[index] = False
        self._ask(index, ("reset", index, seed, options))

    def send(self, index: int, action: str) -> None:
        """Asks for a step. The answer comes from :meth:`recv`."""
        if self._lost[index]:
            self._ready.append(Result(index, error=WorkerDied(f"environment {index} was lost with its worker: reset it")))
        else:
            self._ask(index, ("step", index, action))

    def recv(self, *, timeout: float | None = None) -> list[Result]:
        """Waits until at least one request is answered or has failed.

        Args:
            timeout: seconds to wait at most; None waits as long as the environments' own timeout lets it.

        Returns:
            All answers that are there; empty if nothing is outstanding or the time is over.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self._ready and any(w and w.waiting for w in self._workers):
            now = time.monotonic()
            if end is not None and now >= end:
                break
            self._collect(min(t for t in (self._next_deadline(), end) if t is not None) - now)
        results = list(self._ready)
        self._ready.clear()
        return results

    def close(self) -> None:
        """Ends every worker. May be called twice."""
        self._closed = True
        workers = [w for w in self._workers if w]
        self._workers = [None] * len(self._workers)
        for worker in workers:
            worker.stop(CLOSE_PATIENCE)

    def __enter__(self) -> "EnvPool":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_workers"):
            self.close()

    def pids(self) -> list[int]:
        """Returns the process ids of the workers that were started and not yet replaced."""
        return [w.process.pid for w in self._workers if w]

    def _ask(self, index: int, request: tuple[Any, ...]) -> None:
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the pool is closed")
        slot = index % len(self._workers)
        worker = self._workers[slot]
        if worker is None:
            worker = self._workers[slot] = _Worker(self._setup)
        try:
            worker.send(request)
        except (BrokenPipeError, ConnectionResetError):
            self._fail(slot, WorkerDied)

    def _next_deadline(self) -> float:
        return min(w.since for w in self._workers if w and w.waiting) + self.timeout

    def _collect(self, patience: float) -> None:
        busy = {w.pipe: slot for slot, w in enumerate(self._workers) if w and w.waiting}
        for pipe in wait(list(busy), timeout=max(patience, 0.0)):
            slot = busy[pipe]  # type: ignore[index]
            worker = self._workers[slot]
            assert worker is not None
            try:
                while worker.waiting and worker.pipe.poll():
                    self._ready.append(_result(worker.receive()))
            except (EOFError, OSError, pickle.UnpicklingError):
                self._fail(slot, WorkerDied)
        for slot, worker in enumerate(self._workers):
            if worker and worker.waiting and time.monotonic() - worker.since >= self.timeout:
                self._fail(slot, EnvTimeout)

    def _fail(self, slot: int, kind: type[EnvFailure]) -> None:
        """Replaces a worker; its outstanding requests fail now, the next steps of its other environments when they come."""
        worker = self._workers[slot]
        assert worker is not None
        self._workers[slot] = None
        worker.process.kill()
        worker.stop(CLOSE_PATIENCE)
        code = worker.process.returncode
        why = f"no answer within {self.timeout:g} s" if kind is EnvTimeout else f"its worker ended with status {code}"
        for index in range(slot, self.num_envs, len(self._workers)):
            self._lost[index] = True
        for position, index in enumerate(worker.waiting):
            blame = kind if position == 0 else WorkerDied
            text = why if position == 0 else f"lost with environment {worker.waiting[0]}, which failed: {why}"
            self._ready.append(Result(index, error=blame(f"{self.spec.id} environment {index}: {text}")))


def _result(answer: tuple[Any, ...]) -> Result:
    index, payload, failure = answer
    return Result(index, error=EnvRaised(failure)) if failure else Result(index, *payload)
