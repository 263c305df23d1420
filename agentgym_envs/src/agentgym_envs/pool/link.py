"""A driver's connection to a host: its requests and their answers."""

import socket
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from agentgym_envs.pool.greeting import CHUNK
from agentgym_envs.pool.handle import PoolRequest
from agentgym_envs.pool.wire import MessageInbox, pack

PING = pack({"do": "ping"})
LONGEST_LOOK = 1.0  # seconds; a driver that works elsewhere for longer was not waiting


class _OutgoingBytes(NamedTuple):
    chunks: deque[bytes]
    sent: deque[int]
    """Bytes from the start of the first chunk that each call of ``send`` took."""


class MessageOutbox:
    """Bytes to be sent. An interrupt between any two instructions loses and repeats no byte."""

    def __init__(self) -> None:
        self._stream = _OutgoingBytes(deque(), deque())

    def __bool__(self) -> bool:
        chunks, sent = self._stream
        return sum(sent) < sum(map(len, chunks))

    def holds(self, data: bytes) -> bool:
        """Returns whether this object was put in and not sent completely."""
        return any(chunk is data for chunk in self._stream.chunks)

    def put(self, data: bytes) -> None:
        """Adds bytes."""
        self._stream.chunks.append(data)

    def send(self, connection: socket.socket) -> None:
        """Sends as much as the socket takes.

        Raises:
            OSError: the socket is broken.
        """
        with suppress(BlockingIOError):
            while rest := self._rest():
                # No bytecode between send and append.
                self._stream.sent.extend(map(connection.send, (rest,)))

    def _rest(self) -> memoryview:
        """Returns the next bytes to send, those of several messages if they are short."""
        chunks, sent = self._stream
        taken, whole = sum(sent), 0
        while whole < len(chunks) and taken >= len(chunks[whole]):
            taken -= len(chunks[whole])
            whole += 1
        if whole:
            self._stream = _OutgoingBytes(deque(islice(chunks, whole, None)), deque([taken]))
        parts, size = [], 0
        for chunk in self._stream.chunks:
            parts.append(chunk)
            size += len(chunk)
            if size >= CHUNK:
                break
        return memoryview(b"".join(parts))[taken:]


class HostLink:
    """Communicates with a host, without blocking; the host answers in any order.

    Args:
        connection: a socket on which the host has accepted the driver; it does not block.
    """

    def __init__(self, connection: socket.socket):
        self.socket = connection
        self.inbox = MessageInbox()
        """The host's answers."""
        self.made: set[int] = set()
        """The environments that the host has created."""
        self.fault: str | None = None
        """The reason to give the connection up."""
        self.silence = 0.0
        """Seconds that the driver waited since it heard anything from the host."""
        self.delay = 0.0
        """Seconds that the driver waited since the last answer."""
        self.pinged = False
        self.answered = False
        """Whether the host has answered any request."""
        self._looked = 0.0
        self._outbox = MessageOutbox()
        self._pending: dict[int, PoolRequest] = {}

    @property
    def pending(self) -> dict[int, PoolRequest]:
        """The requests without an answer, by number."""
        self._pending.pop(self.inbox.taken, None)
        return self._pending

    @property
    def head(self) -> PoolRequest | None:
        """Returns a request without an answer, if there is one."""
        return next(iter(self.pending.values()), None)

    @property
    def has_unsent(self) -> bool:
        """Whether :meth:`flush` has something to send."""
        return bool(self._outbox)

    def submit(self, request: PoolRequest) -> None:
        """Queues a request, unless an interrupted call did; :meth:`flush` sends it."""
        pending = self.pending
        if request.id in pending:
            return
        if not pending:
            self.silence = self.delay = 0.0
            self.pinged = False
        if not self._outbox.holds(request.packed):
            self._outbox.put(request.packed)
        pending[request.id] = request

    def free(self, index: int) -> None:
        """Ends an environment; the host does not answer."""
        self._outbox.put(pack({"do": "free", "index": index}))
        self.made.discard(index)

    def ping(self) -> None:
        """Asks the host for a sign of life, which comes from none of its environments."""
        self.pinged = True
        self._outbox.put(PING)
        self.flush()

    def flush(self) -> None:
        """Sends as much as the socket takes."""
        with suppress(OSError):  # the host has closed its end: read() reports it
            self._outbox.send(self.socket)

    def look(self, now: float) -> None:
        """Counts the time since the last look.

        A driver that does not call ``recv`` for an hour hears nothing, and no host is at fault.
        """
        elapsed = min(now - self._looked, LONGEST_LOOK)
        self._looked = now
        if self.pending:
            self.silence += elapsed
            self.delay += elapsed

    def read(self) -> bool:
        """Moves received bytes into :attr:`inbox`.

        Returns:
            False when the connection has ended and all its bytes have been read.
        """
        try:
            more = self.inbox.read(self.socket, CHUNK)
        except BlockingIOError:
            return True
        except OSError as error:
            self.fault = str(error)
            return False
        self.silence, self.pinged = 0.0, False
        return more

    def close(self) -> None:
        """Ends the connection, also in forks of this process."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
