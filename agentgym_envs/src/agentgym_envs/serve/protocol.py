"""uvicorn with limits: on the bytes and seconds of a request, an answer and a connection."""

import asyncio
import json
from collections.abc import Callable
from contextlib import nullcontext, suppress
from http import HTTPStatus
from time import perf_counter
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from agentgym_envs.serve.http import READ_ON, Scope, check_sender, error_headers
from agentgym_envs.serve.peers import PIECE, TURN, ServerConnections, UnreadLimit
from agentgym_envs.serve.rate import LONGEST_WAIT
from agentgym_envs.serve.refusal import RefusedRequest
from agentgym_envs.terminal import CommandConsole

LARGEST_HEAD = 2**16  # bytes of a head, and of all that follows it without a byte of the body
MOST_HEADERS = 128  # with trailers
MOST_CHUNKED = 3  # bytes that a chunked body may take for each of its bytes, beside a largest head
NOTICE = 1.0  # seconds after a signal before a line says that the server waits
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)


class _Flow(FlowControl):
    """Reads nothing while bytes wait for the parser."""

    held = memoryview(b"")

    def resume_reading(self) -> None:
        if not self.held:
            super().resume_reading()


class LimitedProtocol(HttpToolsProtocol):
    """One connection of a server with limits.

    uvicorn holds a connection with half a request or with an unread answer for ever, and parses
    requests without a limit while it answers an earlier one. Here the bytes after a request wait
    until its answer was sent, and nothing more is read. uvicorn's own limit of connections answers
    every request with 503 above it, also the steps of open sessions.

    Args:
        *args: see uvicorn's protocol.
        peers: the connections of the server.
        **kwargs: see uvicorn's protocol.
    """

    flow: _Flow

    def __init__(self, *args: Any, peers: ServerConnections, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._peers = peers
        self._end: asyncio.TimerHandle | None = None
        self._arriving = False
        self._bytes = 0
        """Bytes since the start of the request."""
        self._bodiless = 0
        """Bytes since the start of the request or its last byte of the body."""
        self._body = 0
        """Bytes of the body."""
        self._next: asyncio.Handle | None = None
        self._running: RequestResponseCycle | None = None
        """The request that the application answers; ``cycle`` is the one that came last."""
        self._refusal: RefusedRequest | None = None
        """The error that ends this connection."""

    def connection_made(self, transport: Any) -> None:
        """Starts the deadline of the first request; closes a connection above the limit."""
        super().connection_made(transport)
        self.flow = _Flow(transport)
        self._unread = UnreadLimit(transport, self._peers, self.abort)
        self._start()
        self._peers.add(self, len(self.connections))

    def data_received(self, data: bytes) -> None:
        """Passes bytes on, or keeps them while an answer is pending."""
        if self._refusal is not None:
            self._discard(len(data))
            return
        held = self.flow.held
        if held or len(data) > PIECE or self._busy():
            self.flow.held = memoryview(bytes(held) + data)
            self._parse()
        else:
            self._feed(data)

    def _parse(self) -> None:
        """Passes the bytes that wait to the parser, piece by piece."""
        self._next, end = None, perf_counter() + TURN
        while self.flow.held and not (self._busy() or self.transport.is_closing()):
            piece, self.flow.held = self.flow.held[:PIECE], self.flow.held[PIECE:]
            self._feed(bytes(piece))
            if perf_counter() > end:
                break
        if self.flow.held:
            self.flow.pause_reading()
            self._parse_later()
        elif self._refusal is not None:
            pass
        elif self.cycle is None or len(self.cycle.body) <= HIGH_WATER_LIMIT:
            self.flow.resume_reading()

    def _feed(self, piece: bytes) -> None:
        before = self._body
        super().data_received(piece)
        self._bytes += len(piece)
        self._bodiless = self._bodiless + len(piece) if self._body == before else 0
        if self._refusal is not None or self.transport.get_protocol() is not self:
            self.flow.held = memoryview(b"")
        elif (
            len(self.headers or ()) > MOST_HEADERS
            or self._bodiless > LARGEST_HEAD
            or self._bytes > LARGEST_HEAD + MOST_CHUNKED * self._body
        ):
            limit = f"more than {MOST_HEADERS}, or {LARGEST_HEAD} bytes with the sizes of chunks"
            self._refuse(RefusedRequest(431, f"headers: {limit}; send fewer"))
        elif self._bytes > READ_ON + LARGEST_HEAD:
            self.abort()
        elif not (self._end or self.timeout_keep_alive_task or self._busy()):
            self._start()  # most requests need no timer

    def _parse_later(self) -> None:
        if self.flow.held and self._next is None and not self._busy():
            self._next = self.loop.call_soon(self._parse)

    def _busy(self) -> bool:
        """Returns whether the client waits for an answer, or has not read one."""
        return bool(self.pipeline or self.flow.write_paused or self._answers())

    def on_message_begin(self) -> None:
        """Notes that a request arrives."""
        super().on_message_begin()
        self._peers.idle.pop(self, None)
        self._bytes = self._bodiless = self._body = 0
        self._arriving = True
        self._stop()

    def on_headers_complete(self) -> None:
        """Checks that the client has a right to an answer."""
        try:
            check_sender(cast(Scope, self.scope), self._peers.token)
        except RefusedRequest as refusal:
            self._refuse(refusal)
        if self._refusal is None:
            self._peers.strangers.pop(self, None)
            super().on_headers_complete()
            if not self.pipeline:
                self._running = self.cycle

    def on_body(self, body: bytes) -> None:
        """Counts the bytes of the body."""
        self._body += len(body)
        if self._refusal is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Ends the deadline of a request."""
        self._arriving = False
        if self._refusal is not None:
            return
        self._stop()
        super().on_message_complete()
        cycle = self.cycle
        if cycle is not None and cycle.response_complete and cycle.more_body:
            cycle.more_body = False  # the answer did not need the body
            super().on_response_complete()
            self._rest()

    def on_response_complete(self) -> None:
        """Goes on with the next request."""
        waits = not self.pipeline and not self.transport.is_closing()
        if self.pipeline:
            self._running = self.pipeline[-1][0]
        super().on_response_complete()
        if self._peers.ending and self.cycle.more_body:
            self.transport.close()
        elif waits:
            self._rest()

    def _rest(self) -> None:
        """Waits for the next request."""
        if self._refusal is not None:
            self._write_refusal()
        elif self.flow.held:
            self._parse_later()
        elif not self._arriving:
            self._peers.idle[self] = None
        elif self._end is None:
            self._start()

    def pause_writing(self) -> None:
        """Starts the deadline of the client to read."""
        super().pause_writing()
        self._unread.start()

    def resume_writing(self) -> None:
        """Goes on with the requests that wait."""
        super().resume_writing()
        self._unread.stop()
        self._parse_later()

    def handle_websocket_upgrade(self) -> None:
        """Ends the deadline; the WebSocket has its own."""
        if self._refusal is not None:
            return
        self._stop()
        self._peers.forget(self)
        if self._busy():  # an earlier request has no answer yet
            self.abort()
        else:
            super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Answers what is not HTTP."""
        self._refuse(RefusedRequest(400, f"request: {msg}"))

    def _refuse(self, refusal: RefusedRequest) -> None:
        """Ends the connection with an error, after the answers to the earlier requests."""
        if self._refusal is not None:
            return
        self._refusal = refusal
        self._bytes = 0
        self._start()
        if self._busy():
            return
        if self.cycle is not None and not self.cycle.response_complete:  # it lacks its end
            if self.cycle.response_started:
                self.abort()
            self._disconnect()
        delay = 0.0
        if refusal.status in (401, 403):
            address = (self.client or ("",))[0]
            due = self._peers.refused.due(address, LONGEST_WAIT)
            delay = LONGEST_WAIT if due is None else due
        self.flow.pause_reading()
        self._next = self.loop.call_later(delay, self._write_refusal)

    def _write_refusal(self) -> None:
        """Sends the error, then waits until the client has read it.

        To close a connection with unread bytes would take the answer from the client.
        """
        refusal = self._refusal
        if refusal is None or self.transport.is_closing():
            return
        body = json.dumps(refusal.body()).encode()
        lines = [f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}".encode()]
        headers = {**dict(error_headers(refusal, body)), b"connection": b"close"}
        lines += [name + b": " + value for name, value in headers.items()]
        sent = b"" if self.parser.get_method() == b"HEAD" else body
        self.transport.write(b"\r\n".join([*lines, b"", sent]))
        self._peers.metrics.requests["none", refusal.status] += 1
        self.flow.resume_reading()
        if self._peers.ending:
            self.transport.close()
        else:
            with suppress(OSError):  # the client has gone
                self.transport.write_eof()

    def _discard(self, size: int) -> None:
        """Ignores the rest of what a refused client sends."""
        self._bytes += size
        if self._bytes > self._peers.limits.body + LARGEST_HEAD:
            self.abort()

    def shutdown(self) -> None:
        """Lets a running request finish; half a request is dropped."""
        self.flow.held = memoryview(b"")
        if self._refusal is None and (self.pipeline or self._answers()):
            self.cycle.keep_alive = False
        elif self.flow.write_paused:
            self.transport.close()
        else:
            self.abort()
        self._unread.start()

    def _answers(self) -> bool:
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._stop()
        self._unread.stop()
        self._peers.forget(self)
        self._disconnect()
        if self._next is not None:
            self._next.cancel()
        super().connection_lost(exc)

    def _start(self) -> None:
        self._stop()
        self._end = self.loop.call_later(self._peers.limits.arrival, self._late)

    def _stop(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None

    def _late(self) -> None:
        if self._refusal is None and self.flow.read_paused:  # the server itself does not read
            self._start()
        else:
            self.abort()

    def abort(self) -> None:
        """Closes the connection at once."""
        self._disconnect()
        if self.transport is not None:
            self.transport.abort()

    def _disconnect(self) -> None:
        """Ends the request that runs: its answer would fail."""
        self.flow.held = memoryview(b"")
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()


class HttpServer(uvicorn.Server):
    """uvicorn's server, which says on standard error that it waits for requests.

    Args:
        config: see uvicorn.
        peers: the connections of the server.
        on_start: called when the server answers; not if an environment cannot be made.
    """

    def __init__(
        self, config: uvicorn.Config, peers: ServerConnections, on_start: Callable[[], None]
    ):
        super().__init__(config)
        self._peers, self._on_start = peers, on_start

    async def startup(self, sockets: Any = None) -> None:
        """Starts, and calls ``on_start``."""
        await super().startup(sockets)
        if self.started:
            self._on_start()

    def capture_signals(self) -> Any:
        """Leaves the signals to the command."""
        return nullcontext()

    async def shutdown(self, sockets: Any = None) -> None:
        """Ends after the running requests."""
        self._peers.ending = True
        notice = asyncio.create_task(self._notice())
        try:
            await super().shutdown(sockets)
        finally:
            notice.cancel()

    async def _notice(self) -> None:
        await asyncio.sleep(NOTICE)
        count, limit = len(self.server_state.connections), self.config.timeout_graceful_shutdown
        if count:
            err.print(
                f"waiting at most {limit} s for the requests of {count} connections; another"
                " signal ends the server now",
                soft_wrap=True,
            )
