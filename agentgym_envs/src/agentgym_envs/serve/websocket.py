"""uvicorn's WebSockets with limits: on frames, on the time of a message, and on unread answers."""

import asyncio
import json
from time import perf_counter
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.server import ServerProtocol

from agentgym_envs.serve.http import ClientGone
from agentgym_envs.serve.peers import PIECE, TURN, ServerConnections, UnreadLimit
from agentgym_envs.serve.refusal import RefusedRequest

MESSAGES = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
FRAMES = 1024  # pings, pongs and parts of messages at once
FRAMES_PER_SECOND = 64.0  # more of them in a longer time


class _Handshake(ServerProtocol):
    """Refuses handshakes with the bodies of this server."""

    rejected: int | None = None

    def reject(self, status: Any, text: str) -> Response:
        self.rejected = int(status)
        body = RefusedRequest(self.rejected, f"WebSocket: {text.split('.')[0]}").body()
        response = super().reject(status, json.dumps(body))
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "application/json"
        return response


class LimitedSocket(WebSocketsSansIOProtocol):
    """One WebSocket of a server with limits.

    Bytes wait while a message has no answer or an answer was not sent, and nothing more is read.

    Args:
        *args: see uvicorn's protocol.
        peers: the connections of the server.
        **kwargs: see uvicorn's protocol.
    """

    def __init__(self, *args: Any, peers: ServerConnections, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._peers = peers
        self._held = memoryview(b"")
        self._next: asyncio.Handle | None = None
        self._end: asyncio.TimerHandle | None = None
        self._frames, self._counted = 0.0, self.loop.time()
        self._waits = True
        """Whether the application waits for a message."""
        plain = self.conn
        self.conn = self._handshake = _Handshake(
            extensions=plain.available_extensions,
            max_size=plain.max_message_size,
            logger=plain.logger,
        )

    def connection_made(self, transport: Any) -> None:
        """Starts with the head of the request, which the caller passes on at once."""
        super().connection_made(transport)
        self._unread = UnreadLimit(transport, self._peers, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Passes bytes on, or keeps them while a message is pending."""
        if not self.handshake_initiated:
            self._begin(data)
            return
        if self._held or len(data) > PIECE or self._blocked():
            self._held = memoryview(bytes(self._held) + data)
            self._parse()
        else:
            super().data_received(data)
            self._watch()

    def _begin(self, head: bytes) -> None:
        super().data_received(head)
        if not self.handshake_initiated:
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
        if self._handshake.rejected is not None:
            self._peers.metrics.requests["none", self._handshake.rejected] += 1

    def _parse(self) -> None:
        """Passes the bytes that wait to the parser, piece by piece."""
        self._next, end = None, perf_counter() + TURN
        while self._held and not (self._blocked() or self.transport.is_closing()):
            piece, self._held = self._held[:PIECE], self._held[PIECE:]
            super().data_received(bytes(piece))
            if perf_counter() > end:
                break
        if self._held:
            self.transport.pause_reading()
            self._parse_later()
        elif not self.read_paused:
            self.transport.resume_reading()
        self._watch()

    def _parse_later(self) -> None:
        if self._held and self._next is None and not self._blocked():
            self._next = self.loop.call_soon(self._parse)

    def _blocked(self) -> bool:
        """Returns whether the client waits for an answer, or has not read one."""
        return not self.handshake_complete or self.read_paused or not self.writable.is_set()

    def _watch(self) -> None:
        """Gives a message that has begun to arrive a deadline."""
        begun = self.conn.current_size is not None or self.conn.reader.buffer
        if not begun or self._blocked():
            self._stop()
        elif self._end is None:
            self._end = self.loop.call_later(self._peers.limits.arrival, self.transport.abort)

    def handle_events(self) -> None:
        """Counts the frames that complete no message."""
        count = sum(
            isinstance(one, Frame) and not (one.fin and one.opcode in MESSAGES)
            for one in self.conn.events
        )
        super().handle_events()
        if count:
            now = self.loop.time()
            left = self._frames - (now - self._counted) * FRAMES_PER_SECOND
            self._frames, self._counted = max(left, 0.0) + count, now
            if self._frames > FRAMES and not self.transport.is_closing():
                self.conn.fail(1008, f"more than {FRAMES} frames without a whole message")
                self.handle_parser_exception()

    def pause_writing(self) -> None:
        """Starts the deadline of the client to read."""
        super().pause_writing()
        self._unread.start()

    def resume_writing(self) -> None:
        """Goes on with the messages that wait."""
        super().resume_writing()
        self._unread.stop()
        self._parse_later()

    async def send(self, message: Any) -> None:
        """Sends a message.

        Raises:
            ClientGone: the connection has ended.
        """
        try:
            await super().send(message)
        except ClientDisconnected as error:
            raise ClientGone from error
        self._go_on()

    async def receive(self) -> Any:
        """Returns the next message; after a signal, the end."""
        self._waits = True
        if self._peers.ending:
            self._close()
        message = await super().receive()
        self._waits = message["type"] == "websocket.disconnect"
        self._go_on()
        return message

    def _go_on(self) -> None:
        if self._held and not self.transport.is_closing():
            self.transport.pause_reading()
            self._parse_later()
        self._watch()

    def shutdown(self) -> None:
        """Ends the connection after the answer to the message that runs."""
        if self._waits:
            self._close()

    def _close(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()
        self._unread.start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the deadlines."""
        self._stop()
        self._unread.stop()
        self._held = memoryview(b"")
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None
