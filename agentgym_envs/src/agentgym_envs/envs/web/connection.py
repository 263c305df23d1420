"""The browser's DevTools protocol over a WebSocket: commands go out at once, and their answers are read when they are wanted."""

import json
import select
from collections.abc import Callable
from typing import Any

Listener = Callable[[str, str, dict[str, Any]], None]
"""Gets an event: the session that it is from, its name, its parameters."""

ENDINGS = {"Target.detachedFromTarget": "the page was closed", "Inspector.targetCrashed": "the page crashed"}
"""Events after which a session's commands are never answered."""


class Refused(Exception):
    """The browser did not do what a command says; the message is its own."""


class Gone(Exception):
    """The browser is not there any more."""


class Connection:
    """One connection to a browser. Several commands may be on their way; a session's are carried out in order.

    Args:
        url: of the browser's endpoint.
        listener: called for every event, while something is waited for.
    """

    def __init__(self, url: str, listener: Listener):
        import websocket

        self._failures = (OSError, ValueError, websocket.WebSocketException)
        # A page's connection would have an origin. UTF-8 is checked by decoding it, not once more byte by byte in Python.
        self._socket: Any = websocket.create_connection(url, suppress_origin=True, skip_utf8_validation=True)
        self._listener, self._last = listener, 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._asked: dict[int, str] = {}  # commands that have no answer yet, and their sessions
        self._ignored: set[int] = set()
        self._ended: dict[str, str] = {}  # sessions that answer no more, and why
        self.open = True
        """Whether it has not ended, as far as anybody has noticed."""

    def send(self, session: str, method: str, **params: Any) -> int:
        """Sends a command; returns its number, for :meth:`result`."""
        self._last += 1
        if session in self._ended:
            self._answers[self._last] = {"error": {"message": self._ended[session]}}
            return self._last
        self._asked[self._last] = session
        message = {"id": self._last, "method": method, "params": params}
        try:
            self._socket.send(json.dumps({**message, "sessionId": session} if session else message))
        except self._failures as error:
            self.open = False
            raise Gone(str(error)) from error
        return self._last

    def post(self, session: str, method: str, **params: Any) -> None:
        """Sends a command whose answer nobody waits for."""
        self._ignored.add(self.send(session, method, **params))

    def result(self, number: int) -> dict[str, Any]:
        """Waits for the answer to a command.

        Raises:
            Refused: the browser could not do it.
            Gone: the connection has ended.
        """
        while number not in self._answers:
            self._read()
        answer = self._answers.pop(number)
        if "error" in answer:
            raise Refused(answer["error"]["message"])
        return dict(answer["result"])

    def call(self, session: str, method: str, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer: see :meth:`result`."""
        return self.result(self.send(session, method, **params))

    def wait(self, seconds: float) -> None:
        """Reads what comes next, an event or an answer; gives up after some seconds."""
        if select.select([self._socket.sock], [], [], seconds)[0]:
            self._read()

    def close(self) -> None:
        """Leaves the browser alone."""
        self.open = False
        self._socket.shutdown()

    def _read(self) -> None:
        try:
            message = json.loads(self._socket.recv())
        except self._failures as error:
            self.open = False
            raise Gone(str(error)) from error
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
        if number in self._ignored:
            self._ignored.remove(number)
        else:
            self._answers[number] = message
