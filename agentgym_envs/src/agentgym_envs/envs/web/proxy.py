"""A proxy on loopback that limits the network access of a browser's pages.

Every request of an episode passes the proxy. Apart from their documents, pages send requests by
redirects, workers, sockets, beacons, prefetches and speculation rules. The proxy answers the
requests that the task serves, passes on those that it allows, and refuses the rest.
"""

import os
import select
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

CHUNK = 2**16
READS = 3  # of the table of connections, which can miss a row while other connections end
UNKNOWN_USER = -1
LONGEST = 2000  # characters of an address that are compared
SERVICE_WORKER = "service-worker"  # header of a request for the script of a service worker
# Some browsers request the icon once, whatever the page contains: its refusal is not counted.
ICON = "/favicon.ico"
HOP = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "transfer-encoding",
        "content-length",
    )
)
"""Headers of the connection between a browser and its proxy, or that the proxy writes itself."""


class ProxyReply(NamedTuple):
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ProxyRequest(NamedTuple):
    """A page's request; header names are in lower case."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


Serve = Callable[[ProxyRequest], ProxyReply | bool]
"""Answers a request, or returns whether the request may leave the machine.

A tunnel is a CONNECT request for ``//host:port``.
"""


def origin_of(url: str) -> str:
    """Returns scheme, host and port of an address."""
    return "/".join(url.split("/")[:3])[:200]


def _bare(url: str) -> str:
    """Returns an address in the form of requests: without a fragment."""
    bare = url.partition("#")[0]
    return (bare if urlsplit(bare).path else f"{bare}/")[:LONGEST]


def _tunnel(url: str) -> str:
    """Returns the address of the tunnel that a page's address needs."""
    parts = urlsplit(url)
    return f"//{parts.hostname}:{parts.port or (443 if parts.scheme in ('https', 'wss') else 80)}"


class LoopbackProxy:
    """A proxy that listens on a free port.

    Args:
        serve: decides about every request; called by one thread at a time.

    Attributes:
        address: address for the browser's settings.
        reached: origins that were answered.
        passed: whether a request was passed on.
        trouble: the exception that ``serve`` raised; None without one.
        lock: held while ``serve`` is called.
        browser_user: user id of the browser. Its connections are accepted, and those of this
            process's user.
    """

    def __init__(self, serve: Serve):
        self.reached: set[str] = set()
        self.passed = False
        self.browser_user: int | None = None
        self._refused: set[str] = set()  # addresses
        self._dead: dict[str, str] = {}  # servers that could not be reached, and the reasons
        self.trouble: Exception | None = None
        self._serve, self.lock = serve, threading.Lock()
        self._server = _ProxyServer(self)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        ).start()

    @property
    def blocked(self) -> Counter[str]:
        """Number of different addresses that were refused, by scheme, host and port.

        The address of a tunnel, which https and WebSockets need, has no scheme. Repeated requests
        do not count, because browsers repeat requests at will.
        """
        return Counter(origin_of(url).lstrip("/") for url in self._refused)

    def decide(self, request: ProxyRequest) -> ProxyReply | bool:
        """Returns the decision about a request, and counts it."""
        with self.lock:
            try:
                answer = SERVICE_WORKER not in request.headers and self._serve(request)
            except Exception as error:
                self.trouble, answer = error, False
            if answer:
                self.reached.add(origin_of(request.url))
                self.passed = self.passed or answer is True
            elif request.url != origin_of(request.url) + ICON:
                self._refused.add(request.url[:LONGEST])
            return answer

    def refused(self, url: str) -> bool:
        """Returns whether a page's address was refused in this episode."""
        return bool({_bare(url), _tunnel(url)} & self._refused)

    def reason(self, url: str) -> str:
        """Returns why an address does not open, or "" if this proxy let it pass."""
        if self.refused(url):
            return "it is not part of this task"
        place = _tunnel(url).lstrip("/")
        return (
            f"the server at {place} does not answer ({self._dead[place]})"
            if place in self._dead
            else ""
        )

    def lost(self, host: str, port: int, error: OSError) -> None:
        """Remembers that a server could not be reached."""
        self._dead[f"{host}:{port}"] = error.strerror or str(error)

    def found(self, host: str, port: int) -> None:
        """Forgets that a server could not be reached."""
        self._dead.pop(f"{host}:{port}", None)

    def forget(self) -> None:
        """Clears all counts."""
        self._refused.clear()
        self._dead.clear()
        self.reached.clear()
        self.trouble, self.passed = None, False

    def close(self) -> None:
        """Stops listening and ends all connections."""
        self._server.shutdown()
        self._server.server_close()


def owner(port: int, server_port: int) -> int | None:
    """Returns the user of the process that holds a connection to a server on loopback.

    Args:
        port: the client's TCP port.
        server_port: the server's TCP port, on which it listens.

    Returns:
        The user's number. ``UNKNOWN_USER`` if the connection is not in the system's table. None if
        the system has no such table.
    """
    client, server = f"0100007F:{port:04X}", f"0100007F:{server_port:04X}"
    listed = False
    for _ in range(READS):
        rows = _connections()
        listed = listed or any(row[1] == server for row in rows)
        for row in rows:
            if (row[1], row[2]) == (client, server):
                return int(row[7])
    return UNKNOWN_USER if listed else None


def _connections() -> list[list[str]]:
    """Returns the rows of the system's table of TCP connections; empty if there is no table."""
    table = Path("/proc/net/tcp")
    if not table.exists():
        return []
    return [line.split() for line in table.read_text(encoding="ascii").splitlines()[1:]]


class _ProxyServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, proxy: LoopbackProxy):
        self.proxy, self._open = proxy, set[socket.socket]()
        super().__init__(("127.0.0.1", 0), _ProxyHandler)

    def verify_request(self, request: object, client_address: tuple[str, int]) -> bool:  # type: ignore[override]
        """Refuses the connections of other users, which would see the pages and be counted."""
        user = owner(client_address[1], self.server_port)
        return user in (None, os.getuid(), self.proxy.browser_user)

    def process_request(self, request: socket.socket, client_address: tuple[str, int]) -> None:  # type: ignore[override]
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores errors: browsers close connections at any time."""


class _ProxyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _ProxyServer

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.proxy.decide(ProxyRequest(self.command, self.path, headers, body))
        if answer is True:
            self._pass_on(headers, body)
            return
        # After "No Content" a tab stays on its page: a refused navigation has no effect.
        reply = answer or ProxyReply(HTTPStatus.NO_CONTENT, {}, b"")
        self.send_response_only(reply.status)
        if not any(name.lower() == "cache-control" for name in reply.headers):
            self.send_header("cache-control", "no-store")
        for name, value in reply.headers.items():
            if name.lower() not in HOP:
                self.send_header(name, value)
        if reply.status != HTTPStatus.NO_CONTENT:
            self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer

    def do_CONNECT(self) -> None:
        """Opens a tunnel, for https and WebSockets."""
        self.close_connection = True
        if not self.server.proxy.decide(ProxyRequest("CONNECT", f"//{self.path}", {}, b"")):
            self.send_response_only(HTTPStatus.FORBIDDEN)
            self.end_headers()
            return
        host, _, port = self.path.rpartition(":")
        with self._reached(host.strip("[]"), int(port)) as there:
            self.send_response_only(HTTPStatus.OK)
            self.end_headers()
            self.wfile.flush()
            _relay(self.connection, there)

    def _pass_on(self, headers: Mapping[str, str], body: bytes) -> None:
        self.close_connection = True
        url = urlsplit(self.path)
        path = (url.path or "/") + ("?" + url.query if url.query else "")
        kept = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if name not in HOP)
        length = f"content-length: {len(body)}\r\n" if body or self.command == "POST" else ""
        head = f"{self.command} {path} HTTP/1.1\r\n{kept}{length}connection: close\r\n\r\n"
        with self._reached(url.hostname or "", url.port or 80) as there:
            there.sendall(head.encode("latin-1") + body)
            _relay(self.connection, there)

    def _reached(self, host: str, port: int) -> "closing[socket.socket]":
        try:
            there = closing(socket.create_connection((host, port), timeout=10))
            self.server.proxy.found(host, port)
            return there
        except OSError as error:
            self.server.proxy.lost(host, port, error)
            self.send_response_only(HTTPStatus.BAD_GATEWAY)
            self.send_header("content-length", "0")
            self.end_headers()
            raise

    def log_message(self, format: str, *args: object) -> None:
        """Writes nothing."""


def _relay(here: socket.socket, there: socket.socket) -> None:
    """Carries bytes both ways until one side has ended."""
    others = {here: there, there: here}
    for source, data in _received(here, there):
        if not data:
            return
        others[source].sendall(data)


def _received(*sockets: socket.socket) -> Iterator[tuple[socket.socket, bytes]]:
    while True:
        for ready in select.select(sockets, [], [])[0]:
            yield ready, ready.recv(CHUNK)
