"""EnvPool: many environments in a few processes, each stepped as soon as it is ready.

A worker process holds several environments and answers in order. Every request gets exactly one
:class:`Result`. A failure is an error in the result, never a reward.

The pool kills and replaces a worker that dies or does not answer in time. The environment that the
worker was running fails with :class:`~agentgym_envs.errors.WorkerDied` or
:class:`~agentgym_envs.errors.EnvTimeout`. The worker's other environments lose their state, and
their steps fail with :class:`~agentgym_envs.errors.NeighbourFailed`. If the worker was idle, the
cause is unknown, and the steps of all its environments fail with ``WorkerDied``. A reset needs no
state, so the new worker answers the resets that were waiting. Other workers are not affected.

A signal handler, such as that of Ctrl-C, can raise between any two instructions. A later
:meth:`EnvPool.recv` continues from there. Every change of the state is therefore atomic: one
assignment, one container operation, or one C call. Interrupted work is repeated.
"""

import operator
import os
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count, takewhile
from typing import Any, NamedTuple

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import ArgumentError, EnvFailure, EnvTimeout, WorkerDied
from agentgym_envs.pool.failures import STATELESS, failures
from agentgym_envs.pool.handle import Handle, Request, end_all, successor
from agentgym_envs.pool.messages import check_limit, check_positive, packed, parse_result
from agentgym_envs.pool.result import Result
from agentgym_envs.pool.wire import BadMessage
from agentgym_envs.processes import module_folders

CLOSE_TIMEOUT = 5.0  # seconds in which the workers can close their environments
GLANCE = 1.0  # seconds between checks whether a silent worker is alive


class _State(NamedTuple):
    workers: list[Handle | None]
    asked: dict[int, Request]
    """Requests without a result from :meth:`EnvPool.recv` so far, by number."""
    answers: dict[int, Result]
    """Results that the next :meth:`EnvPool.recv` returns, by the number of the request."""
    lost: dict[int, EnvFailure]
    """Environments that lost their worker, by index; the error answers their steps."""


class EnvPool:
    """Runs ``num_envs`` copies of an environment in ``workers`` processes.

    Args:
        env_id: a registered id, or "module:id".
        num_envs: number of environments.
        workers: number of processes; by default one per CPU core, at most one per environment.
        timeout: time limit of one call of an environment, in seconds.
        start_timeout: time limit for creating an environment or for its first reset, in seconds.
            This includes starting the worker, imports, building an index and starting a simulator.
            The pool raises it to ``timeout`` if it is lower.
        action_format: the format of responses, a key of ``agentgym_envs.wrappers.FORMATS``; with
            None a response is the action.
        **kwargs: passed to ``gymnasium.make``, JSON-able.

    Raises:
        UnknownName: no such id.
        BrokenPlugin: the environment's package is broken.
        ArgumentError: a count, time or step limit that is not positive, or a keyword that is not
            JSON-able.

    >>> with EnvPool("agentgym/Maze-v1", num_envs=2, workers=1) as pool:
    ...     pool.reset(1, seed=7)
    ...     (result,) = pool.recv()
    >>> result.index, result.info["goal"], result.error
    (1, 'take the lamp', None)
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int,
        *,
        workers: int | None = None,
        timeout: float = 60.0,
        start_timeout: float = 300.0,
        action_format: str | None = None,
        **kwargs: Any,
    ):
        check_positive(
            num_envs=num_envs, workers=workers, timeout=timeout, start_timeout=start_timeout
        )
        check_limit(kwargs.get("max_episode_steps"))
        self.spec = registry.spec(env_id)
        self.num_envs = num_envs
        self.timeout = timeout
        self.start_timeout = max(timeout, start_timeout)
        setup = {
            "id": env_id,
            "kwargs": kwargs,
            "action_format": action_format,
            "path": module_folders()[1],
        }
        self._setup = packed(setup, f"the keywords of {env_id}")
        self._size = min(num_envs, workers or os.cpu_count() or 1)
        self._state = _State([None] * self._size, {}, {}, {})
        self._owner = os.getpid()
        self._numbers = count(1)
        self._bell, self._rope = socket.socketpair()
        self._bell.setblocking(False)
        self._rope.setblocking(False)
        self._closed = self._held = False

    @property
    def outstanding(self) -> int:
        """The number of results that :meth:`recv` has not returned yet."""
        return len(self._state.asked.keys() | self._state.answers.keys())

    def reset(
        self,
        index: int,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
        keywords: dict[str, Any] | None = None,
    ) -> None:
        """Requests a new episode; :meth:`recv` returns the result.

        A failed environment is created again.

        ``keywords`` are constructor keywords of this environment, which override the pool's. They
        apply if this request creates the environment: see :meth:`drop`.

        Raises:
            ArgumentError: a negative seed, or options that are not JSON-able.
        """
        seed = None if seed is None else operator.index(seed)
        if seed is not None and seed < 0:
            raise ArgumentError(f"seed={seed}: must be a whole number from 0")
        more = {} if keywords is None else {"keywords": keywords}
        self._ask(index, "reset", seed=seed, options=options, **more)

    def send(self, index: int, action: str, *, bare: bool = False) -> None:
        """Requests a step; :meth:`recv` returns the result.

        Args:
            index: the environment.
            action: the agent's response.
            bare: ``action`` is a plain action; the worker writes it in the pool's format first.
        """
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, not {type(action).__name__}")
        self._ask(index, "bare" if bare else "step", action=str(action))

    def ask_oracle(self, index: int) -> None:
        """Requests the next step of the oracle, which starts again after each reset.

        ``Result.action`` holds the oracle's action.
        """
        self._ask(index, "oracle")

    def ask_description(self, index: int) -> None:
        """Requests a description of the environment.

        The result's ``info`` holds the fields of a :class:`~agentgym_envs.pool.Description`.
        The worker creates the environment if it does not exist.
        """
        self._ask(index, "describe")

    def drop(self, index: int) -> None:
        """Requests the end of an environment, with its browser or simulator.

        :meth:`recv` returns an empty result. The next reset creates the environment again.
        """
        self._ask(index, "drop")

    @contextmanager
    def together(self) -> Iterator[None]:
        """Sends the requests of a ``with`` block at its end, with few system calls."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._dispatch()

    def recv(self, *, timeout: float | None = None) -> list[Result]:
        """Waits until at least one request is answered or has failed.

        Args:
            timeout: longest wait in seconds; with None only the environments' limits apply.

        Returns:
            All results that are ready. The list is empty if nothing is outstanding, the time is
            over, or :meth:`wake` was called.
        """
        self._check_owner()
        end = None if timeout is None else time.monotonic() + timeout
        self._dispatch()
        self._replace_failed()
        self._digest_all()
        while not self._state.answers and self._state.asked:
            check = self.next_check()
            woken = self._collect(check if end is None else min(check, end))
            self._replace_failed()
            if woken or (end is not None and time.monotonic() >= end):
                break
        results = self._answered()
        self._state = self._state._replace(answers={})
        return results  # CPython handles no signal between an assignment and a return

    def poll(self) -> list[Result]:
        """Returns the results that are ready. Unlike :meth:`recv`, it never blocks.

        It replaces no worker: if :attr:`broken` is true afterwards, call :meth:`recv`.
        """
        self._check_owner()
        self._dispatch()
        busy = self._busy()
        for worker in busy:
            self._serve(worker)
        self._check(busy)
        results = self._answered()
        self._state = self._state._replace(answers={})
        return results

    @property
    def broken(self) -> bool:
        """Whether a worker has failed that was not replaced yet."""
        return any(worker and worker.fault for worker in self._state.workers)

    def connections(self) -> dict[socket.socket, bool]:
        """Returns the sockets of the workers that have a request.

        The value tells whether the worker must also be watched for room to write.
        """
        return {worker.socket: worker.has_unsent for worker in self._busy()}

    def next_check(self) -> float:
        """Returns the monotonic time, in seconds, at which the workers must be looked at again."""
        limits = (self._deadline(worker) for worker in self._busy())
        return min(time.monotonic() + GLANCE, *limits)

    def wake(self) -> None:
        """Makes a :meth:`recv` that waits in another thread return.

        This is the only method that other threads can call.
        """
        with suppress(OSError):  # the signal is already pending, or the pool is closed
            self._rope.send(b"!")

    def close(self) -> None:
        """Ends all workers. A second call does nothing.

        A fork of the process that created the pool only closes its copies of the sockets.
        """
        self._closed = True
        self._bell.close()
        self._rope.close()
        workers = [w for w in self._state.workers if w]
        if os.getpid() == self._owner:
            end_all(workers, CLOSE_TIMEOUT)
        else:
            for worker in workers:
                worker.leave()
        self._state = _State([None] * self._size, {}, {}, {})

    def __enter__(self) -> "EnvPool":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()

    def pids(self) -> list[int]:
        """Returns the process ids of the workers that were started and not yet replaced."""
        return [w.process.pid for w in self._state.workers if w]

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise gymnasium.error.ClosedEnvironmentError(
                f"the pool belongs to process {self._owner}: make one in this process"
            )

    def _ask(self, index: int, kind: str, **details: Any) -> None:
        self._check_owner()
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the pool is closed")
        if not 0 <= index < self.num_envs:
            raise ArgumentError(f"there is no environment {index}, only 0 to {self.num_envs - 1}")
        number = next(self._numbers)
        content = packed(
            {"id": number, "do": kind, "index": index, **details}, f"a {kind} of {self.spec.id}"
        )
        state = self._state
        if index in state.lost and kind not in STATELESS:
            state.answers[number] = Result(index, error=state.lost[index])
            return
        request = Request(number, index, kind, content)
        if index in state.lost:
            lost = {i: error for i, error in state.lost.items() if i != index}
            self._state = state._replace(asked={**state.asked, number: request}, lost=lost)
        else:
            state.asked[number] = request
        if not self._held:
            self._dispatch()

    def _dispatch(self) -> None:
        """Submits the new requests to their workers, in order.

        These are the request of this call and those of interrupted calls.
        """
        late = [*takewhile(self._is_late, reversed(self._state.asked.values()))]
        used = set()
        for request in reversed(late):
            slot = request.index % self._size
            worker = self._state.workers[slot]
            if worker is None:
                worker = self._state.workers[slot] = Handle(self._setup)
            worker.submit(request)
            used.add(worker)
        for worker in used:
            worker.flush()

    def _is_late(self, request: Request) -> bool:
        worker = self._state.workers[request.index % self._size]
        return request.id not in self._state.answers and (
            worker is None or worker.newest < request.id
        )

    def _replace_failed(self) -> None:
        for slot, worker in enumerate(self._state.workers):
            if worker and worker.fault:
                self._fail(slot, worker, *worker.fault)

    def _answered(self) -> list[Result]:
        """Returns the results that are ready; until they are removed, they stay outstanding."""
        for number in self._state.answers:
            self._state.asked.pop(number, None)
        return list(self._state.answers.values())

    def _digest_all(self) -> None:
        """Stores the answers that an interrupted call has received."""
        for worker in self._busy():
            self._digest(worker)

    def _busy(self) -> list[Handle]:
        """Returns the workers that have a request and have not failed."""
        return [w for w in self._state.workers if w and w.head and not w.fault]

    def _collect(self, end: float) -> bool:
        """Receives answers; waits for one until the time ``end``.

        Returns:
            Whether :meth:`wake` was called.
        """
        woken, busy = False, self._busy()
        with selectors.PollSelector() as selector:
            for worker in busy:
                writes = selectors.EVENT_WRITE if worker.has_unsent else 0
                selector.register(worker.socket, selectors.EVENT_READ | writes, worker)
            selector.register(self._bell, selectors.EVENT_READ)
            for key, _ in selector.select(max(end - time.monotonic(), 0.0)):
                if key.fileobj is self._bell:
                    woken = bool(self._bell.recv(4096))
                else:
                    self._serve(key.data)
        self._check(busy)
        return woken

    def _check(self, busy: list[Handle]) -> None:
        """Notes the workers that are too late or have ended."""
        for worker in busy:
            if worker.fault or not worker.head:
                continue
            if time.monotonic() >= self._deadline(worker):
                worker.fault = EnvTimeout, f"no answer within {self._limit(worker):g} s"
            elif time.monotonic() - worker.since > GLANCE and worker.process.poll() is not None:
                worker.fault = WorkerDied, None  # a child of the worker kept the connection open

    def _serve(self, worker: Handle) -> None:
        """Sends and receives as much as a worker's socket allows."""
        worker.flush()
        more = worker.read()
        self._digest(worker)
        if not more and not worker.fault:
            worker.fault = WorkerDied, None

    def _digest(self, worker: Handle) -> None:
        """Stores the answers that a worker has sent.

        After an interrupt between storing an answer and removing it from the inbox, it is stored
        again.
        """
        try:
            while (answer := worker.inbox.first()) is not None:
                request = worker.head
                result = parse_result(request, answer)
                assert request is not None
                if result.error or request.kind == "drop":
                    worker.made.discard(result.index)
                elif request.kind == "reset":
                    worker.made.add(result.index)
                self._state.answers[request.id] = result
                worker.inbox.take(request.id)
        except BadMessage as error:
            worker.fault = WorkerDied, f"its worker sent {error}"

    def _limit(self, worker: Handle) -> float:
        """Returns the time limit of the worker's current request, in seconds."""
        head = worker.head
        starts = (
            head is not None
            and head.kind in ("reset", "describe")
            and head.index not in worker.made
        )
        return self.start_timeout if starts else self.timeout

    def _deadline(self, worker: Handle) -> float:
        return worker.since + self._limit(worker)

    def _fail(self, slot: int, worker: Handle, kind: type[EnvFailure], why: str | None) -> None:
        """Replaces a worker and fails its current request.

        Pending and later steps of its other environments fail too, until their next reset.
        """
        begun = worker.begun()
        if why is not None:
            worker.kill()
        why = why or worker.exit_report()
        state = self._state
        requests = [r for r in worker.requests if r.id not in state.answers]
        indices = range(slot, self.num_envs, self._size)
        failed, lost = failures(self.spec.id, indices, requests, begun, kind, why, state.lost)
        waiting = [r for r in requests if r.id not in failed]
        workers = [*state.workers]
        workers[slot] = successor(self._setup, waiting) if waiting else None
        answers = {
            **state.answers,
            **{r.id: Result(r.index, error=failed[r.id]) for r in requests if r.id in failed},
        }
        self._state = _State(workers, state.asked, answers, lost)
