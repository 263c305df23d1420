"""State that the connections of a server share: their number, limits and refused clients."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from agentgym_envs.serve.limits import ServerLimits
from agentgym_envs.serve.metrics import ServerMetrics
from agentgym_envs.serve.rate import RateLimit

PIECE = 2**10  # bytes that a parser gets at once, so few messages are pending at any time
TURN = 0.0005  # seconds of one connection before it is the turn of the others
SLOWEST = 2**16  # bytes of a long answer that a client must read within each arrival time
DROP = struct.pack("ii", 1, 0)  # SO_LINGER: on, for 0 s
REFUSED = 10.0  # answers per second to requests of one address without the right to an answer


@dataclass
class ServerConnections:
    """The connections of a server.

    Args:
        limits: see :class:`ServerLimits`.
        most: number of open connections.
        token: the clients' password; None: only clients on this machine.
        metrics: counts the answers that the application does not see.
    """

    limits: ServerLimits
    most: int
    token: str | None
    metrics: ServerMetrics
    strangers: dict[Any, None] = field(default_factory=dict)
    """Connections without a request that has a right to an answer, the oldest first."""
    idle: dict[Any, None] = field(default_factory=dict)
    """Other connections without a request; the one that waits for longest is first."""
    refused: RateLimit = field(default_factory=lambda: RateLimit(REFUSED))
    ending: bool = False
    """Whether the server has got a signal."""

    def add(self, peer: Any, opened: int) -> None:
        """Adds a connection; closes another one above the limit.

        Args:
            peer: the protocol of the connection.
            opened: the number of open connections with this one.
        """
        self.strangers[peer] = None
        if opened > self.most:
            oldest = next((one for one in chain(self.strangers, self.idle) if one != peer), peer)
            self.forget(oldest)
            oldest.abort()

    def forget(self, peer: Any) -> None:
        """Removes a connection that has ended."""
        self.strangers.pop(peer, None)
        self.idle.pop(peer, None)

    @property
    def patience(self) -> float:
        """Seconds in which a client must read an answer."""
        return self.limits.last_answer if self.ending else self.limits.arrival


class UnreadLimit:
    """Ends a connection whose client does not read its answers.

    Args:
        transport: the connection.
        peers: see :class:`ServerConnections`.
        abort: ends the connection.
    """

    def __init__(
        self, transport: asyncio.Transport, peers: ServerConnections, abort: Callable[[], None]
    ):
        self._transport, self._peers, self._abort = transport, peers, abort
        self._timer: asyncio.TimerHandle | None = None
        transport.set_write_buffer_limits(0)  # each byte that cannot be sent calls pause_writing

    def start(self) -> None:
        """Starts the time, again if it runs; called when bytes cannot be sent."""
        self.stop()
        size = self._transport.get_write_buffer_size()
        if size:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._peers.patience, self._check, size)

    def stop(self) -> None:
        """Stops the time; called when all bytes were sent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self, before: int) -> None:
        if self._peers.ending or self._transport.get_write_buffer_size() > before - SLOWEST:
            # The system, too, drops what was not sent.
            with suppress(OSError):
                connection = self._transport.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, DROP)
            self._abort()
        else:
            self.start()
