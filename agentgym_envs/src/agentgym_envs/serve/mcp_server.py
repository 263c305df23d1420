"""The Model Context Protocol over the official SDK: each environment has an address."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

from agentgym_envs.serve.app import Part, Route
from agentgym_envs.serve.http import Asgi, Receive, Scope, Send
from agentgym_envs.serve.limits import Limits
from agentgym_envs.serve.refusal import Refusal
from agentgym_envs.serve.sessions import Sessions
from agentgym_envs.serve.tools import Toolbox


class Mcp(Part):
    """Serves each environment's tools at ``/mcp/ID``.

    Args:
        sessions: the served environments.
        limits: see :class:`Limits`.
        version: the version of this package.
    """

    def __init__(self, sessions: Iterable[Sessions], *, limits: Limits, version: str):
        self._sessions, self._limits, self._version = list(sessions), limits, version
        self._managers: list[StreamableHTTPSessionManager] = []

    def routes(self) -> dict[str, Route]:
        """Returns one route per environment."""
        found = {}
        for sessions in self._sessions:
            manager = StreamableHTTPSessionManager(
                _server(Toolbox(sessions), sessions.name, self._version),
                json_response=True,
                stateless=True,  # an episode is an argument of the tools, not a connection
                max_request_body_size=self._limits.body,
            )
            self._managers.append(manager)
            found[f"/mcp/{sessions.name}"] = Route("mcp", asgi=_posts(manager.handle_request))
        return found

    async def run(self, stack: AsyncExitStack) -> None:
        """Starts the SDK's managers."""
        for manager in self._managers:
            await stack.enter_async_context(manager.run())


def _posts(app: Asgi) -> Asgi:
    """Returns an application that offers no stream of news: this server has none.

    A stream would stay open until the client leaves.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET":
            raise Refusal(405, f"GET {scope['path']}: only POST is possible")
        await app(scope, receive, send)

    return answer


def _server(toolbox: Toolbox, name: str, version: str) -> Server[Any]:
    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(one) for one in toolbox.schemas()])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        try:
            answer = await toolbox.call(params.name, params.arguments or {})
        except Refusal as refusal:
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
