"""A backend runs the environments of a pool, in worker processes or on hosts."""

import selectors
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Container
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from agentgym_envs.errors import EnvFailure
from agentgym_envs.pool.handle import PoolRequest
from agentgym_envs.pool.result import PoolResult
from agentgym_envs.pool.wire import MessageInbox

GLANCE = 1.0  # seconds between checks whether a silent worker or host is alive


class BackendLink(Protocol):
    """A connection to a worker or a host."""

    socket: socket.socket
    inbox: MessageInbox
    """The answers of the worker or the host."""
    made: set[int]
    """The environments that exist there."""
    fault: Any
    """The reason to replace the link, or None."""

    @property
    def head(self) -> PoolRequest | None:
        """Returns the first request without an answer, if there is one."""

    @property
    def has_unsent(self) -> bool:
        """Whether something is to be sent."""


LinkT = TypeVar("LinkT", bound=BackendLink)


class PoolState(NamedTuple, Generic[LinkT]):
    """The state of a pool. Fields that change together change by one assignment of a new state."""

    links: list[LinkT | None]
    """The connections to workers or hosts, by slot."""
    asked: dict[int, PoolRequest]
    """Requests without a result from :meth:`EnvPool.recv` so far, by number."""
    answers: dict[int, PoolResult]
    """Results that the next :meth:`EnvPool.recv` returns, by the number of the request."""
    lost: dict[int, EnvFailure]
    """Environments that lost their worker or host, by index; the error answers their steps."""
    places: dict[int, int]
    """Slots of environments, by index; empty if the index itself decides the slot."""
    waiting: dict[int, PoolRequest]
    """Requests that wait for a slot, by number, in order; empty if every slot is always free."""


class PoolLimits(NamedTuple):
    """The time limits of a pool, in seconds."""

    timeout: float
    start_timeout: float

    def of(self, request: PoolRequest, made: Container[int]) -> float:
        """Returns the limit of a request.

        Args:
            request: the request.
            made: the environments that exist.
        """
        starts = request.kind in ("reset", "describe", "call") and request.index not in made
        return self.start_timeout if starts else self.timeout


def new_state(slots: int) -> PoolState[LinkT]:
    """Returns the state of a pool without requests."""
    return PoolState([None] * slots, {}, {}, {}, {}, {})


class PoolBackend(ABC, Generic[LinkT]):
    """Passes the requests of a pool on and collects the answers.

    A signal handler can raise between any two instructions. Each method leaves a state from which
    the next call can continue.
    """

    state: PoolState[LinkT]

    @abstractmethod
    def dispatch(self) -> None:
        """Passes the new requests on, in order.

        These are the request of this call and those of interrupted calls.
        """

    @abstractmethod
    def replace_failed(self) -> None:
        """Fails the requests of links with a fault, and replaces these links."""

    @abstractmethod
    def digest(self, link: LinkT) -> None:
        """Stores the answers that a link has received.

        After an interrupt between storing an answer and removing it from the inbox, it is stored
        again.
        """

    @abstractmethod
    def serve(self, link: LinkT) -> None:
        """Sends and receives as much as a link's socket allows; notes a fault."""

    @abstractmethod
    def check(self, busy: list[LinkT]) -> None:
        """Notes the links of ``busy`` that are too late or have ended."""

    @abstractmethod
    def next_check(self) -> float:
        """Returns the monotonic time, in seconds, of the next :meth:`check`."""

    @abstractmethod
    def close(self, *, fork: bool) -> None:
        """Ends all workers or connections.

        Args:
            fork: this process is a fork of the pool's owner; the workers stay.
        """

    @abstractmethod
    def pids(self) -> list[int]:
        """Returns the process ids of the workers on this machine."""

    def busy(self) -> list[LinkT]:
        """Returns the links that have a request and no fault."""
        return [link for link in self.state.links if link and link.head and not link.fault]

    @property
    def broken(self) -> bool:
        """Whether a link has a fault."""
        return any(link and link.fault for link in self.state.links)

    def digest_all(self) -> None:
        """Stores the answers that an interrupted call has received."""
        for link in self.busy():
            self.digest(link)

    def look(self) -> None:
        """Receives the answers that are there."""
        busy = self.busy()
        for link in busy:
            self.serve(link)
        self.check(busy)

    def collect(self, end: float, bell: socket.socket) -> bool:
        """Receives answers; waits for one until the time ``end``, or until ``bell`` can be read.

        Returns:
            Whether ``bell`` could be read; it is read.
        """
        woken, busy = False, self.busy()
        with selectors.PollSelector() as selector:
            for link in busy:
                writes = selectors.EVENT_WRITE if link.has_unsent else 0
                selector.register(link.socket, selectors.EVENT_READ | writes, link)
            selector.register(bell, selectors.EVENT_READ)
            for key, _ in selector.select(max(end - time.monotonic(), 0.0)):
                if key.fileobj is bell:
                    woken = bool(bell.recv(4096))
                else:
                    self.serve(key.data)
        self.check(busy)
        return woken

    def store(self, link: LinkT, request: PoolRequest, result: PoolResult) -> None:
        """Stores the result in the first message of a link, and removes the message."""
        if result.error or request.kind == "drop":
            link.made.discard(result.index)
        elif request.kind == "reset":
            link.made.add(result.index)
        self.state.answers[request.id] = result
        link.inbox.take(request.id)

    def answered(self) -> list[PoolResult]:
        """Returns the results that are ready; until they are removed, they stay outstanding."""
        for number in self.state.answers:
            self.state.asked.pop(number, None)
        return list(self.state.answers.values())

    def places_left(self) -> dict[int, int]:
        """Returns the places without those of environments that were dropped."""
        _, asked, answers, _, places, _ = self.state
        dropped = {asked[n].index for n in answers if n in asked and asked[n].kind == "drop"}
        if not dropped or not places:
            return places
        dropped -= {request.index for n, request in asked.items() if n not in answers}
        return {index: place for index, place in places.items() if index not in dropped}
