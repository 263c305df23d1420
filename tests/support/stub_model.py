"""An OpenAI-compatible chat server for tests, with real sockets and all failures of real servers.

with StubModel([status(500), ok("left")]) as model:    # answers in this order, repeats the last one
with StubModel(policy(first_admissible)) as model:     # a function of the messages returns the text
with StubModel(lambda request: ...) as model:          # a function of a Request returns a behaviour
    Endpoint(model="stub", base_url=model.url)
    model.requests, model.most                         # all requests; the most concurrent requests
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    """One request. ``port`` is the client's port; equal ports mean one connection."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    port: int

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]


Behaviour = Callable[["_Handler", Request], None]


def ok(text: str | None = "ok", *, finish: str = "stop", **message: Any) -> Behaviour:
    """Answers with a completion; keywords add message fields, such as ``reasoning_content``."""

    def behave(handler, request):
        words = sum(len(str(m.get("content")).split()) for m in request.messages)
        handler.answer(
            200,
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 0,
                "model": request.body["model"],
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": finish,
                        "message": {"role": "assistant", "content": text, **message},
                    }
                ],
                "usage": (
                    usage := {
                        "prompt_tokens": words,
                        "completion_tokens": len(str(text or "").split()),
                    }
                )
                | {"total_tokens": sum(usage.values())},
            },
        )

    return behave


def tool_call(name: str, arguments: dict[str, Any]) -> Behaviour:
    """Answers with a completion that calls one function."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return ok(None, finish="tool_calls", tool_calls=[call])


def status(code: int, headers: dict[str, str] | None = None, body: Any = None) -> Behaviour:
    """Answers with this status; ``body`` is JSON data or literal text."""
    body = (
        {"error": {"message": f"stub answers {code}", "type": "stub", "code": None}}
        if body is None
        else body
    )
    return lambda handler, request: handler.answer(code, body, headers)


def nonsense(body: Any = "<html><title>Welcome</title></html>") -> Behaviour:
    """Answers with status 200 and a body that is not a completion."""
    return status(200, body=body)


def empty() -> Behaviour:
    """Answers with a completion without choices."""
    return nonsense(
        {"id": "x", "object": "chat.completion", "created": 0, "model": "stub", "choices": []}
    )


def half() -> Behaviour:
    """Sends half of an answer and closes the connection."""

    def behave(handler, request):
        handler.answer(200, '{"choices": [', {"Content-Length": "1000"})
        handler.end()

    return behave


def close() -> Behaviour:
    """Closes the connection without an answer."""
    return lambda handler, request: handler.end()


def reset() -> Behaviour:
    """Resets the connection."""

    def behave(handler, request):
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.end()

    return behave


def hang(seconds: float = 60.0) -> Behaviour:
    """Sends nothing for ``seconds`` or until the server stops, then closes the connection."""

    def behave(handler, request):
        handler.server.stub.stopped.wait(seconds)
        handler.end()

    return behave


def slow(seconds: float, then: Behaviour | None = None) -> Behaviour:
    """Answers after ``seconds``."""

    def behave(handler, request):
        handler.server.stub.stopped.wait(seconds)
        (then or ok())(handler, request)

    return behave


def dripping(pause: float = 0.05, count: int = 200) -> Behaviour:
    """Sends white space one byte at a time, so no single read times out."""

    def behave(handler, request):
        handler.answer(200, "", {"Content-Length": "1000"})
        for _ in range(count):
            handler.wfile.write(b" ")
            handler.server.stub.stopped.wait(pause)
        handler.end()

    return behave


def together(count: int, then: Behaviour | None = None) -> Behaviour:
    """Answers once ``count`` requests wait, or with status 500 after ten seconds."""
    barrier = threading.Barrier(count)

    def behave(handler, request):
        try:
            barrier.wait(10)
        except threading.BrokenBarrierError:
            status(500)(handler, request)
        else:
            (then or ok())(handler, request)

    return behave


def policy(function: Callable[[list[dict[str, Any]]], str]) -> Callable[[Request], Behaviour]:
    """Returns a script that answers with a function of the messages."""
    return lambda request: ok(function(request.messages))


def first_admissible(messages: list[dict[str, Any]]) -> str:
    """Returns the first action that the last user message lists after ``admissible …:``.

    The list has one action per line or is JSON.
    """
    text = next(str(m["content"]) for m in reversed(messages) if m["role"] == "user")
    listed = text[text.lower().rfind("admissible") :].partition(":")[2].strip()
    if listed.startswith("["):
        return json.JSONDecoder().raw_decode(listed)[0][0]
    return listed.splitlines()[0].strip(" -*") if listed else "look"


class StubModel:
    """Context manager that serves on a free local port.

    Args:
        script: behaviours in order, the last one repeated; or a function of a request that returns
            a behaviour.
        models: names that ``GET /models`` lists and completions accept; or a behaviour for
            ``GET /models``; or ``None`` for a server without this path.
        key: required API key; other keys are answered with 401.
        context: largest number of words in the messages.
    """

    def __init__(
        self,
        script: Iterable[Behaviour] | Callable[[Request], Behaviour] | None = None,
        *,
        models: Iterable[str] | Behaviour | None = ("stub",),
        key: str | None = None,
        context: int | None = None,
    ):
        self._script = script if callable(script) else list(script or [ok()])
        self.models = models if callable(models) or models is None else tuple(models)
        self.key, self.context = key, context
        self.requests: list[Request] = []
        self.most = self._now = 0
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def completions(self) -> list[Request]:
        """Returns the requests for completions."""
        return [request for request in self.requests if request.path == "/v1/chat/completions"]

    @property
    def open_connections(self) -> int:
        return len(self._connections)

    def settled(self, condition: Callable[[], bool], seconds: float = 5.0) -> bool:
        """Waits until a condition holds; returns whether it does."""
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            time.sleep(0.01)
        return condition()

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._thread.join()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()

    def _behaviour(self, request: Request) -> Behaviour:
        """Returns the behaviour for a request: OpenAI's errors first, then the script."""
        authorization = request.headers.get("authorization", "")
        if self.key is not None and authorization != f"Bearer {self.key}":
            return status(
                401, body=_error(f"Incorrect API key provided: {authorization}", "invalid_api_key")
            )
        if (request.method, request.path) == ("GET", "/v1/models"):
            return self._listing()
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            return status(404, body={"detail": "Not Found"})
        if wrong := _wrong(request.body):
            return status(400, body=_error(wrong, "invalid_value"))
        model = request.body["model"]
        if isinstance(self.models, tuple) and model not in self.models:
            return status(
                404, body=_error(f"The model `{model}` does not exist", "model_not_found")
            )
        words = sum(len(str(m["content"]).split()) for m in request.messages)
        if self.context is not None and words > self.context:
            return status(
                400,
                body=_error(
                    f"{words} words are more than {self.context}", "context_length_exceeded"
                ),
            )
        if callable(self._script):
            return self._script(request)
        return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def _listing(self) -> Behaviour:
        if self.models is None:
            return status(404, body={"detail": "Not Found"})
        if callable(self.models):
            return self.models
        rows = [
            {"id": name, "object": "model", "created": 0, "owned_by": "stub"}
            for name in self.models
        ]
        return status(200, body={"object": "list", "data": rows})

    def _serve(self, handler: "_Handler", request: Request) -> None:
        with self._lock:
            self.requests.append(request)
            behaviour = self._behaviour(request)
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            behaviour(handler, request)
        finally:
            with self._lock:
                self._now -= 1


def _error(message: str, code: str) -> dict[str, Any]:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    }


def _wrong(body: Any) -> str:
    """Returns the error of a request for a completion, or an empty text."""
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        return "you must provide a model parameter"
    if body.get("stream"):
        return "the stub does not stream"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages must be a list that is not empty"
    if any(
        m.get("role") not in ("system", "user", "assistant", "tool") or "content" not in m
        for m in messages
    ):
        return "every message has a role and a content"
    if any(
        t.get("type") != "function" or "name" not in t["function"] for t in body.get("tools", ())
    ):
        return "every tool is a function with a name"
    return ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, stub: StubModel):
        self.stub = stub
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # the client has closed the connection


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.stub._connections.add(self.connection)

    def finish(self) -> None:
        self.server.stub._connections.discard(self.connection)
        with suppress(OSError, ValueError):
            super().finish()

    def do_GET(self) -> None:
        self._do()

    def do_POST(self) -> None:
        self._do()

    def _do(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = json.loads(content) if content else None
        except ValueError:
            body = content
        self.server.stub._serve(
            self, Request(self.command, self.path, headers, body, self.client_address[1])
        )

    def answer(self, code: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        kind = "text/html" if isinstance(body, str) else "application/json"
        self.send_response(code)
        for name, value in (
            {"Content-Type": kind, "Content-Length": str(len(data))} | (headers or {})
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def end(self) -> None:
        """Ends the connection."""
        self.close_connection = True
        with suppress(OSError):
            self.wfile.flush()
            self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        pass
