"""A client for Anthropic's Messages API, through its SDK."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.errors import ArgumentError, MissingExtra
from agentgym_envs.models.answers import (
    ModelReply,
    NotOfTheProtocol,
    ToolCall,
    called,
    counted,
    finish_of,
    read_models,
    read_object,
    text_of,
)
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import ChatMessage, ToolSchema
from agentgym_envs.models.parts import content, replayed, system_text, turns
from agentgym_envs.models.provider import ModelClient

API = "anthropic"
MAX_TOKENS = 4096  # the API requires a limit
CACHED = {"type": "ephemeral"}
STABLE = ("text", "tool_use", "tool_result")
"""Blocks that can hold a cache mark."""
COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""Their sum is the prompt."""


class AnthropicClient(ModelClient):
    """Anthropic's models. See :class:`~agentgym_envs.models.provider.ModelClient`."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        try:
            import anthropic
        except ImportError as error:
            raise MissingExtra("--api anthropic", "anthropic") from error
        if self.endpoint.effort and self.endpoint.temperature not in (None, 1.0):
            raise ArgumentError(
                f"effort={self.endpoint.effort!r} needs temperature 1 or none with Anthropic's"
                f" API, not {self.endpoint.temperature:g}"
            )
        self._sdk = anthropic.AsyncAnthropic(**self.sdk_options)

    def request(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema] | None,
        seed: int | None,
        dialect: ServerDialect,
    ) -> dict[str, Any]:
        """Returns the arguments of the SDK. The API has no seed.

        A temperature of 1 is the API's default and is left out, because new models refuse others.
        """
        endpoint = self.endpoint
        heated = endpoint.temperature not in (None, 1.0)
        system = system_text(messages)
        thinking = {"type": "adaptive", "display": "summarized"}
        given = {
            "system": system and [{"type": "text", "text": system, "cache_control": CACHED}],
            "tools": [tool(schema) for schema in tools or ()],
            "thinking": endpoint.effort and thinking,
            "output_config": endpoint.effort and {"effort": endpoint.effort},
            "extra_body": {
                **({"temperature": endpoint.temperature} if heated else {}),
                **endpoint.extra,
            },
        }
        return {
            "model": endpoint.model,
            "max_tokens": dialect.max_tokens or MAX_TOKENS,
            "messages": conversation(messages),
            **{name: value for name, value in given.items() if value},
        }

    async def send(self, request: Mapping[str, Any]) -> ModelReply:
        """Sends a request once."""
        raw = await self._sdk.messages.with_raw_response.create(**request)
        return await self.parsed(raw, read)

    async def models(self) -> dict[str, int | None]:
        """Asks once for the server's models and their contexts."""
        raw = await self._sdk.models.with_raw_response.list(limit=1000)
        return await self.parsed(raw, read_models)


def tool(schema: ToolSchema) -> dict[str, Any]:
    """Returns a function in the API's form."""
    function = schema["function"]
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function["parameters"],
    }


def conversation(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Returns the messages in the API's form, with a mark at the end of the stable prefix."""
    joined: list[dict[str, Any]] = []
    for message in turns(messages):
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if joined and joined[-1]["role"] == role:
            joined[-1]["content"] += blocks
        elif blocks:
            joined.append({"role": role, "content": blocks})
    _mark([block for message in joined for block in message["content"]])
    return joined


def _blocks(message: ChatMessage) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
        return [{**result, "content": str(message["content"])}]
    if message["role"] == "assistant":
        return [dict(block) for block in replayed(message, API)] or _said(message)
    return [
        {"type": "text", "text": data}
        if kind == "text"
        else {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}
        for kind, data in content(message)
    ]


def _said(message: ChatMessage) -> list[dict[str, Any]]:
    """Returns an assistant's message that has no form of this API. The API refuses empty texts."""
    text = str(message["content"]).rstrip()
    calls = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": read_object(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls", ())
    ]
    return [*([{"type": "text", "text": text}] if text else []), *calls]


def _mark(blocks: Sequence[dict[str, Any]]) -> None:
    """Marks the last block that is not a picture: agents do not send pictures again."""
    stable = [block for block in blocks if block["type"] in STABLE]
    if stable:
        stable[-1]["cache_control"] = CACHED


def read(answer: Mapping[str, Any]) -> ModelReply:
    """Parses a message.

    Raises:
        NotOfTheProtocol: the answer is not a message.
    """
    if answer["type"] != "message":
        raise NotOfTheProtocol("no message")
    blocks = answer["content"]
    usage = answer.get("usage") or {}
    counts = [usage.get(name) or 0 for name in COUNTS]
    kept = [_kept(block) for block in blocks if block["type"] != "text" or block["text"].strip()]
    complete = any(block["type"] in ("text", "tool_use") for block in kept)
    return ModelReply(
        text="".join(text_of(block["text"]) for block in blocks if block["type"] == "text"),
        tool_calls=tuple(_call(block) for block in blocks if block["type"] == "tool_use"),
        reasoning="\n".join(b["thinking"] for b in blocks if b["type"] == "thinking").strip(),
        usage=counted(sum(counts), usage.get("output_tokens"), counts[-1]),
        finish=finish_of(answer.get("stop_reason")),
        model=text_of(answer.get("model")),
        replay={"api": API, "parts": kept} if complete else None,
    )


def _call(block: Mapping[str, Any]) -> ToolCall:
    return called(block["name"], block.get("input"), block.get("id"))


def _kept(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a block as the next request repeats it. The API takes only an object as input."""
    return {**block, "input": _call(block).values()} if block["type"] == "tool_use" else block
