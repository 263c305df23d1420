"""The page on which people compare episodes, served only to browsers on this machine.

Requests need the token in the address. Requests with another host name or from another page are
refused: web sites in the same browser can neither read nor judge.
"""

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from agentgym_envs.errors import ArgumentError
from agentgym_envs.feedback.session import Session, State
from agentgym_envs.lines import has
from agentgym_envs.pages.page import SCRIPTS, STYLE, page, resource

ADDRESS = "127.0.0.1"
HOSTS = (ADDRESS, "localhost")
LARGEST = 1_000_000  # bytes of a request
OWN = "agentgym_envs.feedback.page"
JUDGEMENT = {"annotator": str, "number": int, "choice": str, "comment": str}


class Server(ThreadingHTTPServer):
    """Serves a session until it is shut down.

    Args:
        session: the pairs to judge.
        port: the port to listen on; 0 for any free port.

    Raises:
        ArgumentError: the port is not available.
    """

    def __init__(self, session: Session, *, port: int = 0):
        try:
            super().__init__((ADDRESS, port), _Handler)
        except (OSError, OverflowError) as error:
            raise ArgumentError(
                f"port {port} is not available ({error}): use another --port, or 0 for any free"
                " port"
            ) from error
        self.token = secrets.token_urlsafe(16)
        self.hosts = {f"{host}:{self.server_port}" for host in HOSTS}
        self.content = _page().encode()
        self._session, self._lock = session, threading.Lock()

    def address(self, annotator: str = "") -> str:
        """Returns the page's address, with the annotator's name if there is one."""
        name = f"#{quote(annotator, safe='')}" if annotator else ""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/{name}"

    def ask(self, question: Callable[[Session], State]) -> State:
        """Calls the session, one request at a time."""
        with self._lock:
            return question(self._session)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = 30  # seconds in which a request must arrive

    def do_GET(self) -> None:
        """Answers with the page, or with the state of an annotator."""
        if self._refused():
            return
        if self._place() == "":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.content)
        elif self._place() == "state":
            given = parse_qs(urlsplit(self.path).query).get("annotator", [""])
            self._answer(lambda session: session.state(given[0]))
        else:
            self._fail(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        """Stores a judgement, or takes one back."""
        if self._refused():
            return
        given = self._given()
        if self._place() == "judge" and _has(given, JUDGEMENT):
            self._answer(lambda session: session.judge(**{key: given[key] for key in JUDGEMENT}))
        elif self._place() == "undo" and _has(given, {"annotator": str}):
            self._answer(lambda session: session.undo(given["annotator"]))
        else:
            self._fail(HTTPStatus.BAD_REQUEST, "this is not a judgement")

    def _refused(self) -> bool:
        """Refuses requests that do not come from this page on this machine."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host not in self.server.hosts or origin not in (None, f"http://{host}"):
            self._fail(HTTPStatus.FORBIDDEN, "only the page itself may ask")
            return True
        token = urlsplit(self.path).path.split("/")[1:2]
        if not token or not secrets.compare_digest(token[0].encode(), self.server.token.encode()):
            self._fail(HTTPStatus.NOT_FOUND, "there is no such page")
            return True
        return False

    def _place(self) -> str:
        """Returns the path behind the token."""
        return urlsplit(self.path).path.removeprefix(f"/{self.server.token}/")

    def _given(self) -> Any:
        """Returns the JSON of a request; None if it has no valid JSON."""
        length = self.headers.get("Content-Length", "")
        if (
            self.headers.get_content_type() != "application/json"
            or not length.isdecimal()
            or int(length) > LARGEST
        ):
            return None
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return None

    def _answer(self, question: Callable[[Session], State]) -> None:
        try:
            state = self.server.ask(question)
        except ArgumentError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
        else:
            self._send(HTTPStatus.OK, "application/json", json.dumps(asdict(state)).encode())

    def _fail(self, status: HTTPStatus, why: str) -> None:
        self._send(status, "application/json", json.dumps({"error": why}).encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
        }
        headers |= {
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "X-Frame-Options": "DENY",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing, to keep the terminal readable."""


def _has(given: Any, types: dict[str, type]) -> bool:
    return isinstance(given, dict) and types.keys() <= given.keys() and has(given, types)


def _page() -> str:
    style = resource(STYLE) + resource("compare.css", OWN)
    script = "\n".join([*map(resource, SCRIPTS), resource("compare.js", OWN)])
    return page(resource("compare.html", OWN), style=style, script=script, connect_src="'self'")
