"""Serves a page to browsers on this machine only.

Requests need the token in the address. Requests with another host name or from another page are
refused: web sites in the same browser can neither read nor write.
"""

import json
import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from agentgym_envs.errors import ArgumentError

ADDRESS = "127.0.0.1"
HOSTS = (ADDRESS, "localhost")
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


class LocalServer(ThreadingHTTPServer):
    """Serves a page until it is shut down.

    Args:
        handler: answers the requests.
        content: the page.
        port: the port to listen on; 0 for any free port.

    Raises:
        ArgumentError: the port is not available.
    """

    def __init__(self, handler: "type[LocalHandler]", content: str, *, port: int = 0):
        try:
            super().__init__((ADDRESS, port), handler)
        except (OSError, OverflowError) as error:
            raise ArgumentError(
                f"port {port} is not available ({error}): use another --port, or 0 for any free"
                " port"
            ) from error
        self.token = secrets.token_urlsafe(16)
        self.hosts = {f"{host}:{self.server_port}" for host in HOSTS}
        self.content = content.encode()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints exceptions, except that of a browser that closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def address(self, fragment: str = "") -> str:
        """Returns the page's address, with a fragment if there is one."""
        name = f"#{quote(fragment, safe='')}" if fragment else ""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/{name}"


class LocalHandler(BaseHTTPRequestHandler):
    """Answers the requests of the page."""

    server: LocalServer
    timeout = 30  # seconds in which a request must arrive

    def do_GET(self) -> None:
        """Answers with the page, or as :meth:`get` does."""
        if self.refused():
            return
        if self.place() == "":
            self.send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.content)
        else:
            self.get(self.place())

    def get(self, place: str) -> None:
        """Answers a request for anything but the page itself."""
        self.fail(HTTPStatus.NOT_FOUND, "page not found")

    def refused(self) -> bool:
        """Refuses requests that do not come from this page on this machine."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host not in self.server.hosts or origin not in (None, f"http://{host}"):
            self.fail(HTTPStatus.FORBIDDEN, "the request does not come from the page")
            return True
        token = urlsplit(self.path).path.split("/")[1:2]
        if not token or not secrets.compare_digest(token[0].encode(), self.server.token.encode()):
            self.fail(HTTPStatus.NOT_FOUND, "page not found")
            return True
        return False

    def place(self) -> str:
        """Returns the path behind the token."""
        return urlsplit(self.path).path.removeprefix(f"/{self.server.token}/")

    def given(self, name: str) -> str:
        """Returns a value of the query; empty without one."""
        return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

    def answer(self, question: Callable[[], Any]) -> None:
        """Answers with JSON; an ArgumentError is a bad request."""
        try:
            found = question()
        except ArgumentError as error:
            self.fail(HTTPStatus.BAD_REQUEST, str(error))
        else:
            self.send(HTTPStatus.OK, "application/json", json.dumps(found).encode())

    def fail(self, status: HTTPStatus, why: str) -> None:
        """Answers with an error."""
        self.send(status, "application/json", json.dumps({"error": why}).encode())

    def send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        """Sends a whole answer."""
        self.send_response(status)
        lengths = {"Content-Type": kind, "Content-Length": str(len(content))}
        for name, value in (lengths | HEADERS).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing, to keep the terminal readable."""
