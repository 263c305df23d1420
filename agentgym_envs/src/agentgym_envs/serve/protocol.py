"""uvicorn with limits: on the time and the head of a request, and on open connections."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 2**16  # bytes


def limited(*, arrival: float, connections: int) -> type[HttpToolsProtocol]:
    """Returns uvicorn's protocol with limits.

    uvicorn holds a connection with half a request for ever. This one is closed. uvicorn's own limit
    of connections answers every request with 503 above it, also the steps of open sessions.

    Args:
        arrival: seconds in which a request must arrive.
        connections: number of open connections. A new one above it closes the one that has been
            without a request for longest. If all have requests, the new one is closed.
    """
    idle: dict[HttpToolsProtocol, None] = {}
    """Connections without a request, the one that waits for longest first."""

    class Limited(HttpToolsProtocol):
        """One connection."""

        _end: asyncio.TimerHandle | None = None
        _head = 0  # bytes since the start of the head; -1 outside a head
        _arriving = False

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start()
            idle[self] = None
            if len(self.connections) > connections:
                oldest = next(iter(idle))
                del idle[oldest]
                oldest.transport.abort()

        def data_received(self, data: bytes) -> None:
            if self._head >= 0:
                self._head += len(data)
            super().data_received(data)
            if self._head > LARGEST_HEAD:
                self._abort()
            if self._arriving and self._end is None:  # most requests need no timer
                self._start()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            idle.pop(self, None)
            self._head, self._arriving = 0, True
            self._stop()

        def on_headers_complete(self) -> None:
            self._head = -1
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._arriving = False
            self._stop()
            super().on_message_complete()

        def on_response_complete(self) -> None:
            waits = not self.pipeline and not self.transport.is_closing()
            super().on_response_complete()
            if waits and not self._arriving:
                idle[self] = None

        def handle_websocket_upgrade(self) -> None:
            self._arriving = False
            self._stop()
            super().handle_websocket_upgrade()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            idle.pop(self, None)
            super().connection_lost(exc)

        def _start(self) -> None:
            self._end = self.loop.call_later(arrival, self._abort)

        def _stop(self) -> None:
            if self._end is not None:
                self._end.cancel()
                self._end = None

        def _abort(self) -> None:
            if self.transport is not None:
                self.transport.abort()

    return Limited
