"""A client for Google's Gemini API, through its SDK."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.errors import ArgumentError, MissingExtra
from agentgym_envs.models.answers import (
    MALFORMED,
    ModelReply,
    NotOfTheProtocol,
    ToolCall,
    called,
    counted,
    finish_of,
    one_line,
    read_object,
    text_of,
)
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import ChatMessage, ToolSchema
from agentgym_envs.models.parts import content, replayed, system_text, turns
from agentgym_envs.models.provider import ModelClient
from agentgym_envs.network import http_options

API = "google"
BUDGETS = {"low": 1024, "medium": 8192, "high": 24576}
"""Tokens of thought that Google maps efforts to, for models that take a budget."""


class GoogleClient(ModelClient):
    """Gemini models. See :class:`~agentgym_envs.models.provider.ModelClient`."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        try:
            from google import genai
            from google.genai import types
        except ImportError as error:
            raise MissingExtra("--api google", "google") from error
        self._types = types
        self._sdk = genai.Client(
            api_key=self._key or "none",
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=self.endpoint.url,
                httpx_async_client=self._http,
                # The SDK makes another client, which sends nothing.
                client_args=http_options(self.endpoint.host),
            ),
        ).aio
        self._config({})  # rejects invalid options before any request

    def request(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSchema] | None,
        seed: int | None,
        dialect: ServerDialect,
    ) -> dict[str, Any]:
        """Returns the arguments of the SDK, as JSON data."""
        endpoint = self.endpoint
        options = {
            "system_instruction": system_text(messages) or None,
            "tools": [{"function_declarations": list(map(tool, tools))}] if tools else None,
            "temperature": endpoint.temperature,
            "max_output_tokens": dialect.max_tokens,
            "seed": seed,
            "thinking_config": thinking(endpoint.model, endpoint.effort),
        }
        given = {name: value for name, value in options.items() if value is not None}
        return {
            "model": endpoint.model,
            "contents": conversation(messages),
            "config": {**given, **endpoint.extra},
        }

    def _config(self, options: Mapping[str, Any]) -> Any:
        options = {**self.endpoint.extra, **options}
        try:
            return self._types.GenerateContentConfig.model_validate(options)
        except ValueError as error:
            fault = one_line(str(error))
            raise ArgumentError(f"the Gemini API does not take {options}: {fault}") from None

    async def send(self, request: Mapping[str, Any]) -> ModelReply:
        """Sends a request once."""
        contents = [
            self._types.Content.model_validate_json(json.dumps(entry))
            for entry in request["contents"]
        ]
        config = self._config(request["config"])
        try:
            answer = await self._sdk.models.generate_content(
                model=request["model"], contents=contents, config=config
            )
            return read(answer.model_dump(mode="json", exclude_none=True, warnings=False))
        except MALFORMED as error:
            raise NotOfTheProtocol(f"{type(error).__name__}: {error}") from None

    async def models(self) -> dict[str, int | None]:
        """Asks once for the server's models and their contexts."""
        try:
            page = await self._sdk.models.list(config={"page_size": 1000})
            return {str(model.name): model.input_token_limit for model in page.page}
        except MALFORMED as error:
            raise NotOfTheProtocol(f"{type(error).__name__}: {error}") from None


def thinking(model: str, effort: str | None) -> dict[str, Any] | None:
    """Returns the configuration for an effort: a level, or a budget for Gemini 2.5."""
    if effort is None:
        return None
    amount = (
        {"thinking_budget": BUDGETS[effort]}
        if "gemini-2.5" in model
        else {"thinking_level": effort.upper()}
    )
    return {"include_thoughts": True, **amount}


def tool(schema: ToolSchema) -> dict[str, Any]:
    """Returns a function in the API's form."""
    function = schema["function"]
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters_json_schema": function["parameters"],
    }


def conversation(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Returns the messages in the API's form."""
    joined: list[dict[str, Any]] = []
    called: dict[str, Mapping[str, Any]] = {}
    for message in turns(messages):
        role = "model" if message["role"] == "assistant" else "user"
        parts = _parts(message, called)
        if joined and joined[-1]["role"] == role:
            joined[-1]["parts"] += parts
        elif parts:
            joined.append({"role": role, "parts": parts})
        if role == "model":
            made = [part["function_call"] for part in parts if "function_call" in part]
            ids = [call["id"] for call in message.get("tool_calls", ())]
            called.update(zip(ids, made, strict=False))
    return joined


def _parts(message: ChatMessage, called: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns a message in the API's form.

    Args:
        message: any but the system's.
        called: the functions that were called, by the id of the call.
    """
    if message["role"] == "tool":
        call = called[message["tool_call_id"]]
        named = {name: call[name] for name in ("id", "name") if name in call}
        response = {"output": str(message["content"])}
        return [{"function_response": {**named, "response": response}}]
    if message["role"] == "assistant":
        return replayed(message, API) or _said(message)
    return [
        {"text": data} if kind == "text" else {"inline_data": {"mime_type": kind, "data": data}}
        for kind, data in content(message)
    ]


def _said(message: ChatMessage) -> list[dict[str, Any]]:
    """Returns an assistant's message that has no form of this API."""
    text = str(message["content"])
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return [
        *([{"text": text}] if text.strip() else []),
        *(
            {"function_call": {"name": call["name"], "args": read_object(call["arguments"])}}
            for call in calls
        ),
    ]


def read(answer: Mapping[str, Any]) -> ModelReply:
    """Parses a response. A prompt that the server blocks gives an empty reply.

    Raises:
        NotOfTheProtocol: there is neither a candidate nor a reason for its absence.
    """
    blocked = (answer.get("prompt_feedback") or {}).get("block_reason")
    candidate = (answer.get("candidates") or [{}])[0]
    if blocked:
        candidate = {"finish_reason": "safety"}
    finish = finish_of(candidate.get("finish_reason"))
    parts = (candidate.get("content") or {}).get("parts") or []
    if not (finish or parts):
        raise NotOfTheProtocol("no candidate")
    calls = tuple(
        _call(number, part["function_call"])
        for number, part in enumerate(parts)
        if "function_call" in part
    )
    return ModelReply(
        text=_joined(parts, thought=False),
        tool_calls=calls,
        reasoning=_joined(parts, thought=True),
        usage=_usage(answer.get("usage_metadata") or {}),
        finish="tool_calls" if calls and finish in ("", "stop") else finish,
        model=text_of(answer.get("model_version")),
        replay={"api": API, "parts": list(filter(None, parts))} if any(map(_says, parts)) else None,
    )


def _says(part: Mapping[str, Any]) -> bool:
    """Returns whether a part is more than a thought or a blank: the API refuses a turn without."""
    held = [value for name, value in part.items() if name not in ("thought", "thought_signature")]
    return not part.get("thought") and any(str(value).strip() for value in held)


def _joined(parts: Sequence[Mapping[str, Any]], *, thought: bool) -> str:
    return "".join(
        text_of(part["text"])
        for part in parts
        if "text" in part and bool(part.get("thought")) == thought
    )


def _call(number: int, call: Mapping[str, Any]) -> ToolCall:
    """Returns a call; the API need not give it an id."""
    return called(call["name"], call.get("args"), call.get("id") or f"call_{number}")


def _usage(found: Mapping[str, Any]) -> Any:
    said, thoughts = found.get("candidates_token_count"), found.get("thoughts_token_count")
    completion = None if said is None and thoughts is None else (said or 0) + (thoughts or 0)
    return counted(
        found.get("prompt_token_count"), completion, found.get("cached_content_token_count")
    )
