"""A client for OpenAI's Responses API, through its SDK. The server stores no conversation."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.errors import MissingExtra
from agentgym_envs.models.answers import (
    ModelReply,
    NotOfTheProtocol,
    ToolCall,
    called,
    counted,
    finish_of,
    read_models,
    text_of,
)
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import ChatMessage, ToolSchema
from agentgym_envs.models.parts import EMPTY, content, replayed, system_text, turns
from agentgym_envs.models.provider import ModelClient

API = "responses"


class ResponsesClient(ModelClient):
    """OpenAI's models. See :class:`~agentgym_envs.models.provider.ModelClient`."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        try:
            import openai
        except ImportError as error:
            raise MissingExtra("--api responses", "openai") from error
        self._sdk = openai.AsyncOpenAI(**self.sdk_options)

    def request(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema] | None,
        seed: int | None,
        dialect: ServerDialect,
    ) -> dict[str, Any]:
        """Returns the arguments of the SDK. The API has no seed."""
        endpoint = self.endpoint
        options = {
            "instructions": system_text(messages) or None,
            "tools": [tool(schema) for schema in tools] if tools else None,
            "temperature": endpoint.temperature,
            "max_output_tokens": dialect.max_tokens,
            "reasoning": {"effort": endpoint.effort} if endpoint.effort else None,
            "extra_body": dict(endpoint.extra) or None,
        }
        return {
            "model": endpoint.model,
            "input": [item for message in turns(messages) for item in items(message)],
            "store": False,
            **{name: value for name, value in options.items() if value is not None},
        }

    async def send(self, request: Mapping[str, Any]) -> ModelReply:
        """Sends a request once."""
        raw = await self._sdk.responses.with_raw_response.create(**request)
        return await self.parsed(raw, read)

    async def models(self) -> dict[str, int | None]:
        """Asks once for the server's models and their contexts."""
        raw = await self._sdk.models.with_raw_response.list()
        return await self.parsed(raw, read_models)


def tool(schema: ToolSchema) -> dict[str, Any]:
    """Returns a function in the API's form."""
    function = schema["function"]
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": function["parameters"],
        "strict": False,
    }


def items(message: ChatMessage) -> list[dict[str, Any]]:
    """Returns a message in the API's form."""
    if message["role"] == "tool":
        result = {"type": "function_call_output", "call_id": message["tool_call_id"]}
        return [{**result, "output": str(message["content"])}]
    if message["role"] == "assistant":
        return replayed(message, API) or _said(message)
    parts = [
        {"type": "input_text", "text": data}
        if kind == "text"
        else {
            "type": "input_image",
            "image_url": f"data:{kind};base64,{data}",
            "detail": "auto",
        }
        for kind, data in content(message)
    ]
    return [{"role": "user", "content": parts}]


def _said(message: ChatMessage) -> list[dict[str, Any]]:
    """Returns an assistant's message that has no form of this API."""
    text = str(message["content"])
    calls: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
        for call in message.get("tool_calls", ())
    ]
    if not (text.strip() or calls):
        text = EMPTY
    return [*([{"role": "assistant", "content": text}] if text.strip() else []), *calls]


def read(answer: Mapping[str, Any]) -> ModelReply:
    """Parses a response.

    Raises:
        NotOfTheProtocol: the answer is not a response, or the response failed.
    """
    status = answer["status"]
    if status not in ("completed", "incomplete"):
        raise NotOfTheProtocol(f"the response is {status}")
    output = answer["output"]
    said = [part for item in output if item["type"] == "message" for part in item["content"]]
    calls = tuple(_call(item) for item in output if item["type"] == "function_call")
    why = (answer.get("incomplete_details") or {}).get("reason") or ""
    usage = answer.get("usage") or {}
    return ModelReply(
        text="".join(text_of(part.get("text") or part.get("refusal")) for part in said),
        tool_calls=calls,
        reasoning="\n".join(_thoughts(item) for item in output if item["type"] == "reasoning"),
        usage=counted(
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            (usage.get("input_tokens_details") or {}).get("cached_tokens"),
        ),
        finish=_finish(said, calls, text_of(why)),
        model=text_of(answer.get("model")),
        replay={"api": API, "parts": kept} if (kept := _kept(output)) else None,
    )


def _finish(said: Sequence[Mapping[str, Any]], calls: Sequence[ToolCall], incomplete: str) -> str:
    if incomplete:
        return finish_of(incomplete)
    if any(part["type"] == "refusal" for part in said):
        return "refusal"
    return "tool_calls" if calls else "stop"


def _call(item: Mapping[str, Any]) -> ToolCall:
    return called(item["name"], item.get("arguments"), item.get("call_id"))


def _thoughts(item: Mapping[str, Any]) -> str:
    """Returns the summary of a reasoning item, or the text of a server that shows it."""
    return "\n".join(
        text_of(part["text"]) for part in item.get("content") or item.get("summary") or ()
    )


def _kept(output: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the items that the next request repeats; none if there is only reasoning.

    The server stores nothing, so it knows no item by its id, and reasoning is of use only if it is
    encrypted. The API refuses reasoning without an item after it, and arguments that are not a JSON
    object.
    """
    kept = [
        {
            name: value
            for name, value in item.items()
            if value is not None and (name != "id" or item["type"] == "reasoning")
        }
        for item in output
        if _says(item) or (item.get("encrypted_content") and item["type"] != "message")
    ]
    for item in kept:
        if item["type"] == "function_call":
            item["arguments"] = _call(item).as_object()
    return kept if any(map(_says, kept)) else []


def _says(item: Mapping[str, Any]) -> bool:
    """Returns whether an item is a call, or a message that is not blank."""
    if item["type"] == "message":
        return any(text_of(p.get("text") or p.get("refusal")).strip() for p in item["content"])
    return bool(item["type"] == "function_call")
