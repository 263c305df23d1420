"""A client for OpenAI's chat completions API, which most model servers support.

It does not stream, because an agent needs the whole reply.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import httpx2

from agentgym_envs.models.answers import (
    THOUGHTS,
    ModelReply,
    read_models,
    read_reply,
    understood,
)
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import LIMITS, ChatMessage, ModelEndpoint, ToolSchema
from agentgym_envs.models.parts import EMPTY, replayed
from agentgym_envs.models.provider import ModelClient

__all__ = ["ChatClient", "ChatMessage", "ModelEndpoint", "ModelReply", "ToolSchema"]

T = TypeVar("T")


class ChatClient(ModelClient):
    """Chat completions. See :class:`~agentgym_envs.models.provider.ModelClient`."""

    def request(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema] | None,
        seed: int | None,
        dialect: ServerDialect,
    ) -> dict[str, Any]:
        """Returns the body of a request."""
        limited = set(LIMITS) & set(self.endpoint.extra)
        options = {
            "temperature": self.endpoint.temperature,
            dialect.tokens_name: None if limited else dialect.max_tokens,
            "reasoning_effort": self.endpoint.effort,
            "seed": seed,
            "tools": list(tools) if tools else None,
        }
        given = {name: value for name, value in options.items() if value is not None}
        said = [
            _sent(message) for message in messages if message["role"] != "system" or _says(message)
        ]
        return {"model": self.endpoint.model, "messages": said, **given, **self.endpoint.extra}

    async def send(self, request: Mapping[str, Any]) -> ModelReply:
        """Sends a request once."""
        return await self._ask("POST", "/chat/completions", json.dumps(request), read_reply)

    async def models(self) -> dict[str, int | None]:
        """Asks once for the server's models and their contexts."""
        return await self._ask("GET", "/models", None, read_models)

    async def _ask(self, method: str, path: str, body: str | None, read: Callable[[Any], T]) -> T:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        answer = await self._http.request(
            method, self.endpoint.url + path, content=body, headers=headers
        )
        if answer.status_code != 200:
            raise httpx2.HTTPStatusError("", request=answer.request, response=answer)
        return understood(answer, lambda: read(answer.json()))


def _says(message: ChatMessage) -> bool:
    """Returns whether a message has a content that is not blank."""
    said = message.get("content")
    return bool(said.strip() if isinstance(said, str) else said)


def _sent(message: ChatMessage) -> dict[str, Any]:
    """Returns a message with what its server wants back.

    Some servers refuse an empty text, which is usual only beside calls.
    """
    sent = {name: value for name, value in message.items() if name != "replay"}
    if not (_says(message) or sent.get("tool_calls")):
        sent["content"] = EMPTY
    for kept in replayed(message, "chat"):
        sent |= {name: kept[name] for name in THOUGHTS if name in kept}
        signatures = kept.get("extra_content") or [None] * len(sent["tool_calls"])
        sent["tool_calls"] = [
            {**call, "extra_content": signature} if signature else call
            for call, signature in zip(sent["tool_calls"], signatures, strict=True)
        ]
    return sent
