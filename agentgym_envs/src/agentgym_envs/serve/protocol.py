"""uvicorn with limits: on the time and the head of a request, and on open connections."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 2**16  # bytes


class Limited(HttpToolsProtocol):
    """One connection of a server with limits.

    uvicorn holds a connection with half a request for ever. This one is closed. uvicorn's own limit
    of connections answers every request with 503 above it, also the steps of open sessions.

    Args:
        *args: see uvicorn's protocol.
        arrival: seconds in which a request must arrive.
        connections: number of open connections of the server. A new one above it closes the one
            that has been without a request for longest. If all have requests, the new one is
            closed.
        idle: the server's connections without a request; the one that waits for longest is first.
        **kwargs: see uvicorn's protocol.
    """

    def __init__(
        self,
        *args: Any,
        arrival: float,
        connections: int,
        idle: "dict[Limited, None]",
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self._arrival, self._most, self._idle = arrival, connections, idle
        self._end: asyncio.TimerHandle | None = None
        self._head = 0  # bytes since the start of the head; -1 outside a head
        self._arriving = False

    def connection_made(self, transport: Any) -> None:
        """Starts the deadline of the first request; closes a connection above the limit."""
        super().connection_made(transport)
        self._start()
        self._idle[self] = None
        if len(self.connections) > self._most:
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Passes bytes on; closes the connection if the head of a request is too long."""
        if self._head >= 0:
            self._head += len(data)
        super().data_received(data)
        if self._head > LARGEST_HEAD:
            self._abort()
        if self._arriving and self._end is None:  # most requests need no timer
            self._start()

    def on_message_begin(self) -> None:
        """Notes that a request arrives."""
        super().on_message_begin()
        self._idle.pop(self, None)
        self._head, self._arriving = 0, True
        self._stop()

    def on_headers_complete(self) -> None:
        """Notes the end of a request's head."""
        self._head = -1
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Ends the deadline of a request."""
        self._arriving = False
        self._stop()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Notes that the connection has no request."""
        waits = not self.pipeline and not self.transport.is_closing()
        super().on_response_complete()
        if waits and not self._arriving:
            self._idle[self] = None

    def handle_websocket_upgrade(self) -> None:
        """Ends the deadline; uvicorn limits WebSockets itself."""
        self._arriving = False
        self._stop()
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._stop()
        self._idle.pop(self, None)
        super().connection_lost(exc)

    def _start(self) -> None:
        self._end = self.loop.call_later(self._arrival, self._abort)

    def _stop(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None

    def _abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()
