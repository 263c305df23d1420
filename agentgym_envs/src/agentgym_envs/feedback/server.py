"""The page on which people compare episodes, served only to browsers on this machine."""

import json
import threading
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from agentgym_envs.feedback.session import JudgingProgress, JudgingSession
from agentgym_envs.lines import has
from agentgym_envs.pages.page import SCRIPTS, STYLE, page, resource
from agentgym_envs.pages.server import LocalHandler, LocalServer

LARGEST = 1_000_000  # bytes of a request
OWN = "agentgym_envs.feedback.page"
JUDGEMENT = {"annotator": str, "number": int, "choice": str, "comment": str}


class JudgingServer(LocalServer):
    """Serves a session until it is shut down.

    Args:
        session: the pairs to judge.
        port: the port to listen on; 0 for any free port.

    Raises:
        ArgumentError: the port is not available.
    """

    def __init__(self, session: JudgingSession, *, port: int = 0):
        super().__init__(_JudgingHandler, _page(), port=port)
        self._session, self._lock = session, threading.Lock()

    def ask(self, question: Callable[[JudgingSession], JudgingProgress]) -> dict[str, Any]:
        """Calls the session, one request at a time."""
        with self._lock:
            return asdict(question(self._session))


class _JudgingHandler(LocalHandler):
    server: JudgingServer

    def get(self, place: str) -> None:
        """Answers with the state of an annotator."""
        if place != "state":
            super().get(place)
            return
        annotator = self.given("annotator")
        self._answer(lambda session: session.state(annotator))

    def do_POST(self) -> None:
        """Stores a judgement, or takes one back."""
        if self.refused():
            return
        sent = self._sent()
        if self.place() == "judge" and _has(sent, JUDGEMENT):
            self._answer(lambda session: session.judge(**{key: sent[key] for key in JUDGEMENT}))
        elif self.place() == "undo" and _has(sent, {"annotator": str}):
            self._answer(lambda session: session.undo(sent["annotator"]))
        else:
            self.fail(HTTPStatus.BAD_REQUEST, "this is not a judgement")

    def _sent(self) -> Any:
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

    def _answer(self, question: Callable[[JudgingSession], JudgingProgress]) -> None:
        self.answer(lambda: self.server.ask(question))


def _has(given: Any, types: dict[str, type]) -> bool:
    return isinstance(given, dict) and types.keys() <= given.keys() and has(given, types)


def _page() -> str:
    style = resource(STYLE) + resource("compare.css", OWN)
    script = "\n".join([*map(resource, SCRIPTS), resource("compare.js", OWN)])
    return page(resource("compare.html", OWN), style=style, script=script, connect_src="'self'")
