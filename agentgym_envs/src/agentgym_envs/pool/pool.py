"""EnvPool: many environments in a few processes, each stepped as soon as it is ready.

Every request gets exactly one :class:`PoolResult`. A failure is an error in it, never a reward.
A backend runs the environments: :mod:`.workers` on this machine or :mod:`.hosts` on others.

A signal handler, such as that of Ctrl-C, can raise between any two instructions. A later
:meth:`EnvPool.recv` continues from there. Every change of the state is therefore atomic: one
assignment, one container operation, or one C call. Interrupted work is repeated.
"""

import operator
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from types import MappingProxyType
from typing import Any, ClassVar

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import ArgumentError
from agentgym_envs.pool.backend import PoolBackend, PoolLimits
from agentgym_envs.pool.failures import STATELESS
from agentgym_envs.pool.handle import PoolRequest
from agentgym_envs.pool.messages import check_limit, check_positive, packed
from agentgym_envs.pool.result import PoolResult
from agentgym_envs.pool.workers import WorkerBackend
from agentgym_envs.processes import module_folders

NO_FLAGS: Mapping[str, bool] = MappingProxyType({})


class EnvPool:
    """Runs ``num_envs`` copies of an environment in ``workers`` processes.

    Args:
        env_id: a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        num_envs: number of environments.
        workers: number of processes; by default one per CPU core, at most one per environment. With
            ``hosts`` it is the number on each host.
        timeout: time limit of one call of an environment, in seconds.
        start_timeout: time limit for creating an environment or for its first reset, in seconds.
            This includes starting the worker, imports, building an index and starting a simulator.
            The pool raises it to ``timeout`` if it is lower.
        action_format: the format of responses, a key of ``agentgym_envs.wrappers.FORMATS``; with
            None a response is the action.
        hosts: addresses of ``agentgym serve --pool`` on other machines, such as "10.0.0.2:9000".
            The environments run there, spread evenly. With None they run on this machine. An entry
            can change while the pool is open: the pool reads it before it connects to a lost host
            again.
        token: the password of the hosts; by default the variable ``AGENTGYM_POOL_TOKEN``.
        **kwargs: passed to ``gymnasium.make``, JSON-able.

    Raises:
        UnknownName: no such id.
        BrokenPlugin: the environment's package is broken.
        ArgumentError: a count, time or step limit that is not positive, or a keyword that is not
            JSON-able; a host refuses the pool, or no host can be reached.

    >>> with EnvPool("agentgym/Maze-v1", num_envs=2, workers=1) as pool:
    ...     pool.reset(1, seed=7)
    ...     (result,) = pool.recv()
    >>> result.index, result.info["goal"], result.error
    (1, 'take the lamp', None)
    """

    _workers: ClassVar[type[WorkerBackend]] = WorkerBackend

    def __init__(
        self,
        env_id: str,
        num_envs: int,
        *,
        workers: int | None = None,
        timeout: float = 60.0,
        start_timeout: float = 300.0,
        action_format: str | None = None,
        hosts: Sequence[str] | None = None,
        token: str | None = None,
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
        setup = {"id": env_id, "kwargs": kwargs, "action_format": action_format}
        limits = PoolLimits(timeout, self.start_timeout)
        self._backend: PoolBackend[Any] = (
            self._make_workers(setup, workers, limits)
            if hosts is None
            else self._make_hosts(setup, workers, limits, hosts, token)
        )
        self._owner = os.getpid()
        self._numbers = count(1)
        self._bell, self._rope = socket.socketpair()
        self._bell.setblocking(False)
        self._rope.setblocking(False)
        self._closed = self._held = False

    @property
    def outstanding(self) -> int:
        """The number of results that :meth:`recv` has not returned yet."""
        state = self._backend.state
        return len(state.asked.keys() | state.answers.keys())

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
        renews = seed is not None or "task_id" in (options or {})
        flags = {"renews": renews and not more, "pins": bool(more)}
        self._ask(index, "reset", flags, seed=seed, options=options, **more)

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

        ``PoolResult.action`` holds the oracle's action.
        """
        self._ask(index, "oracle")

    def ask_description(self, index: int) -> None:
        """Requests a description of the environment.

        The result's ``info`` holds the fields of a :class:`~agentgym_envs.pool.EnvDescription`.
        The worker creates the environment if it does not exist.
        """
        self._ask(index, "describe")

    def ask_call(self, index: int, name: str, arguments: str) -> None:
        """Requests the value of an environment's attribute, or of a call if it is a function.

        The result's ``info`` holds the value as ``{"value": …}``, a Python literal, or the error as
        ``{"raised": …, "message": …}``. An error does not harm the environment. The worker creates
        the environment if it does not exist.

        Args:
            index: the environment.
            name: the attribute of the environment, or of a wrapper.
            arguments: a Python literal: the positional and the keyword arguments.
        """
        self._ask(index, "call", name=name, arguments=arguments)

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
            self._backend.dispatch()

    def recv(self, *, timeout: float | None = None) -> list[PoolResult]:
        """Waits until at least one request is answered or has failed.

        Args:
            timeout: longest wait in seconds; with None only the environments' limits apply.

        Returns:
            All results that are ready. The list is empty if nothing is outstanding, the time is
            over, or :meth:`wake` was called.
        """
        self._check_owner()
        end = None if timeout is None else time.monotonic() + timeout
        backend = self._backend
        backend.dispatch()
        backend.replace_failed()
        backend.digest_all()
        while not backend.state.answers and backend.state.asked:
            check = backend.next_check()
            woken = backend.collect(check if end is None else min(check, end), self._bell)
            backend.replace_failed()
            if woken or (end is not None and time.monotonic() >= end):
                break
        places, results = backend.places_left(), backend.answered()
        backend.state = backend.state._replace(answers={}, places=places)
        return results  # CPython handles no signal between an assignment and a return

    def poll(self) -> list[PoolResult]:
        """Returns the results that are ready. Unlike :meth:`recv`, it never blocks.

        It replaces no worker: if :attr:`broken` is true afterwards, call :meth:`recv`.
        """
        self._check_owner()
        backend = self._backend
        backend.dispatch()
        backend.look()
        places, results = backend.places_left(), backend.answered()
        backend.state = backend.state._replace(answers={}, places=places)
        return results

    @property
    def broken(self) -> bool:
        """Whether a worker or a host has failed that was not replaced yet."""
        return self._backend.broken

    def connections(self) -> dict[socket.socket, bool]:
        """Returns the sockets of the workers or hosts that have a request.

        The value tells whether the socket must also be watched for room to write.
        """
        return {link.socket: link.has_unsent for link in self._backend.busy()}

    def next_check(self) -> float:
        """Returns the monotonic time, in seconds, at which the workers must be looked at again."""
        return self._backend.next_check()

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
        self._backend.close(fork=os.getpid() != self._owner)

    def __enter__(self) -> "EnvPool":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()

    def pids(self) -> list[int]:
        """Returns the process ids of the workers that were started and not yet replaced."""
        return self._backend.pids()

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise gymnasium.error.ClosedEnvironmentError(
                f"the pool belongs to process {self._owner}: make one in this process"
            )

    def _ask(
        self, index: int, kind: str, flags: Mapping[str, bool] = NO_FLAGS, **details: Any
    ) -> None:
        self._check_owner()
        number = next(self._numbers)
        content = packed(
            {"id": number, "do": kind, "index": index, **details}, f"a {kind} of {self.spec.id}"
        )
        self._put(PoolRequest(number, index, kind, content, **flags))

    def _put(self, request: PoolRequest) -> None:
        number, index = request.id, request.index
        if self._closed:
            raise gymnasium.error.ClosedEnvironmentError("the pool is closed")
        if not 0 <= index < self.num_envs:
            raise ArgumentError(f"there is no environment {index}, only 0 to {self.num_envs - 1}")
        state = self._backend.state
        if index in state.lost and request.kind not in STATELESS:
            state.answers[number] = PoolResult(index, error=state.lost[index])
            return
        if index in state.lost:
            lost = {i: error for i, error in state.lost.items() if i != index}
            self._backend.state = state._replace(asked={**state.asked, number: request}, lost=lost)
        else:
            state.asked[number] = request
        if not self._held:
            self._backend.dispatch()

    def _make_workers(
        self, setup: dict[str, Any], workers: int | None, limits: PoolLimits
    ) -> PoolBackend[Any]:
        return self._workers(
            packed({**setup, "path": module_folders()[1]}, f"the keywords of {self.spec.id}"),
            min(self.num_envs, workers or os.cpu_count() or 1),
            env_id=self.spec.id,
            num_envs=self.num_envs,
            limits=limits,
        )

    def _make_hosts(
        self,
        setup: dict[str, Any],
        workers: int | None,
        limits: PoolLimits,
        hosts: Sequence[str],
        token: str | None,
    ) -> PoolBackend[Any]:
        from agentgym_envs.pool.hosts import HostBackend  # a worker process does not need it

        more = {"num_envs": self.num_envs, "workers": workers, **limits._asdict()}
        packed_setup = packed({**setup, **more}, f"the keywords of {self.spec.id}")
        return HostBackend(hosts, token, packed_setup, env_id=self.spec.id, limits=limits)
