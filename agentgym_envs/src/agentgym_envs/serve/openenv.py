"""The OpenEnv protocol (openenv 0.10): a WebSocket is a session with its own environment.

OpenEnv's client opens a new connection without a word when it has lost the old one. A step before
a reset is therefore an error: the new connection has no episode.
"""

import asyncio
import json
from collections.abc import Iterable
from itertools import product
from typing import Any

from agentgym_envs.errors import shown
from agentgym_envs.pool import PoolResult
from agentgym_envs.serve.app import Handler, HttpRoute, ServedProtocol
from agentgym_envs.serve.http import HttpRequest, Receive, Scope, Send, parse_object, whole_number
from agentgym_envs.serve.limits import CLIENT_KEYWORDS, ServerLimits
from agentgym_envs.serve.metrics import ServerMetrics
from agentgym_envs.serve.rate import RateLimit
from agentgym_envs.serve.refusal import RefusedRequest
from agentgym_envs.serve.sessions import ClientSession, EnvSessions
from agentgym_envs.serve.task_api import TaskApi
from agentgym_envs.serve.tools import EnvTools, reset_arguments

CODES = {409: "EXECUTION_ERROR", 500: "EXECUTION_ERROR", 504: "EXECUTION_ERROR"}
TEXT = {"type": "string"}
SCHEMAS = {
    "action": {
        "title": "TextAction",
        "type": "object",
        "properties": {"action": TEXT, "metadata": {"type": "object"}},
        "required": ["action"],
        "additionalProperties": False,
    },
    "observation": {
        "title": "TextObservation",
        "type": "object",
        "properties": {
            "text": TEXT,
            "done": {"type": "boolean"},
            "reward": {"type": ["number", "null"]},
            "metadata": {"type": "object"},
        },
    },
    "state": {
        "title": "State",
        "type": "object",
        "properties": {
            "episode_id": {"type": ["string", "null"]},
            "step_count": {"type": "integer", "minimum": 0},
            "task_id": {"type": ["string", "null"]},
        },
    },
}
UNKNOWN_METHOD, INVALID_REQUEST, INVALID_PARAMS, PARSE_ERROR = -32601, -32600, -32602, -32700


class OpenEnvProtocol(ServedProtocol):
    """Serves each environment under ``/openenv/ID``.

    Args:
        sessions: the served environments.
        limits: see :class:`ServerLimits`.
        metrics: counts messages.
        rate: delays messages; None: no limit.
        version: the version of this package.
    """

    def __init__(
        self,
        sessions: Iterable[EnvSessions],
        *,
        limits: ServerLimits,
        metrics: ServerMetrics,
        rate: RateLimit | None,
        version: str,
    ):
        self._sessions, self._limits = list(sessions), limits
        self._metrics, self._rate, self._version = metrics, rate, version

    def routes(self) -> dict[str, HttpRoute]:
        """Returns the routes of all environments."""
        names = [sessions.name for sessions in self._sessions]
        found = {"/openenv/list_environments": HttpRoute("openenv", {"GET": _page(names)})}
        for sessions in self._sessions:
            base, one = f"/openenv/{sessions.name}", _EnvPages(sessions, self._version)
            tasks = TaskApi(sessions)
            found[f"{base}/ws"] = HttpRoute("openenv", socket=self._socket(sessions, tasks))
            for name, handler in one.pages().items():
                found[f"{base}/{name}"] = HttpRoute("openenv", {"GET": handler})
            found[f"{base}/mcp"] = HttpRoute("openenv", {"POST": one.call})
            # The Task API of a base address has paths with the name of the environment.
            for start, name in product(("/openenv", base), tasks.routes()):
                found[f"{start}/{sessions.name}/{name}"] = tasks.routes()[name]
        return found

    def _socket(self, sessions: EnvSessions, tasks: TaskApi) -> Any:
        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()  # the opening of the connection
            await send({"type": "websocket.accept"})
            try:
                session = sessions.open()
            except RefusedRequest as refusal:
                await _send(send, _error(str(refusal), "CAPACITY_REACHED"))
                await send({"type": "websocket.close", "code": 1013})
                return
            try:
                await self._talk(_Conversation(sessions, session, tasks), scope, receive, send)
            finally:
                await asyncio.shield(sessions.close(session))

        return serve

    async def _talk(
        self, conversation: "_Conversation", scope: Scope, receive: Receive, send: Send
    ) -> None:
        address = (scope["client"] or ("",))[0]
        while True:
            try:
                async with asyncio.timeout(self._limits.idle):
                    message = await receive()
            except TimeoutError:
                reason = f"no message in {self._limits.idle:g} s"
                await send({"type": "websocket.close", "code": 1001, "reason": reason})
                return
            if message["type"] == "websocket.disconnect":
                return
            status, answer = 200, None
            try:
                if self._rate is not None:
                    await self._rate.wait(address, patient=True)
                answer = await conversation.answer(message.get("text") or message["bytes"])
            except RefusedRequest as refusal:
                status = refusal.status
                answer = _error(str(refusal), CODES.get(refusal.status, "VALIDATION_ERROR"))
            self._metrics.requests["openenv", status] += 1
            if answer is None:
                await send({"type": "websocket.close", "code": 1000})
                return
            await _send(send, answer)


class _Conversation:
    """The messages of one connection."""

    def __init__(self, sessions: EnvSessions, session: ClientSession, tasks: TaskApi):
        self._sessions, self._session, self._tasks = sessions, session, tasks
        self._episode: str | None = None

    async def answer(self, text: str | bytes) -> dict[str, Any] | None:
        """Returns the answer to a message; None to close.

        Raises:
            RefusedRequest: the message is wrong, or the environment failed.
        """
        try:
            message = parse_object(text)
        except RefusedRequest as refusal:
            return _error(str(refusal).replace("body", "message"), "INVALID_JSON")
        kind, data = message.get("type"), message.get("data", {})
        if kind == "close":
            return None
        if kind == "state":
            return {"type": "state", "data": self._state()}
        if kind not in ("reset", "step"):
            return _error(
                f"type: must be reset, step, state or close, not {shown(kind)}", "UNKNOWN_TYPE"
            )
        if not isinstance(data, dict):
            raise RefusedRequest(400, f"data: must be an object, not {shown(data)}")
        result = await (self._reset(data) if kind == "reset" else self._step(data))
        return {"type": "observation", "data": _observation(result)}

    async def _reset(self, data: dict[str, Any]) -> PoolResult:
        given = dict(data)
        task_id, seed = reset_arguments(given)
        episode = given.pop("episode_id", None)
        if episode is not None and not isinstance(episode, str):
            raise RefusedRequest(400, f"episode_id: must be a string, not {shown(episode)}")
        if given.get("index") is not None:
            if task_id is not None:
                raise RefusedRequest(400, "index: leave it out, because task_id names the task")
            split = given.get("split") or self._sessions.split
            task_id = (await self._tasks.pick(split, whole_number(given, "index")))["task_id"]
        given.pop("index", None)
        result = await self._sessions.reset(
            self._session, task_id=task_id, seed=seed, keywords=given
        )
        self._episode = episode or f"{self._session.number}"
        return result

    async def _step(self, data: dict[str, Any]) -> PoolResult:
        if extra := sorted(data.keys() - {"action", "metadata"}):
            raise RefusedRequest(
                400, f"{shown(extra[0])}: an action has no such field, only 'action'"
            )
        return await self._sessions.step(self._session, data.get("action"))

    def _state(self) -> dict[str, Any]:
        result = self._session.result
        return {
            "episode_id": self._episode if result else None,
            "step_count": self._session.steps,
            "task_id": (result.info or {}).get("task_id") if result else None,
        }


class _EnvPages:
    """The pages of one environment, and its tools over plain JSON-RPC."""

    def __init__(self, sessions: EnvSessions, version: str):
        self._sessions, self._version = sessions, version
        self._toolbox = EnvTools(sessions)

    def pages(self) -> dict[str, Any]:
        """Returns handlers by path."""
        values: dict[str, Any] = {
            "health": {"status": "healthy"},
            "metadata": {
                "name": self._sessions.name,
                "description": self._sessions.description.instructions or self._sessions.name,
                "version": self._version,
                "reset_keywords": ["task_id", "seed", "index", "episode_id", *CLIENT_KEYWORDS],
            },
            "schema": SCHEMAS,
            "list_environments": [self._sessions.name],
            "openapi.json": _openapi(self._sessions.name, self._version),
        }
        return {name: _page(value) for name, value in values.items()}

    async def call(self, request: HttpRequest) -> dict[str, Any]:
        """Answers a JSON-RPC call; an error has the status 200, as JSON-RPC demands."""
        number = None
        try:
            message = parse_object(request.body or b"{}")
        except RefusedRequest as refusal:
            return _rpc_error(None, PARSE_ERROR, str(refusal))
        number, params = message.get("id"), message.get("params", {})
        if message.get("jsonrpc") != "2.0" or not isinstance(params, dict):
            return _rpc_error(number, INVALID_REQUEST, "jsonrpc: must be '2.0'; params: an object")
        if message.get("method") == "tools/list":
            return {"jsonrpc": "2.0", "id": number, "result": {"tools": self._toolbox.schemas()}}
        if message.get("method") != "tools/call":
            return _rpc_error(number, UNKNOWN_METHOD, "method: must be tools/list or tools/call")
        try:
            answer = await self._toolbox.call(params.get("name"), params.get("arguments", {}))
        except RefusedRequest as refusal:
            return _rpc_error(number, INVALID_PARAMS, str(refusal))
        content = [{"type": "text", "text": answer.text}]
        result = {"content": content, "structuredContent": answer.fields, "isError": False}
        return {"jsonrpc": "2.0", "id": number, "result": result}


def _observation(result: PoolResult) -> dict[str, Any]:
    metadata = {**(result.info or {}), "truncated": result.truncated}
    return {
        "observation": {"text": result.observation, "metadata": metadata},
        "reward": result.reward,
        "done": result.terminated or result.truncated,
        "metadata": metadata,
    }


def _error(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "data": {"message": message, "code": code}}


def _rpc_error(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _page(value: Any) -> Handler:
    async def answer(request: HttpRequest) -> Any:
        return value

    return answer


def _openapi(name: str, version: str) -> dict[str, Any]:
    done = {"responses": {"200": {"description": "JSON"}}}
    paths: dict[str, Any] = {f"/{path}": {"get": done} for path in ("health", "metadata", "schema")}
    paths["/list_environments"] = {"get": done}
    paths[f"/{name}/splits"] = {"get": done}
    posted = ("/mcp", *(f"/{name}/{path}" for path in ("tasks", "num_tasks", "task", "task_range")))
    paths |= {path: {"post": done} for path in posted}
    return {"openapi": "3.1.0", "info": {"title": name, "version": version}, "paths": paths}


async def _send(send: Send, message: dict[str, Any]) -> None:
    await send({"type": "websocket.send", "text": json.dumps(message)})
