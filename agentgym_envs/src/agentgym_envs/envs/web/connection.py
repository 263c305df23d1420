"""The browser's DevTools protocol over its pipe.

Commands are sent at once. Their answers are read when they are needed.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from agentgym_envs.envs.web.pipe import FIRST, BrowserPipe, PipeClosed

Listener = Callable[[str, str, dict[str, Any]], None]
"""Handles an event: the session that it comes from, its name, its parameters."""

ENDINGS = {
    "Target.detachedFromTarget": "the page was closed",
    "Inspector.targetCrashed": "the page crashed",
}
"""Events after which the browser never answers the commands of a session."""


UNASKED = FIRST - 1
"""Number of the command that another thread sends."""


class PageTarget(NamedTuple):
    """A page that the connection is attached to.

    Attributes:
        id: id of the page.
        context: id of its context.
        session: session for commands to the page.
        opener: a script opened the page and can reach it.
    """

    id: str
    context: str
    session: str
    opener: bool


class CommandRefused(Exception):
    """The browser refused a command; the message is the browser's."""


class ConnectionEnded(Exception):
    """The connection to the browser has ended."""


class DevToolsConnection:
    """One connection to a browser.

    Several commands can be open; the commands of a session are carried out in order.

    Args:
        pipe: pipe of a browser that has started.
        listener: called for every event, during a wait for an answer or an event.

    Attributes:
        open: False once an end of the connection was noticed.
        root: our session with the browser itself.
    """

    def __init__(self, pipe: BrowserPipe, listener: Listener):
        self._pipe, self._listener, self._last = pipe, listener, UNASKED
        self._answers: dict[int, dict[str, Any]] = {}
        self._asked: dict[int, str] = {}  # open commands and their sessions
        self._ignored: set[int] = set()
        self._ended: dict[str, str] = {}  # sessions that answer no more, and the reasons
        self.open, self.root = True, ""
        self.root = str(self.call("", "Target.attachToBrowserTarget")["sessionId"])

    def send(self, session: str, method: str, **params: Any) -> int:
        """Sends a command; returns its number, for :meth:`result`."""
        self._last += 1
        if session in self._ended:
            self._answers[self._last] = {"error": {"message": self._ended[session]}}
            return self._last
        self._asked[self._last] = session
        message = {"id": self._last, "method": method, "params": params}
        if to := session or self.root:
            message["sessionId"] = to
        try:
            self._pipe.send(json.dumps(message).encode())
        except PipeClosed as error:
            self.open = False
            raise ConnectionEnded(str(error)) from error
        return self._last

    def post(self, session: str, method: str, **params: Any) -> None:
        """Sends a command without waiting for its answer."""
        self._ignored.add(self.send(session, method, **params))

    def result(self, number: int) -> dict[str, Any]:
        """Waits for the answer to a command.

        Raises:
            CommandRefused: the browser could not carry out the command.
            ConnectionEnded: the connection has ended.
        """
        while number not in self._answers:
            self._read()
        answer = self._answers.pop(number)
        if "error" in answer:
            raise CommandRefused(answer["error"]["message"])
        return dict(answer["result"])

    def call(self, session: str, method: str, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer: see :meth:`result`."""
        return self.result(self.send(session, method, **params))

    def wait(self, seconds: float) -> None:
        """Reads the next event or answer; returns after some seconds without one."""
        self._read(seconds)

    def dispose(self, context: str) -> None:
        """Asks the browser to close a context. Any thread can call this method."""
        message = {
            "id": UNASKED,
            "method": "Target.disposeBrowserContext",
            "params": {"browserContextId": context},
        }
        with suppress(PipeClosed):
            self._pipe.send(json.dumps({**message, "sessionId": self.root}).encode())

    def close(self) -> None:
        """Stops using the browser, which goes on."""
        self.open = False

    def _read(self, seconds: float | None = None) -> None:
        try:
            received = self._pipe.receive(seconds)
        except PipeClosed as error:
            self.open = False
            raise ConnectionEnded(str(error)) from error
        if received is None:
            return
        message = json.loads(received)
        if "id" in message:
            self._answered(message["id"], message)
            return
        session, event, params = message.get("sessionId", ""), message["method"], message["params"]
        if event in ENDINGS:
            ended = params.get("sessionId", session)
            self._ended[ended] = ENDINGS[event]
            for number in [n for n, of in self._asked.items() if of == ended]:
                self._answered(number, {"error": {"message": ENDINGS[event]}})
        self._listener(session, event, params)

    def _answered(self, number: int, message: dict[str, Any]) -> None:
        self._asked.pop(number, None)
        if number == UNASKED or number in self._ignored:
            self._ignored.discard(number)
        else:
            self._answers[number] = message
