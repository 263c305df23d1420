"""The backend of a pool on this machine: worker processes.

A worker process holds several environments and answers in order.

The pool kills and replaces a worker that dies or does not answer in time. The environment that the
worker was running fails with :class:`~agentgym_envs.errors.WorkerDied` or
:class:`~agentgym_envs.errors.EnvTimeout`. The worker's other environments lose their state, and
their steps fail with :class:`~agentgym_envs.errors.NeighbourFailed`. If the worker was idle, the
cause is unknown, and the steps of all its environments fail with ``WorkerDied``. A reset needs no
state, so the new worker answers the resets that were waiting. Other workers are not affected.
"""

import time
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile

from agentgym_envs.errors import EnvFailure, EnvRaised, EnvTimeout, WorkerDied
from agentgym_envs.pool.backend import GLANCE, PoolBackend, PoolLimits, new_state
from agentgym_envs.pool.failures import failures
from agentgym_envs.pool.handle import PoolRequest, WorkerHandle, end_all, successor
from agentgym_envs.pool.messages import parse_result
from agentgym_envs.pool.result import ForwardedResult, PoolResult
from agentgym_envs.pool.wire import BadMessage, parse, split_number

NOT_STARTED = (OSError, RuntimeError, MemoryError)  # too many open files, processes or threads
CLOSE_TIMEOUT = 5.0  # seconds in which the workers can close their environments


class WorkerBackend(PoolBackend[WorkerHandle]):
    """Worker processes; environment ``i`` runs in worker ``i % size``.

    Args:
        setup: the packed first message of a worker.
        size: number of processes.
        env_id: the environment's id, for messages.
        num_envs: number of environments.
        limits: the time limits.
    """

    def __init__(self, setup: bytes, size: int, *, env_id: str, num_envs: int, limits: PoolLimits):
        self._setup, self._size = setup, size
        self._env_id, self._num_envs, self._limits = env_id, num_envs, limits
        self.state = new_state(size)

    def slot(self, index: int) -> int:
        """Returns the worker of an environment."""
        return index % self._size

    def indices(self, slot: int) -> Iterable[int]:
        """Returns the environments of a worker."""
        return range(slot, self._num_envs, self._size)

    def dispatch(self) -> None:
        """Submits the new requests to their workers, in order.

        These are the request of this call and those of interrupted calls.
        """
        late = [*takewhile(self._is_late, reversed(self.state.asked.values()))]
        used, failed = set[WorkerHandle](), dict[int, EnvFailure]()
        for request in reversed(late):
            slot = self.slot(request.index)
            worker = self.state.links[slot]
            if worker is None and slot not in failed:
                try:
                    worker = self.state.links[slot] = WorkerHandle(self._setup)
                except NOT_STARTED as error:  # the next request tries again
                    failed[slot] = self._not_started(error)
            if worker is None:
                self.state.answers[request.id] = PoolResult(request.index, error=failed[slot])
            else:
                worker.submit(request)
                used.add(worker)
        for worker in used:
            worker.flush()

    def close(self, *, fork: bool) -> None:
        """Ends the workers, or closes a fork's copies of their sockets."""
        workers = [w for w in self.state.links if w]
        if fork:
            for worker in workers:
                worker.leave()
        else:
            end_all(workers, CLOSE_TIMEOUT)
        self.state = new_state(self._size)

    def pids(self) -> list[int]:
        """Returns the process ids of the workers that were started and not yet replaced."""
        return [w.process.pid for w in self.state.links if w]

    def _is_late(self, request: PoolRequest) -> bool:
        worker = self.state.links[self.slot(request.index)]
        return request.id not in self.state.answers and (
            worker is None or worker.newest < request.id
        )

    def replace_failed(self) -> None:
        """Fails the requests of workers with a fault, and replaces these workers."""
        for slot, worker in enumerate(self.state.links):
            if worker and worker.fault:
                self._fail(slot, worker, *worker.fault)

    def check(self, busy: list[WorkerHandle]) -> None:
        """Notes the workers that are too late or have ended."""
        for worker in busy:
            if worker.fault or not worker.head:
                continue
            if time.monotonic() >= self._deadline(worker):
                worker.fault = EnvTimeout, f"no answer within {self._limit(worker):g} s"
            elif time.monotonic() - worker.since > GLANCE and worker.process.poll() is not None:
                worker.fault = WorkerDied, None  # a child of the worker kept the connection open

    def serve(self, worker: WorkerHandle) -> None:
        """Sends and receives as much as a worker's socket allows."""
        worker.flush()
        more = worker.read()
        self.digest(worker)
        if not more and not worker.fault:
            worker.fault = WorkerDied, None

    def digest(self, worker: WorkerHandle) -> None:
        """Stores the answers that a worker has sent.

        After an interrupt between storing an answer and removing it from the inbox, it is stored
        again.
        """
        try:
            while (answer := worker.inbox.first_body()) is not None:
                request = worker.head
                result = self.read_result(request, answer)
                assert request is not None
                self.store(worker, request, result)
        except BadMessage as error:
            worker.fault = WorkerDied, f"its worker sent {error}"

    def read_result(self, request: PoolRequest | None, answer: bytes) -> PoolResult:
        """Returns the result in a worker's answer to its current request.

        Raises:
            BadMessage: the answer belongs to another request or has another form.
        """
        return parse_result(request, parse(answer))

    def next_check(self) -> float:
        """Returns the monotonic time, in seconds, at which the workers must be looked at again."""
        limits = (self._deadline(worker) for worker in self.busy())
        return min(time.monotonic() + GLANCE, *limits)

    def _limit(self, worker: WorkerHandle) -> float:
        """Returns the time limit of the worker's current request, in seconds."""
        head = worker.head
        return self._limits.timeout if head is None else self._limits.of(head, worker.made)

    def _deadline(self, worker: WorkerHandle) -> float:
        return worker.since + self._limit(worker)

    def _fail(
        self, slot: int, worker: WorkerHandle, kind: type[EnvFailure], why: str | None
    ) -> None:
        """Replaces a worker and fails its current request.

        Pending and later steps of its other environments fail too, until their next reset.
        """
        begun = worker.begun()
        if why is not None:
            worker.kill()
        why = why or worker.exit_report()
        state = self.state
        requests = [r for r in worker.requests if r.id not in state.answers]
        failed, lost = failures(
            self._env_id, self.indices(slot), requests, begun, kind, why, state.lost
        )
        waiting = [r for r in requests if r.id not in failed]
        workers = [*state.links]
        workers[slot] = None
        if waiting:
            try:
                workers[slot] = successor(self._setup, waiting)
            except NOT_STARTED as error:
                failed |= dict.fromkeys((r.id for r in waiting), self._not_started(error))
        answers = {
            **state.answers,
            **{r.id: PoolResult(r.index, error=failed[r.id]) for r in requests if r.id in failed},
        }
        self.state = state._replace(links=workers, answers=answers, lost=lost)

    def _not_started(self, error: Exception) -> EnvFailure:
        return WorkerDied(
            f"{self._env_id} did not start: no process for it ({error}); allow more open files and"
            " processes (ulimit -n, ulimit -u), or use fewer workers"
        )


class SpreadBackend(WorkerBackend):
    """Worker processes that get an equal share of the environments in use.

    An environment has a worker from its first request until it is dropped. This suits the pool of a
    host, which gets any part of a driver's environments, and passes the workers' answers on.
    """

    def read_result(self, request: PoolRequest | None, answer: bytes) -> PoolResult:
        """Returns the answer itself."""
        number, rest = split_number(answer)
        if request is None or number != request.id:
            raise BadMessage("an answer to nothing that was asked")
        failed = rest.startswith(b', "error": ')
        return ForwardedResult(request.index, error=EnvRaised("") if failed else None, rest=rest)

    def slot(self, index: int) -> int:
        """Returns the worker of an environment; chooses one that has the fewest environments."""
        places = self.state.places
        if index not in places:
            used = Counter(places.values())
            places[index] = min(range(self._size), key=lambda slot: (used[slot], slot))
        return places[index]

    def indices(self, slot: int) -> Iterable[int]:
        """Returns the environments of a worker."""
        return [index for index, place in self.state.places.items() if place == slot]
