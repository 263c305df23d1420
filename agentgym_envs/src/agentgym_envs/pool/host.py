"""A host: runs environments for the pools of other machines, over ``agentgym serve --pool``.

Each connection of a driver gets an :class:`EnvPool` of its own, which ends with the connection. Two
threads serve a connection. One runs the pool. The other receives, and answers a ping at any time.
"""

import logging
import queue
import selectors
import socket
import struct
import sys
import threading
import time
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any, ClassVar

from agentgym_envs.errors import ArgumentError, message_of
from agentgym_envs.pool.greeting import (
    ARRIVAL,
    CHUNK,
    GREETING_LONGEST,
    check,
    keep_alive,
    receive,
    refusal_of,
)
from agentgym_envs.pool.messages import answer_of
from agentgym_envs.pool.pool import EnvPool
from agentgym_envs.pool.wire import BadMessage, Inbox, pack
from agentgym_envs.pool.workers import SpreadWorkers, Workers

log = logging.getLogger(__name__)

LOOK = 5.0  # seconds between two looks whether the drivers' machines are there
UNANSWERED = 12  # looks in a row without an acknowledgement after which a driver has vanished
KINDS = {kind: kind for kind in ("reset", "step", "bare", "oracle", "describe", "drop")}
KINDS["free"] = "drop"  # a driver moves an environment and waits for no answer
PONG = pack({"pong": True})
ACCEPTED = pack({})


class HostPool(EnvPool):
    """The pool of a driver."""

    _workers: ClassVar[type[Workers]] = SpreadWorkers

    def ask(self, index: int, kind: str, details: dict[str, Any]) -> None:
        """Requests what a driver's pool has checked."""
        self._ask(index, kind, **details)


class Connection:
    """A driver's connection.

    Args:
        connection: the socket.
        token: the host's password; None: there is none.
    """

    def __init__(self, connection: socket.socket, token: str | None):
        self._socket, self._token = connection, token
        self._sending = threading.Lock()
        self._messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._woken = False
        """Whether the pool was woken and has not looked at the messages since."""
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
        reader = threading.Thread(target=self._receive, args=(pool, inbox), daemon=True)
        reader.start()
        try:
            while self._take(pool):
                answers = []
                for result in pool.recv():
                    number = self._numbers[result.index].popleft()
                    if number is not None:
                        answers.append(answer_of(number, result))
                self._send(b"".join(answers))
        finally:
            self.stop()
            reader.join()

    def _take(self, pool: HostPool) -> bool:
        """Passes all new requests to the pool; waits for one if no request is outstanding.

        Returns:
            False at the end of the connection.
        """
        self._woken = False  # before the look at the messages: a later one wakes again
        while not pool.outstanding or not self._messages.empty():
            message = self._messages.get()
            if message is None:
                return False
            try:
                kind, index = message.pop("do"), message.pop("index")
                number = None if kind == "free" else message.pop("id")
                pool.ask(index, KINDS[kind], message)
            except (KeyError, TypeError, ArgumentError) as error:
                raise BadMessage(f"a request of another form: {message_of(error)}") from error
            self._numbers[index].append(number)
        return True

    def _receive(self, pool: HostPool, inbox: Inbox) -> None:
        """Receives requests; answers pings, whatever the environments do."""
        data = b""  # requests can have come with the arguments of the pool
        try:
            while True:
                for message in inbox.feed(data):
                    if message.get("do") == "ping":
                        self._send(PONG)
                    else:
                        self._put(pool, message)
                if not (data := self._socket.recv(CHUNK)):
                    break
        except (OSError, BadMessage) as error:
            log.info("a connection ended: %s", error)
            self.stop()
        self._put(pool, None)

    def _put(self, pool: HostPool, message: dict[str, Any] | None) -> None:
        self._messages.put(message)
        if not self._woken or message is None:  # a call of the system for each would be slow
            self._woken = True
            pool.wake()

    def _send(self, data: bytes) -> None:
        with self._sending:
            self._socket.sendall(data)


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
