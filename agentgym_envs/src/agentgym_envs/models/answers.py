"""Parses a model server's answers: a reply, a list of models, an error message, a time to wait."""

import email.utils
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2

from agentgym_envs.errors import message_of
from agentgym_envs.surrogates import whole, whole_json
from agentgym_envs.wrappers.responses import read_arguments

T = TypeVar("T")
LINE = 300  # characters of a server's message that an error repeats

# Google's wait, in the body of an answer.
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"([\d.]+)s"')
# How servers say that a conversation is too long for the model. OpenAI and many others name the
# code; the rest is prose:
# vLLM, SGLang, llama.cpp, LM Studio, Mistral and DeepSeek speak of the context, the last line is
# Anthropic, Bedrock, Gemini, Groq,
# xAI, SGLang once more, old vLLM and TGI, in this order.
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|exceed_context"
    r"|(?:prompt|input) is too long|input token count \S+ exceeds|reduce the length of the messages"
    r"|maximum prompt length|maximum allowed (?:input )?length|maximum model length|`inputs` tokens"
    r" \+ `max_new_tokens`",
    re.IGNORECASE,
)
# How servers say that a filter rejected one conversation: OpenAI, Azure, and gateways of both.
_FILTERED = re.compile(r"content_filter|content_policy|content management policy", re.IGNORECASE)


class NotOfTheProtocol(ValueError):
    """An answer with status 200 that does not follow the protocol.

    Args:
        message: the fault.
        answer: the whole answer, if it is known.
    """

    def __init__(self, message: str, answer: httpx2.Response | None = None):
        super().__init__(message)
        self.answer = answer


THOUGHTS = ("reasoning_details", "reasoning_content", "reasoning")
"""Fields of a message with calls that OpenRouter, DeepSeek or vLLM wants back."""
MALFORMED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""Exceptions of a function that reads an answer of unexpected form."""


def understood(answer: httpx2.Response, read: Callable[[], T]) -> T:
    """Returns what a function reads from an answer.

    Raises:
        NotOfTheProtocol: the function fails.
    """
    try:
        return read()
    except MALFORMED as error:
        raise NotOfTheProtocol(type(error).__name__, answer) from None


@dataclass(frozen=True)
class Usage:
    """Tokens, as the server counted them."""

    prompt_tokens: int
    completion_tokens: int
    """Reasoning is among them."""
    cached_tokens: int = 0
    """Prompt tokens that the server read from its cache. They are among ``prompt_tokens``."""


@dataclass(frozen=True)
class ToolCall:
    """A function that the model calls."""

    name: str
    arguments: str
    """The model's text: usually, but not always, a JSON object."""
    id: str = ""

    def values(self) -> dict[str, Any]:
        """Returns the arguments as a dictionary; malformed arguments become an empty one.

        Servers accept only an object in a conversation.
        """
        return read_object(self.arguments)

    def as_object(self) -> str:
        """Returns the arguments as a JSON object; the model's own text if it is one."""
        values = self.values()
        try:
            same = json.loads(self.arguments) == values
        except (ValueError, RecursionError):
            same = False
        return self.arguments if same else json.dumps(values, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One completion."""

    text: str
    """Empty if the model only calls tools or only reasons."""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    """Reasoning that the server reports separately from the text."""
    usage: Usage | None = None
    """``None`` if the server does not count."""
    finish: str = ""
    """The finish reason in OpenAI's terms: ``stop``, ``length``, ``tool_calls``, ``refusal``, …"""
    model: str = ""
    """The served model's own id; empty if the server does not name it."""
    replay: Mapping[str, Any] | None = None
    """The message in its API's form, such as signed thoughts.

    The agent sends it back unchanged in :meth:`message`. Only the same API reads it.
    """
    cached: bool = False
    """Whether the reply comes from a :class:`~agentgym_envs.models.cache.ReplyCache`."""
    cost: float | None = None
    """In the currency of the endpoint's prices.

    ``None`` without prices or usage.
    """

    def message(self) -> dict[str, Any]:
        """Returns the reply as the assistant's message of a conversation."""
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.values())},
            }
            for call in self.tool_calls
        ]
        optional = {"tool_calls": calls, "replay": self.replay}
        return {
            "role": "assistant",
            "content": self.text,
            **{name: value for name, value in optional.items() if value},
        }


@dataclass(frozen=True)
class Complaint:
    """A server's error message."""

    message: str
    """One line of at most ``LINE`` characters."""
    code: str
    """The machine-readable parts; empty if the answer is not in a form for errors."""

    @property
    def too_long(self) -> bool:
        """Whether the conversation exceeds the model's context."""
        return bool(_TOO_LONG.search(self.message) or _TOO_LONG.search(self.code))

    @property
    def filtered(self) -> bool:
        """Whether a filter rejected the conversation; other conversations are not affected."""
        return bool(_FILTERED.search(self.message) or _FILTERED.search(self.code))


def read_reply(answer: Any) -> Reply:
    """Parses a chat completion.

    Raises:
        NotOfTheProtocol: the answer is not a completion.
    """
    try:
        choice = answer["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason") or ""
        if finish == "error":
            raise NotOfTheProtocol("the completion failed")
        return Reply(
            text=text_of(message.get("content")) or text_of(message.get("refusal")),
            tool_calls=tuple(map(_call, message.get("tool_calls") or ())),
            reasoning=_reasoning(message),
            usage=_usage(answer.get("usage")),
            finish=text_of(finish),
            model=_named(answer.get("model")),
            replay=_replay(message),
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise NotOfTheProtocol(f"no completion: {type(error).__name__}") from error


def read_models(answer: Any) -> list[str]:
    """Parses a list of models.

    Raises:
        NotOfTheProtocol: the answer is not a list of models.
    """
    try:
        rows = answer if isinstance(answer, list) else answer["data"] or []
        return [text_of(row["id"]) for row in rows]
    except (KeyError, TypeError) as error:
        raise NotOfTheProtocol(f"no list of models: {type(error).__name__}") from error


def knows(models: list[str], name: str) -> bool:
    """Returns whether a list of models has a name.

    The name can lack Gemini's prefix or Ollama's tag, or have OpenRouter's variant at its end.
    """
    return bool({name, f"models/{name}", f"{name}:latest", name.partition(":")[0]} & set(models))


def read_complaint(body: str) -> Complaint:
    """Finds the message in an answer of any form.

    The forms are ``error.message``, ``error``, ``message``, ``detail`` and plain text.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return Complaint(one_line(body), "")
    inner = found.get("error") or found if isinstance(found, dict) else found
    if isinstance(inner, str):
        return Complaint(one_line(inner), "error")
    messages = (
        [inner[key] for key in ("message", "detail", "error") if inner.get(key)]
        if isinstance(inner, dict)
        else []
    )
    if not messages:
        return Complaint(one_line(body), "")
    return Complaint(one_line(_sentence(messages[0])), f"{inner.get('code')} {inner.get('type')}")


def seconds_to_wait(headers: Mapping[str, str], now: float, body: str = "") -> float | None:
    """Returns the wait that a server asks for, in seconds, or ``None``.

    Args:
        headers: headers of the answer, in lower case: ``retry-after-ms``, or ``retry-after`` in
            seconds
            or as an HTTP date.
        now: the time, in seconds since the epoch.
        body: of the answer; Google's names a ``retryDelay``.
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            wait = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        return wait if math.isfinite(wait) and wait > 0 else None
    try:
        if "retry-after" not in headers:
            return float(_RETRY_DELAY.findall(body)[0]) or None
        wait = email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - now
    except (IndexError, ValueError, TypeError, OverflowError):
        return None
    return wait if wait > 0 else None


def reason(error: BaseException) -> str:
    """Returns the reason for a failed connection, as the operating system reports it if it does."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused"
        if isinstance(cause, OSError) and cause.errno:
            return one_line(cause.strerror or str(cause))
        inner = getattr(cause, "exceptions", None)
        cause = inner[0] if inner else cause.__cause__ or cause.__context__
    return one_line(message_of(error)) or type(error).__name__


def one_line(text: str) -> str:
    """Returns a text without line breaks and control characters, cut to ``LINE`` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 10 * LINE]).split())
    return line if len(line) <= LINE else line[: LINE - 1] + "…"


def read_object(text: Any) -> dict[str, Any]:
    """Returns the arguments of a call; an empty dictionary if they are malformed."""
    try:
        found = whole_json(read_arguments(text))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _sentence(message: Any) -> str:
    """Returns a message as text.

    FastAPI's list of errors loses its ``input`` fields, which repeat the conversation.
    """
    if isinstance(message, list):
        return "; ".join(
            str(entry.get("msg") or entry) if isinstance(entry, dict) else str(entry)
            for entry in message
        )
    return str(message)


def text_of(value: Any) -> str:
    """Returns a text, whole or in parts, without halves of surrogate pairs."""
    if value is None:
        return ""
    if isinstance(value, list):
        value = "".join(part["text"] for part in value if part.get("type") == "text")
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} is no text")
    return whole(value)


def _named(model: Any) -> str:
    """Returns the model's name; a reply does not fail for its lack."""
    return text_of(model) if isinstance(model, str) else ""


def _replay(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns what a server wants back with its calls: thoughts, and Google's signatures."""
    calls = message.get("tool_calls") or ()
    kept = {name: message[name] for name in THOUGHTS if calls and message.get(name)}
    if any(signatures := [call.get("extra_content") for call in calls]):
        kept["extra_content"] = signatures
    return {"api": "chat", "parts": [kept]} if kept else None


def _reasoning(message: Mapping[str, Any]) -> str:
    found = (message.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text_of(value) for value in found if value and isinstance(value, str)), "")


def _call(entry: Any) -> ToolCall:
    function = entry["function"]
    return called(function["name"], function.get("arguments"), entry.get("id"))


def called(name: Any, arguments: Any, identity: Any) -> ToolCall:
    """Returns a call; the arguments are a text or JSON data, and the id can be missing."""
    written = (
        text_of(arguments)
        if isinstance(arguments, str)
        else json.dumps(arguments or {}, ensure_ascii=False)
    )
    return ToolCall(text_of(name), written, "" if identity is None else str(identity))


def _usage(found: Any) -> Usage | None:
    if not isinstance(found, dict):
        return None
    details = found.get("prompt_tokens_details")
    return counted(
        found.get("prompt_tokens"),
        found.get("completion_tokens"),
        details.get("cached_tokens") if isinstance(details, dict) else 0,
    )


def counted(prompt: Any, completion: Any, cached: Any = 0) -> Usage | None:
    """Returns the usage if the counts of prompt and completion are numbers from 0 up."""
    if not all(type(count) is int and count >= 0 for count in (prompt, completion)):
        return None
    return Usage(prompt, completion, cached if type(cached) is int and cached > 0 else 0)
