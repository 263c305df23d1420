"""The Model Context Protocol over the official SDK: each environment has an address."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

from agentgym_envs.serve.app import HttpRoute, ServedProtocol
from agentgym_envs.serve.http import JSON, Asgi, AsgiMessage, Receive, Scope, Send, read
from agentgym_envs.serve.limits import ServerLimits
from agentgym_envs.serve.refusal import RefusedRequest
from agentgym_envs.serve.sessions import EnvSessions
from agentgym_envs.serve.tools import EnvTools


class McpProtocol(ServedProtocol):
    """Serves each environment's tools at ``/mcp/ID``.

    Args:
        sessions: the served environments.
        limits: see :class:`ServerLimits`.
        version: the version of this package.
    """

    def __init__(self, sessions: Iterable[EnvSessions], *, limits: ServerLimits, version: str):
        self._sessions, self._limits, self._version = list(sessions), limits, version
        self._managers: list[StreamableHTTPSessionManager] = []

    def routes(self) -> dict[str, HttpRoute]:
        """Returns one route per environment."""
        found = {}
        for sessions in self._sessions:
            manager = StreamableHTTPSessionManager(
                _server(EnvTools(sessions), sessions.name, self._version),
                json_response=True,
                stateless=True,  # an episode is an argument of the tools, not a connection
                max_request_body_size=self._limits.body,
            )
            self._managers.append(manager)
            app = _posts(manager.handle_request, self._limits.body)
            found[f"/mcp/{sessions.name}"] = HttpRoute("mcp", asgi=app)
        return found

    async def run(self, stack: AsyncExitStack) -> None:
        """Starts the SDK's managers."""
        for manager in self._managers:
            await stack.enter_async_context(manager.run())


def _posts(app: Asgi, limit: int) -> Asgi:
    """Returns an application with the limit and the errors of this server.

    It offers no stream of news, because this server has none: a stream would stay open until the
    client leaves. MCP asks for errors of JSON-RPC. The SDK's other errors have no JSON; they become
    errors of this server.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise RefusedRequest(405, f"{scope['method']} {scope['path']}: only POST is possible")
        request = await read(scope, receive, limit)
        bodies = iter([{"type": "http.request", "body": request.body, "more_body": False}])

        async def again() -> AsgiMessage:
            return next(bodies, None) or await receive()

        failed = 0

        async def check(message: AsgiMessage) -> None:
            nonlocal failed
            status = message.get("status", 200)
            if status >= 400 and dict(message["headers"]).get(b"content-type") != JSON:
                failed = status
            elif failed:
                text = message.get("body", b"").decode("latin-1") or HTTPStatus(failed).phrase
                raise RefusedRequest(failed, f"request: {text[:200]}")
            else:
                await send(message)

        await app(scope, again, check)

    return answer


def _server(toolbox: EnvTools, name: str, version: str) -> Server[Any]:
    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(one) for one in toolbox.schemas()])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        try:
            answer = await toolbox.call(params.name, params.arguments or {})
        except RefusedRequest as refusal:
            return CallToolResult(content=[TextContent(text=str(refusal))], is_error=True)
        return CallToolResult(
            content=[TextContent(text=answer.text)], structured_content=answer.fields
        )

    return Server(
        name,
        version=version,
        instructions=toolbox.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
