"""A host: runs environments for the pools of other machines, over ``agentgym serve --pool``.

Each connection of a driver has its own :class:`EnvPool` and thread. They end with the connection.
Requests and answers are passed on as they are, except for their numbers.
"""

import logging
import selectors
import socket
import struct
import sys
import threading
import time
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any, ClassVar

from agentgym_envs.errors import ArgumentError, message_of, shown
from agentgym_envs.pool.greeting import (
    ARRIVAL,
    CHUNK,
    GREETING_LONGEST,
    check,
    keep_alive,
    receive,
    refusal_of,
)
from agentgym_envs.pool.handle import Request
from agentgym_envs.pool.messages import answer_of
from agentgym_envs.pool.pool import EnvPool
from agentgym_envs.pool.wire import BadMessage, Inbox, numbered, pack, parse, split_number
from agentgym_envs.pool.workers import SpreadWorkers, Workers

log = logging.getLogger(__name__)

LOOK = 5.0  # seconds between two looks whether the drivers' machines are there
UNANSWERED = 12  # looks in a row without an acknowledgement after which a driver has vanished
KINDS = ("reset", "step", "bare", "oracle", "describe", "call", "drop")
PONG = pack({"pong": True})
ACCEPTED = pack({})


class HostPool(EnvPool):
    """The pool of a driver."""

    _workers: ClassVar[type[Workers]] = SpreadWorkers

    def forward(self, index: int, kind: str, body: bytes) -> None:
        """Requests what a driver's pool has checked.

        Args:
            index: the environment.
            kind: the kind of the request.
            body: the JSON text of the request.

        Raises:
            ArgumentError: there is no such environment.
            BadMessage: the text does not begin with a number.
        """
        number = next(self._numbers)
        _, rest = split_number(body)
        self._put(Request(number, index, kind, numbered(number, rest)))


class Connection:
    """A driver's connection.

    Args:
        connection: the socket.
        token: the host's password; None: there is none.
    """

    def __init__(self, connection: socket.socket, token: str | None):
        self._socket, self._token = connection, token
        self._numbers: defaultdict[int, deque[int | None]] = defaultdict(deque)
        """The driver's numbers of the requests, by environment, in order; None: no answer."""
        self._silent_looks = 0
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def look(self) -> None:
        """Ends the connection if the driver's machine does not acknowledge for a minute.

        Keepalive probes are not sent while data is on the way, and the system waits 15 minutes for
        the acknowledgement of data. TCP_USER_TIMEOUT would also end the connection of a driver that
        trains and does not read.
        """
        self._silent_looks = self._silent_looks + 1 if _unacknowledged(self._socket) else 0
        if self._silent_looks >= UNANSWERED:
            log.warning("a driver has vanished")
            self.stop()

    def stop(self) -> None:
        """Ends the connection; the thread then ends the pool."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        with self._socket:
            try:
                keep_alive(self._socket)
                inbox = Inbox(GREETING_LONGEST)
                pool = self._greet(inbox)
                if pool is not None:
                    with pool:
                        self._serve(pool, inbox)
            except (OSError, BadMessage) as error:
                log.info("a connection ended: %s", error)

    def _greet(self, inbox: Inbox) -> HostPool | None:
        """Returns the driver's pool, or None if it was refused."""
        try:
            check(receive(self._socket, inbox, ARRIVAL), self._token)
            self._socket.sendall(ACCEPTED)
            inbox.longest = None
            pool = _make_pool(receive(self._socket, inbox, ARRIVAL))
        except (OSError, BadMessage):
            raise
        except Exception as error:
            self._socket.sendall(refusal_of(error))
            return None
        try:
            self._socket.sendall(ACCEPTED)
        except BaseException:
            pool.close()
            raise
        return pool

    def _serve(self, pool: HostPool, inbox: Inbox) -> None:
        data = b""  # requests can have come with the arguments of the pool
        while True:
            with pool.together():
                for body in inbox.bodies(data):
                    self._pass(body, pool)
            self._answer(pool)
            while not self._wait(pool):
                self._answer(pool)
            if not (data := self._socket.recv(CHUNK)):
                return

    def _pass(self, body: bytes, pool: HostPool) -> None:
        """Passes a driver's request to the pool; answers a ping."""
        message = parse(body)
        try:
            kind = message["do"]
            if kind == "ping":
                self._socket.sendall(PONG)
                return
            index = message["index"]
            if kind == "free":  # the driver moves the environment and waits for no answer
                pool.drop(index)
            elif kind in KINDS:
                pool.forward(index, kind, body)
            else:
                raise BadMessage(f"a request {shown(kind)}")
        except (KeyError, TypeError, ArgumentError) as error:
            raise BadMessage(f"a request of another form: {message_of(error)}") from error
        self._numbers[index].append(None if kind == "free" else message["id"])

    def _answer(self, pool: HostPool) -> None:
        """Sends the answers that are ready."""
        results = pool.poll()
        if pool.broken:
            results += pool.recv(timeout=0.0)
        answers = []
        for result in results:
            number = self._numbers[result.index].popleft()
            if number is not None:
                answers.append(answer_of(number, result))
        if answers:
            self._socket.sendall(b"".join(answers))

    def _wait(self, pool: HostPool) -> bool:
        """Waits for the driver, a worker or a deadline; returns whether the driver has sent."""
        limit = pool.next_check() - time.monotonic() if pool.outstanding else None
        with selectors.PollSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            for connection, writes in pool.connections().items():
                room = selectors.EVENT_WRITE if writes else 0
                selector.register(connection, selectors.EVENT_READ | room)
            ready = selector.select(None if limit is None else max(limit, 0.0))
        return any(key.fileobj is self._socket for key, _ in ready)


class Host:
    """Accepts the connections of drivers.

    Args:
        listener: accepts connections.
        token: the password; None: there is none.
    """

    def __init__(self, listener: socket.socket, token: str | None):
        self._listener, self._token = listener, token
        self._connections: list[Connection] = []

    def serve(self) -> None:
        """Serves until an exception of a signal handler."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            while True:
                ready = selector.select(LOOK)
                self._connections = [c for c in self._connections if c.thread.is_alive()]
                if ready:
                    self._accept()
                else:
                    for connection in self._connections:
                        connection.look()

    def _accept(self) -> None:
        try:
            accepted, _ = self._listener.accept()
        except OSError as error:  # the other end has given up, or there are too many open files
            log.warning("a connection was not accepted: %s", error)
            time.sleep(0.1)
            return
        accepted.setblocking(True)
        self._connections.append(Connection(accepted, self._token))

    def close(self) -> None:
        """Ends all connections, with their pools."""
        self._listener.close()
        for connection in self._connections:
            connection.stop()
        for connection in self._connections:
            connection.thread.join()


def _make_pool(setup: dict[str, Any]) -> HostPool:
    """Returns the pool that a driver asks for.

    Raises:
        AgentGymError: an argument is wrong here.
    """
    try:
        env_id, kwargs = setup.pop("id"), setup.pop("kwargs")
        return HostPool(env_id, **setup, **kwargs)
    except (KeyError, TypeError) as error:
        raise ArgumentError(f"the arguments of the pool: {message_of(error)}") from error


def _unacknowledged(connection: socket.socket) -> bool:
    """Returns whether the other machine has not acknowledged what was repeated or probed.

    Only Linux tells. Bytes 2 and 3 of ``struct tcp_info`` count the repeats and the probes.
    """
    if sys.platform != "linux":
        return False
    with suppress(OSError):
        _, _, repeats, probes = struct.unpack(
            "4B", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 4)
        )
        return bool(repeats or probes)
    return False
