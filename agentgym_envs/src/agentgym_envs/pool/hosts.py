"""The backend of a pool on other machines. It has a connection to each host; a host runs a pool.

A host answers for everything that happens there: its pool limits the time of every call and
replaces workers, and its failures arrive as they are. This backend deals with the loss of a host
alone. A host is lost if its connection ends, if it does not answer a ping while the driver waits,
or if no request is answered within the limits of its environments. The steps of its environments
then fail with :class:`~agentgym_envs.errors.HostLost`. A reset needs no state, so another host
answers the resets that were waiting. The backend tries to connect to a lost host again, with pauses
that grow.

An environment has a host from its first request until it is dropped or its host is lost. After a
host has come back, resets move environments to it.
"""

import logging
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from agentgym_envs.errors import AgentGymError, ArgumentError, HostLost, NoHost
from agentgym_envs.pool import greeting
from agentgym_envs.pool.backend import GLANCE, PoolBackend, PoolLimits, PoolState, new_state
from agentgym_envs.pool.failures import stateless
from agentgym_envs.pool.handle import PoolRequest
from agentgym_envs.pool.link import LONGEST_LOOK, HostLink
from agentgym_envs.pool.messages import parse_result
from agentgym_envs.pool.result import PoolResult
from agentgym_envs.pool.wire import BadMessage

log = logging.getLogger(__name__)

PING_AFTER = 10.0  # seconds of waiting after which a silent host is asked for a sign of life
PONG_WITHIN = 20.0  # seconds in which it must answer
GRACE = 30.0  # seconds that a host has in addition to its environments' time limit
PAUSES = 0.5, 30.0  # first and longest pause before a lost host is tried again, in seconds
TRIAL = 0.1  # seconds between two looks at an attempt to connect


class ConnectionAttempt:
    """Connects to a host in a thread, so that no other host waits."""

    def __init__(self, address: str, token: str | None, setup: bytes):
        self.connection: socket.socket | None = None
        self.error: Exception | None = None
        self._abandoned = False
        self.thread = threading.Thread(
            target=self._connect, args=(address, token, setup), daemon=True
        )
        self.thread.start()

    def abandon(self) -> None:
        """Closes the connection, also one that is still to come."""
        self._abandoned = True
        if self.connection:
            self.connection.close()

    def _connect(self, *arguments: object) -> None:
        try:
            self.connection = greeting.connect(*arguments)  # type: ignore[arg-type]
        except Exception as error:
            self.error = error
        if self._abandoned:
            self.abandon()


class _HostSlot:
    """A host's address, and the attempts to connect to it."""

    def __init__(self, address: str):
        self.address = address
        self.attempt: ConnectionAttempt | None = None
        self.error: Exception | str = ""
        self.pause = PAUSES[0]
        self.next_try = 0.0


class HostBackend(PoolBackend[HostLink]):
    """Connections to hosts.

    Args:
        addresses: the hosts; read again for a lost host before each attempt to connect.
        token: their password.
        setup: the packed arguments of a host's pool.
        env_id: the environment's id, for messages.
        limits: the time limits.

    Raises:
        AgentGymError: a host refuses the pool, or none can be reached.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        token: str | None,
        setup: bytes,
        *,
        env_id: str,
        limits: PoolLimits,
    ):
        self._check(addresses)
        self._greeting = token or os.environ.get(greeting.TOKEN), setup
        self._env_id, self._limits = env_id, limits
        self._addresses = addresses
        self._hosts = [_HostSlot(address) for address in addresses]
        self._newest = 0
        """The number of the last request that was seen."""
        self._pinned: set[int] = set()
        """Environments that were created with additional keywords; other hosts do not know them."""
        self._uneven = False
        """Whether a host can have fewer environments than its share."""
        self._stranded = self._looked = 0.0
        self.state: PoolState[HostLink] = new_state(len(addresses))
        self._start()

    @staticmethod
    def _check(addresses: Sequence[str]) -> None:
        if isinstance(addresses, str) or not addresses:
            raise ArgumentError(f"hosts={addresses!r}: must be a list of addresses")
        parsed = [greeting.parse_address(address) for address in addresses]
        if len(set(parsed)) < len(parsed):
            raise ArgumentError(f"hosts={list(addresses)}: each address can be there once only")

    def _start(self) -> None:
        """Connects to all hosts at the same time."""
        attempts = [ConnectionAttempt(host.address, *self._greeting) for host in self._hosts]
        try:
            for attempt in attempts:
                attempt.thread.join()
            for host, attempt in zip(self._hosts, attempts, strict=True):
                if isinstance(attempt.error, AgentGymError):
                    raise attempt.error
                host.error = attempt.error or ""
            if not any(attempt.connection for attempt in attempts):
                raise ArgumentError(f"hosts: none can be reached: {self._errors()}")
        except BaseException:
            for attempt in attempts:
                attempt.abandon()
            raise
        for slot, attempt in enumerate(attempts):
            if attempt.connection:
                self.state.links[slot] = HostLink(attempt.connection)
            else:
                log.warning("host %s: %s", self._hosts[slot].address, attempt.error)

    def dispatch(self) -> None:
        """Passes the new requests on, and those that had to wait for a host."""
        state = self.state
        late = [*takewhile(lambda r: r.id > self._newest, reversed(state.asked.values()))]
        for request in reversed(late):
            state.waiting[request.id] = request
            self._newest = request.id
        for request in [*state.waiting.values()]:
            if request.kind == "drop" and request.index not in state.places:
                state.answers[request.id] = PoolResult(request.index)
            elif (chosen := self._link(request)) is not None:
                chosen.submit(request)
            else:
                continue  # no host is there
            state.waiting.pop(request.id, None)
        for link in filter(None, state.links):
            if link.has_unsent:
                link.flush()

    def replace_failed(self) -> None:
        """Gives lost hosts up; connects to them again."""
        for slot, link in enumerate(self.state.links):
            if link and link.fault:
                self._fail(slot, link, link.fault)
        self._reconnect()
        self.dispatch()

    def serve(self, link: HostLink) -> None:
        """Sends and receives as much as a socket allows."""
        link.flush()
        more = link.read()
        self.digest(link)
        if not more and not link.fault:
            link.fault = "it closed the connection"

    def check(self, busy: list[HostLink]) -> None:
        """Notes the hosts that are silent or too late; connects to lost hosts."""
        now = time.monotonic()
        for link in busy:
            link.look(now)
            self._watch(link)
        self._strand(now)
        self._reconnect()
        self.dispatch()

    def next_check(self) -> float:
        """Returns the monotonic time, in seconds, at which the hosts must be looked at again."""
        trying = any(host.attempt for host in self._hosts)
        return time.monotonic() + (TRIAL if trying else GLANCE)

    def close(self, *, fork: bool) -> None:
        """Ends the connections, with which the hosts end their workers."""
        for link in filter(None, self.state.links):
            link.socket.close() if fork else link.close()
        for host in self._hosts:
            if host.attempt and not fork:
                host.attempt.abandon()
        self.state = new_state(len(self._hosts))

    def pids(self) -> list[int]:
        """Returns an empty list; the workers are on other machines."""
        return []

    def _link(self, request: PoolRequest) -> HostLink | None:
        """Returns the connection for a request; chooses a host if the environment has none.

        That is one of those with the fewest environments.
        """
        index, (links, *_, places, _) = request.index, self.state
        slots = [slot for slot, link in enumerate(links) if link]
        if not slots:
            return None
        if index not in places or (self._uneven and request.renews):
            used = Counter(places.values())
            best = min(slots, key=lambda slot: (used[slot], slot))
            if index not in places:
                places[index] = best
            elif used[places[index]] - used[best] >= 2:
                self._move(index, best)
            else:
                self._uneven = max(used[slot] for slot in slots) - used[best] >= 2
        if request.pins:
            self._pinned.add(index)
        return links[places[index]]

    def _move(self, index: int, slot: int) -> None:
        """Moves an environment that nothing was asked of to another host."""
        link = self.state.links[self.state.places[index]]
        assert link is not None
        busy = any(request.index == index for request in link.pending.values())
        if not busy and index not in self._pinned:
            link.free(index)  # first: an interrupt must leave no environment behind
            self.state.places[index] = slot

    def digest(self, link: HostLink) -> None:
        """Stores the answers that a host has sent.

        After an interrupt between storing an answer and removing it from the inbox, it is stored
        again.
        """
        try:
            while (answer := link.inbox.first()) is not None:
                pending = link.pending  # forgets the request of the last answer
                if "pong" in answer:
                    link.inbox.take()
                    continue
                request = pending.get(answer.get("id", 0))
                result = parse_result(request, answer)
                assert request is not None
                link.delay, link.answered = 0.0, True
                self.store(link, request, result)
        except (BadMessage, TypeError) as error:
            link.fault = f"it sent {error}"

    def _watch(self, link: HostLink) -> None:
        """Gives up a host that is silent for too long."""
        if link.silence >= PING_AFTER and not link.pinged:
            link.ping()
        if link.silence >= PING_AFTER + PONG_WITHIN:
            link.fault = f"it was silent for {link.silence:.0f} s"
        elif link.head and link.delay >= self._limits.timeout + GRACE:
            limit = GRACE + max(self._limits.of(r, link.made) for r in link.pending.values())
            if link.delay >= limit:
                link.fault = f"it answered nothing within {limit:g} s"

    def _fail(self, slot: int, link: HostLink, why: str) -> None:
        """Gives a host up; fails the steps of its environments; moves the resets that wait."""
        host = self._hosts[slot]
        link.close()
        if link.answered:
            host.pause = PAUSES[0]
        host.error, host.next_try = why, time.monotonic() + host.pause
        state = self.state
        requests = [r for r in link.pending.values() if r.id not in state.answers]
        gone = [index for index, place in state.places.items() if place == slot]
        lost = {**state.lost, **{index: self._loss(index, host, why) for index in gone}}
        failed = stateless(sorted(requests, key=_number), lost)
        left = [r for r in (*requests, *state.waiting.values()) if r.id not in failed]
        links = [*state.links]
        links[slot] = None
        self._pinned -= set(gone)
        self.state = state._replace(
            links=links,
            answers={
                **state.answers,
                **{
                    r.id: PoolResult(r.index, error=failed[r.id])
                    for r in requests
                    if r.id in failed
                },
            },
            lost=lost,
            places={index: place for index, place in state.places.items() if place != slot},
            waiting={request.id: request for request in sorted(left, key=_number)},
        )
        log.warning("host %s was lost with %d environments: %s", host.address, len(gone), why)

    def _loss(self, index: int, host: _HostSlot, why: str) -> HostLost:
        return HostLost(
            f"{self._env_id} environment {index} was lost with host {host.address}: {why}"
        )

    def _reconnect(self) -> None:
        """Starts attempts to connect to lost hosts, and uses those that succeeded."""
        for slot, host in enumerate(self._hosts):
            attempt = host.attempt
            if self.state.links[slot]:
                host.attempt = None
            elif attempt is None:
                if time.monotonic() >= host.next_try:
                    if slot < len(self._addresses):  # the list is the caller's
                        host.address = self._addresses[slot]
                    host.attempt = ConnectionAttempt(host.address, *self._greeting)
            elif not attempt.thread.is_alive():
                host.pause = min(2 * host.pause, PAUSES[1])
                host.next_try = time.monotonic() + host.pause
                if attempt.connection:
                    log.warning("host %s is back", host.address)
                    self._uneven = True
                    self.state.links[slot] = HostLink(attempt.connection)
                else:
                    host.error = attempt.error or ""
                host.attempt = None

    def _strand(self, now: float) -> None:
        """Fails the requests that have waited for any host for too long."""
        elapsed, self._looked = min(now - self._looked, LONGEST_LOOK), now
        state = self.state
        self._stranded = self._stranded + elapsed if state.waiting else 0.0
        if self._stranded < self._limits.start_timeout:
            return
        error = NoHost(
            f"{self._env_id}: no host can be reached for {self._limits.start_timeout:g} s:"
            f" {self._errors()}"
        )
        failed = {r.id: PoolResult(r.index, error=error) for r in state.waiting.values()}
        lost = {**state.lost, **{r.index: error for r in state.waiting.values()}}
        self.state = state._replace(answers={**state.answers, **failed}, lost=lost, waiting={})
        self._stranded = 0.0

    def _errors(self) -> str:
        return "; ".join(f"{host.address}: {host.error}" for host in self._hosts)


def _number(request: PoolRequest) -> int:
    return request.id
