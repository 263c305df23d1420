"""A host: runs environments for the pools of other machines, over ``agentgym serve --pool``.

Each connection of a driver has its own :class:`EnvPool` and thread, from its greeting on. They end
with the connection. Requests and answers are passed on as they are, except for their numbers.
"""

import logging
import resource
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
    FIRST_CHUNK,
    GREETING_LONGEST,
    GREETING_READS,
    GREETING_SECONDS,
    GREETINGS,
    check,
    keep_alive,
    receive,
    refusal_of,
)
from agentgym_envs.pool.handle import PoolRequest
from agentgym_envs.pool.messages import answer_of
from agentgym_envs.pool.pool import EnvPool
from agentgym_envs.pool.wire import BadMessage, MessageInbox, numbered, pack, parse, split_number
from agentgym_envs.pool.workers import SpreadBackend, WorkerBackend

log = logging.getLogger(__name__)

LOOK = 5.0  # seconds between two looks whether the drivers' machines are there
UNANSWERED = 12  # looks in a row without an acknowledgement after which a driver has vanished
KINDS = ("reset", "step", "bare", "oracle", "describe", "call", "drop")
PONG = pack({"pong": True})
ACCEPTED = pack({})


class HostPool(EnvPool):
    """The pool of a driver."""

    _workers: ClassVar[type[WorkerBackend]] = SpreadBackend

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
        self._put(PoolRequest(number, index, kind, numbered(number, rest)))


class DriverConnection:
    """A driver's connection.

    Args:
        connection: the socket; the driver has sent its greeting.
        inbox: what came with the greeting.

    Raises:
        RuntimeError: the system allows no further thread.
    """

    def __init__(self, connection: socket.socket, inbox: MessageInbox):
        self._socket, self._inbox = connection, inbox
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
                pool = self._begin()
                if pool is not None:
                    with pool:
                        self._serve(pool)
            except (OSError, BadMessage) as error:
                log.info("a connection ended: %s", error)

    def _begin(self) -> HostPool | None:
        """Returns the driver's pool, or None if it was refused."""
        try:
            self._socket.sendall(ACCEPTED)
            self._inbox.longest = None
            pool = _make_pool(receive(self._socket, self._inbox, ARRIVAL))
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

    def _serve(self, pool: HostPool) -> None:
        data = b""  # requests can have come with the arguments of the pool
        while True:
            with pool.together():
                for body in self._inbox.bodies(data):
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


class _Greeting:
    """A connection that has not sent its greeting."""

    def __init__(self) -> None:
        self.inbox = MessageInbox(GREETING_LONGEST)
        self.end = time.monotonic() + GREETING_SECONDS
        self.reads = 0

    def read(self, connection: socket.socket) -> dict[str, Any] | None:
        """Returns the greeting, or None if it has not arrived.

        Raises:
            BadMessage: the bytes are not a message, or arrive in too many parts.
            OSError: the connection is broken or closed.
        """
        self.reads += 1
        if self.reads > GREETING_READS:
            raise BadMessage("a greeting in too many parts")
        if not self.inbox.read(connection, FIRST_CHUNK):
            raise ConnectionResetError("the connection was closed")
        message = self.inbox.first()
        if message is not None:
            self.inbox.take()
        return message


class HostServer:
    """Accepts the connections of drivers.

    Args:
        listener: accepts connections.
        token: the password; None: there is none.
    """

    def __init__(self, listener: socket.socket, token: str | None):
        self._listener, self._token = listener, token
        self._connections: list[DriverConnection] = []
        self._greetings: dict[socket.socket, _Greeting] = {}
        """Connections without a greeting, the oldest first."""
        # Strangers leave room for the files of the workers.
        self._most = min(GREETINGS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Serves until an exception of a signal handler."""
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        looked = time.monotonic()
        while True:
            for key, _ in self._selector.select(1.0 if self._greetings else LOOK):
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket) and key.fileobj in self._greetings:
                    self._greet(key.fileobj)
            now = time.monotonic()
            while self._greetings and next(iter(self._greetings.values())).end < now:
                self._close_oldest()
            if now - looked >= LOOK:
                looked = now
                self._connections = [c for c in self._connections if c.thread.is_alive()]
                for connection in self._connections:
                    connection.look()

    def _accept(self) -> None:
        try:
            accepted, _ = self._listener.accept()
        except OSError as error:  # the other end has given up, or there are too many open files
            if self._greetings:
                self._close_oldest()
            else:
                log.warning("a connection was not accepted: %s", error)
                time.sleep(0.1)
            return
        accepted.setblocking(False)
        if len(self._greetings) >= self._most:
            self._close_oldest()
        self._greetings[accepted] = _Greeting()
        self._selector.register(accepted, selectors.EVENT_READ)

    def _greet(self, accepted: socket.socket) -> None:
        """Reads a greeting; starts the connection of a driver, and refuses a stranger."""
        greeting = self._greetings[accepted]
        try:
            message = greeting.read(accepted)
            if message is None:
                return
            check(message, self._token)
            self._forget(accepted)
            accepted.setblocking(True)
            self._connections.append(DriverConnection(accepted, greeting.inbox))
            return
        except (OSError, BadMessage) as error:
            log.info("a connection ended: %s", error)
        except Exception as error:
            with suppress(OSError):
                accepted.send(refusal_of(error))
        self._forget(accepted)
        accepted.close()

    def _close_oldest(self) -> None:
        oldest = next(iter(self._greetings))
        self._forget(oldest)
        oldest.close()

    def _forget(self, accepted: socket.socket) -> None:
        if self._greetings.pop(accepted, None):
            self._selector.unregister(accepted)

    def close(self) -> None:
        """Ends all connections, with their pools."""
        self._listener.close()
        while self._greetings:
            self._close_oldest()
        self._selector.close()
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
