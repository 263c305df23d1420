"""The ASGI application: limits, routes and counts."""

import asyncio
import json
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from time import perf_counter
from typing import Any, NamedTuple

from agentgym_envs.serve.http import (
    Asgi,
    AsgiMessage,
    ClientGone,
    HttpRequest,
    Receive,
    Scope,
    Send,
    answer,
    read,
    refuse,
)
from agentgym_envs.serve.limits import ServerLimits
from agentgym_envs.serve.metrics import ServerMetrics
from agentgym_envs.serve.rate import RateLimit
from agentgym_envs.serve.refusal import RefusedRequest
from agentgym_envs.serve.sessions import EnvSessions

log = logging.getLogger(__name__)

Handler = Callable[[HttpRequest], Awaitable[Any]]
TEXT = b"text/plain; version=0.0.4; charset=utf-8"


class HttpRoute(NamedTuple):
    """The handlers of a path.

    Attributes:
        protocol: a name for the counts.
        methods: handlers by HTTP method; each returns a JSON-able value.
        socket: opens a WebSocket, if the path has one.
        asgi: answers HTTP instead of ``methods``, if there is one.
        creates: whether a request starts a session: over the rate it is refused, not delayed.
    """

    protocol: str
    methods: dict[str, Handler] = {}
    socket: Asgi | None = None
    asgi: Asgi | None = None
    creates: bool = False


class ServedProtocol(ABC):
    """A protocol of the server."""

    @abstractmethod
    def routes(self) -> dict[str, HttpRoute]:
        """Returns the routes by path; called after the sessions have started."""

    async def run(self, stack: AsyncExitStack) -> None:
        """Starts work that runs until the stack closes; nothing by default."""


class AsgiApp:
    """The server's ASGI application.

    Args:
        sessions: the served environments.
        parts: the protocols.
        limits: see :class:`ServerLimits`.
        metrics: the counts.
        rate: delays requests; None: no limit.
    """

    def __init__(
        self,
        sessions: Iterable[EnvSessions],
        parts: Iterable[ServedProtocol],
        *,
        limits: ServerLimits,
        metrics: ServerMetrics,
        rate: RateLimit | None,
    ):
        self._sessions, self._parts = list(sessions), list(parts)
        self._limits, self._rate = limits, rate
        self.metrics = metrics
        self._routes: dict[str, HttpRoute] = {}
        self.trouble: Exception | None = None
        """The error that prevented the start."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request or one WebSocket."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        begun, protocol, status = perf_counter(), "none", 200
        try:
            route = self._route(scope)
            protocol = route.protocol
            if self._rate is not None:
                await self._rate.wait((scope["client"] or ("",))[0], patient=not route.creates)
            status = await self._serve(route, scope, receive, send)
        except RefusedRequest as refusal:
            status = refusal.status
            await refuse(scope, send, refusal)
        except ClientGone:
            status = 499  # nginx's number for this
        except asyncio.CancelledError:  # the time after SIGTERM is over
            status = 503
            if scope["type"] == "http":
                await refuse(
                    scope, send, RefusedRequest(503, "the server has ended; send this to another")
                )
        except Exception:
            status = 500
            log.exception("a request failed")
            await refuse(
                scope, send, RefusedRequest(500, "the server failed; its log has the error")
            )
        self.metrics.requests[protocol, status] += 1
        self.metrics.seconds += perf_counter() - begun

    async def _serve(self, route: HttpRoute, scope: Scope, receive: Receive, send: Send) -> int:
        """Answers a request; returns its status."""
        if scope["type"] == "websocket":
            if route.socket is None:
                raise RefusedRequest(404, f"{scope['path']} is not a WebSocket")
            await route.socket(scope, receive, send)
            return 101
        if route.asgi is not None:
            return await _noted(route.asgi, scope, receive, send)
        # The server sends no body in answer to HEAD.
        handler = route.methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if handler is None:
            allowed = ", ".join(route.methods) or "WebSocket"
            raise RefusedRequest(
                405, f"{scope['method']} {scope['path']}: only {allowed} is possible"
            )
        request = await read(scope, receive, self._limits.body)
        found = await handler(request)
        if isinstance(found, bytes):
            await answer(send, 200, found, TEXT)
        else:
            await answer(send, 200, json.dumps(found).encode())
        return 200

    def _route(self, scope: Scope) -> HttpRoute:
        path = scope["path"]
        route = self._routes.get(path)
        if route is None:  # a base address that ends in a slash gives //create
            route = self._routes.get(re.sub("/{2,}", "/", path).rstrip("/") or "/")
        if route is None:
            raise RefusedRequest(
                404, f"{path[:200]}: there is no such path; GET / lists what is served"
            )
        return route

    async def _live(self, receive: Receive, send: Send) -> None:
        """Runs from the start of the server to its end."""
        await receive()
        async with AsyncExitStack() as stack:
            try:
                await self._start(stack)
            except Exception as error:
                self.trouble = error
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self, stack: AsyncExitStack) -> None:
        for sessions in self._sessions:
            await sessions.start()
            stack.push_async_callback(sessions.stop)
        self._routes = {
            "/": HttpRoute("server", {"GET": self._index}),
            "/metrics": HttpRoute("server", {"GET": self._count}),
        }
        for part in self._parts:
            self._routes |= part.routes()
            await part.run(stack)
        reaper = asyncio.create_task(self._close_idle())
        stack.callback(reaper.cancel)

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(min(self._limits.idle / 4, 10.0))
            for sessions in self._sessions:
                await sessions.close_idle()

    async def _index(self, request: HttpRequest) -> dict[str, Any]:
        return {
            "server": "agentgym serve",
            "environments": [sessions.name for sessions in self._sessions],
            "paths": sorted(self._routes),
        }

    async def _count(self, request: HttpRequest) -> bytes:
        counts = {sessions.name: len(sessions) for sessions in self._sessions}
        return self.metrics.text(counts, self._limits.sessions).encode()


async def _noted(app: Asgi, scope: Scope, receive: Receive, send: Send) -> int:
    """Runs an application; returns the status that it has sent."""
    status = 499

    async def note(message: AsgiMessage) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        await send(message)

    await app(scope, receive, note)
    return status
