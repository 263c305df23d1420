"""HTTP and WebSocket messages of ASGI: requests with limits, answers in JSON."""

import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import lru_cache
from hmac import compare_digest
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agentgym_envs.errors import shown
from agentgym_envs.network import is_local
from agentgym_envs.serve.refusal import RefusedRequest

Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON = b"application/json"
READ_ON = 2**26  # bytes of a body over the limit that are read, so that the client sees the answer


class ClientGone(Exception):
    """The client closed its connection before its request was complete."""


class HttpRequest:
    """A complete request.

    Args:
        scope: ASGI's scope.
        body: the bytes of the body.
    """

    __slots__ = ("body", "scope")

    def __init__(self, scope: Scope, body: bytes):
        self.scope = scope
        self.body = body

    def fields(self) -> dict[str, Any]:
        """Returns the body, a JSON object; an empty body is an empty object.

        Raises:
            RefusedRequest: the body is something else.
        """
        return parse_object(self.body) if self.body.strip() else {}

    def query(self, name: str) -> str:
        """Returns a value of the query; empty without one."""
        text: str = self.scope["query_string"].decode("latin-1")
        return parse_qs(text).get(name, [""])[0]


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Returns the JSON object in a text.

    Raises:
        RefusedRequest: the text is not JSON, or not an object.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedRequest(400, f"body: must be JSON ({str(error)[:100]})") from error
    if not isinstance(found, dict):
        raise RefusedRequest(400, f"body: must be a JSON object, not {shown(found)}")
    return found


def whole_number(fields: Mapping[str, Any], name: str, *, default: int | None = None) -> int:
    """Returns a field that is a whole number from 0.

    Raises:
        RefusedRequest: the field is missing or something else.
    """
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RefusedRequest(400, f"{name}: must be a whole number from 0, not {shown(value)}")
    return value


async def read(scope: Scope, receive: Receive, limit: int) -> HttpRequest:
    """Receives a request.

    Raises:
        RefusedRequest: the body is larger than ``limit`` bytes. The body was read to its end, so a
            client that sends before it reads gets the answer.
        ClientGone: the connection ended.
    """
    body, size, more = bytearray(), 0, True
    while more and size <= READ_ON:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk, more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size <= limit:
            body += chunk
        else:
            body.clear()
    if size > limit:
        raise RefusedRequest(413, f"body: more than {limit} bytes; send a shorter one")
    return HttpRequest(scope, bytes(body))


async def answer(
    send: Send,
    status: int,
    content: bytes,
    kind: bytes = JSON,
    more: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Sends a complete answer."""
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(content)), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def error_headers(refusal: RefusedRequest, body: bytes) -> list[tuple[bytes, bytes]]:
    """Returns the headers of an error."""
    headers = [(b"content-type", JSON), (b"content-length", b"%d" % len(body))]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b'Bearer, Basic realm="agentgym"'))
    elif refusal.status == 503:
        headers.append((b"retry-after", b"1"))
    elif refusal.status == 413:
        headers.append((b"connection", b"close"))
    return headers


async def refuse(scope: Scope, send: Send, refusal: RefusedRequest) -> None:
    """Sends an error in answer to a request, or instead of opening a WebSocket."""
    if scope["type"] != "http" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": str(refusal)[:100]})
        return
    kind = "http" if scope["type"] == "http" else "websocket.http"
    body = json.dumps(refusal.body()).encode()
    start = {"type": f"{kind}.response.start", "status": refusal.status}
    await send({**start, "headers": error_headers(refusal, body)})
    await send({"type": f"{kind}.response.body", "body": body})


def check_sender(scope: Scope, token: str | None) -> None:
    """Checks the token; without a token, checks that the request comes from this machine.

    A web page in a browser on this machine can send requests too. They have the ``Origin`` of the
    page, or a ``Host`` that leads here by DNS rebinding.

    Raises:
        RefusedRequest: the request has no right to an answer.
    """
    headers = dict(scope["headers"])
    if token is None:
        host = headers.get(b"host", b"localhost").decode("latin-1")
        origin = headers.get(b"origin")
        if not _local(f"//{host}"):
            raise RefusedRequest(403, f"Host: {shown(host)} is not this machine; use 127.0.0.1")
        if origin is not None and not _local(origin.decode("latin-1")):
            raise RefusedRequest(403, "Origin: pages of web sites get no answer")
        return
    scheme, _, value = headers.get(b"authorization", b"").partition(b" ")
    given = value.strip()
    if scheme.lower() == b"basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2]
        except binascii.Error:
            given = b""
    elif scheme.lower() != b"bearer":
        given = b""
    if not compare_digest(given, token.encode()):
        raise RefusedRequest(
            401,
            "Authorization: the server's token is missing or wrong; send it as Bearer, or as the"
            " password of Basic (http://any:TOKEN@host)",
        )


@lru_cache(256)
def _local(url: str) -> bool:
    try:
        return is_local(urlsplit(url).hostname or "")
    except ValueError:
        return False
