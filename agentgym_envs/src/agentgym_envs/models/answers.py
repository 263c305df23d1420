"""Parses a model server's answers: a reply, a list of models, an error message, a time to wait."""

import email.utils
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
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
# How servers say that a conversation is too long for the model. Most lines hold for several
# servers; the table in tests/support/server_answers.jsonl names them.
_EXCEED = r"exceed(?:s|ed|ing)?"
_SIZE = rf"(?:too (?:long|large|big)|longer than|{_EXCEED}|greater than|over the limit)"
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size|limit)|exceed_context|request_too_large"
    rf"|(?:prompt|input|inputs|conversation|messages|request|sequence)\b[^.]{{0,60}}\b{_SIZE}\b"
    rf"|{_EXCEED}\b[^.]{{0,40}}\b(?:token|context|length|prompt|input)"
    r"|reduce the length|maximum (?:allowed )?(?:prompt|input|model|sequence) length"
    r"|maximum allowed length|too many (?:input |prompt )?tokens|total number of tokens"
    r"|must have less than \d+ tokens|`inputs` tokens \+ `max_new_tokens`"
    r"|max_(?:completion_|output_|new_)?tokens must be (?:at least|greater than) \d+, (?:got|not) -"
    r"|request too large|range of input length|maxlength: \d+, actual"
    r"|messages?\[\d+\]\.content\W{1,3}string too long"
    r"|(?:prompt|input|sequence)(?:[_ ](?:length|tokens?|token count))?\b[^.]{0,40}"
    r"(?:must (?:be|have) (?:at most|less than)|is above|only supports| > \d)"
    r"|max_seq_len|not fit in(?:to)? the context|shorten your (?:prompt|messages|input)"
    r"|过长|超长|超[出过][^。]{0,12}(?:长度|上下文|限制)",
    re.IGNORECASE,
)
# A reply limit above what the model can write. The conversation has no part in it.
_LIMIT_TOO_HIGH = re.compile(
    r"max_(?:completion_|output_|new_)?tokens\W[^.]{0,60}"
    r"(?:too (?:large|high)|less than or equal|at most|maximum|valid range|\d > \d)",
    re.IGNORECASE,
)
# A model's context and the tokens of the prompt, in a refusal of a reply limit that does not fit.
_ROOM = (
    re.compile(r"(?P<prompt>\d{1,9}) \+ \d{1,9} > (?P<context>\d{1,9})"),
    re.compile(
        r"must be <= (?P<context>\d{1,9})\. Given: (?P<prompt>\d{1,9}) `inputs` tokens",
        re.IGNORECASE,
    ),
)
_CONTEXT = re.compile(
    r"(?:context (?:length|limit|window|size)|max_seq_len)\D{0,30}(\d{1,9})", re.IGNORECASE
)
_PROMPT = re.compile(
    r"\b(\d{1,9}) (?:tokens )?(?:in (?:the messages|your prompt|the prompt)|prompt tokens"
    r"|(?:from the |of text )?input\b)",
    re.IGNORECASE,
)
# The sum of prompt and reply is above a limit.
_SUM = re.compile(
    r"(?:prompt|input)\b[^.]{0,30}\band\b[^.]{0,20}\b(?:prediction|output|completion|max_tokens)"
    r"|max_total_tokens",
    re.IGNORECASE,
)
# A spent budget, a busy server and too many functions end no conversation.
_SPENT = re.compile(r"\b(?:budget|quota|credits?|billing|rate[ _]limit|per (?:minute|day))\b", re.I)
_BUSY = re.compile(r"\b(?:queue|overloaded|timed out)\b", re.IGNORECASE)
_TOOLS = re.compile(r"\b(?:number of (?:allowed )?tools|\w*schema|properties)\b", re.IGNORECASE)
_PAGE = re.compile(r"\s*<(?:!doctype|html|head)\b", re.IGNORECASE)
# How servers say that a filter rejected one conversation.
_FILTERED = re.compile(
    r"content[ _-]?(?:filter|policy|management|moderation)|filtering policy|invalid_prompt"
    r"|usage (?:polic|guideline)|content (?:exists risk|violat)|moderation|guardrail"
    r"|safety (?:system|check|filter|polic|setting)|safety_|responsible ?ai|jailbreak"
    r"|data_?inspection|(?:input|output) (?:new_)?sensitive|敏感|违规|违反|不合规|不安全"
    r"|inappropriate content"
    r"|(?:sensitive|unsafe|harmful|prohibited|disallowed) (?:content|words?|information)"
    r"|(?:input|prompt|content|text|request|response|output) (?:was |has been |is |were )?"
    r"(?:flagged|blocked|filtered|rejected by)"
    r"|violat\w+ (?:our|the|its) [^.]{0,40}(?:polic|guideline|terms)",
    re.IGNORECASE,
)
ECHOES = frozenset(("input", "inputs", "flagged_input", "messages", "prompt", "contents", "url"))
"""Keys of an answer under which servers repeat the request."""
WHOLE = 20_000  # characters of a server's message in which its cause is looked for


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
CONTEXTS = (
    *("max_model_len", "context_length", "context_window", "max_context_length"),
    *("n_ctx", "max_input_tokens"),
)
"""Keys of a model's context in lists of models.

They are those of vLLM and SGLang, OpenRouter, Groq, Mistral, llama.cpp (in ``meta``) and Anthropic.
"""
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
class TokenUsage:
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
class ModelReply:
    """One completion."""

    text: str
    """Empty if the model only calls tools or only reasons."""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    """Reasoning that the server reports separately from the text."""
    usage: TokenUsage | None = None
    """``None`` if the server does not count."""
    finish: str = ""
    """Why the reply ended, the same for all APIs: see :func:`finish_of`."""
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
class ErrorAnswer:
    """A server's error message."""

    message: str
    """One line of at most ``LINE`` characters."""
    code: str
    """The machine-readable parts; empty if the answer is not in a form for errors."""
    whole: str = ""
    """All texts of the answer, except those that repeat the request; empty for a web page."""

    @property
    def too_long(self) -> bool:
        """Whether the conversation exceeds the model's context."""
        if room_of(self.whole) is not None:
            return True
        others = (_SPENT, _BUSY, _TOOLS, _LIMIT_TOO_HIGH)
        other = any(cause.search(self.whole) for cause in others)
        return bool(_TOO_LONG.search(self.whole)) and not other

    @property
    def too_large_for_its_rate(self) -> bool:
        """Whether the request alone exceeds the tokens of a minute, so that no wait helps."""
        return bool(re.search(r"request too large", self.whole, re.IGNORECASE))

    @property
    def filtered(self) -> bool:
        """Whether a filter rejected the conversation; other conversations are not affected."""
        return bool(_FILTERED.search(self.whole))


FINISHES = {
    **dict.fromkeys(("end_turn", "stop_sequence", "eos", "eos_token"), "stop"),
    **dict.fromkeys(("max_tokens", "max_output_tokens"), "length"),
    **dict.fromkeys(("tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("model_context_window_exceeded", "model_length"), "context"),
    **dict.fromkeys(
        (
            *("content_filter", "content_filtered", "guardrail_intervened", "sensitive"),
            *("safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"),
        ),
        "refusal",
    ),
}
"""Finish reasons of servers, and what they are called here."""
FAILED = ("error", "insufficient_system_resource")
"""Finish reasons of completions that the server could not end."""


def finish_of(reason: Any) -> str:
    """Returns a finish reason in the terms of all APIs.

    They are ``stop``, ``length`` (the reply reached its limit of tokens), ``tool_calls``,
    ``refusal`` (the model or a filter refused the conversation) and ``context`` (the conversation
    and the reply fill the model's context). Any other word is the server's own.

    >>> finish_of("SAFETY"), finish_of("max_tokens"), finish_of("stop"), finish_of(None)
    ('refusal', 'length', 'stop', '')
    """
    word = reason.lower() if isinstance(reason, str) else ""
    return FINISHES.get(word, word)


def read_reply(answer: Any) -> ModelReply:
    """Parses a chat completion.

    Raises:
        NotOfTheProtocol: the answer is not a completion.
    """
    try:
        choice = answer["choices"][0]
        message, finish = choice["message"], finish_of(choice.get("finish_reason"))
        if finish in FAILED:
            raise NotOfTheProtocol("the completion failed")
        return ModelReply(
            text=text_of(message.get("content")) or text_of(message.get("refusal")),
            tool_calls=tuple(map(_call, message.get("tool_calls") or ())),
            reasoning=_reasoning(message),
            usage=_usage(answer.get("usage")),
            finish="refusal" if message.get("refusal") else finish,
            model=_named(answer.get("model")),
            replay=_replay(message),
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise NotOfTheProtocol(f"no completion: {type(error).__name__}") from error


def read_models(answer: Any) -> dict[str, int | None]:
    """Parses a list of models; returns the context of each in tokens, or None without one.

    Raises:
        NotOfTheProtocol: the answer is not a list of models.
    """
    try:
        rows = answer if isinstance(answer, list) else answer["data"] or []
        return {text_of(row["id"]): _context(row) for row in rows}
    except (KeyError, TypeError) as error:
        raise NotOfTheProtocol(f"no list of models: {type(error).__name__}") from error


def _context(row: Mapping[str, Any]) -> int | None:
    """Returns the context of a model in tokens, if its row in the list of models says it."""
    meta = row.get("meta")
    said = {**(meta if isinstance(meta, dict) else {}), **row}
    found = (said.get(name) for name in CONTEXTS)
    return next((size for size in found if type(size) is int and size > 0), None)


def listed_as(models: Collection[str], name: str) -> str | None:
    """Returns the name of a model in a list of models; None if the list lacks it.

    The name can lack Gemini's prefix or Ollama's tag, or have OpenRouter's variant at its end.
    """
    forms = (name, f"models/{name}", f"{name}:latest", name.partition(":")[0])
    return next((form for form in forms if form in models), None)


def read_complaint(body: str) -> ErrorAnswer:
    """Finds the message in an answer of any form.

    The forms are ``error.message``, ``error``, ``message``, ``detail`` and plain text. Gateways
    also put the provider's own answer into a field, as text or as JSON. A web page is an answer of
    a proxy, which knows nothing of the conversation.
    """
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        page = _PAGE.match(body)
        return ErrorAnswer(_line(body[:WHOLE]), "", "" if page else body[:WHOLE])
    whole = "\n".join(_texts(found))[:WHOLE]
    inner = found.get("error") or found if isinstance(found, dict) else found
    if isinstance(inner, str):
        return ErrorAnswer(_line(inner, whole), "error", whole)
    if isinstance(found, dict) and isinstance(found.get("base_resp"), dict):  # MiniMax
        inner = {"message": found["base_resp"].get("status_msg"), "code": "base_resp"}
    messages = (
        [inner[key] for key in ("message", "detail", "error") if inner.get(key)]
        if isinstance(inner, dict)
        else []
    )
    if not messages:
        return ErrorAnswer(_line(whole or body), "", whole)
    code = f"{inner.get('code')} {inner.get('type')}"
    return ErrorAnswer(_line(_sentence(messages[0]), whole), code, whole)


def _texts(value: Any) -> Iterator[str]:
    """Yields the texts of an answer, except those that repeat the request."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ECHOES:
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        nested = read_object(value)
        yield from _texts(nested) if nested else [value]


def _line(message: str, whole: str = "") -> str:
    """Returns a message as one line that has its cause, where the cause is known.

    Args:
        message: the message.
        whole: all texts of the answer; a gateway's message need not have the cause.
    """
    line, message = one_line(message), message[:WHOLE]
    causes = (_TOO_LONG, _FILTERED)
    if any(cause.search(line) for cause in causes):
        return line
    for text in (message, whole):
        if found := next(filter(None, (cause.search(text) for cause in causes)), None):
            around = text[max(0, found.start() - LINE // 4) : found.end() + LINE // 4]
            return one_line(f"{line[: LINE // 3]}… {around}")
    return line


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


def limit_too_high(text: str) -> bool:
    """Returns whether an error says that the model cannot write replies as long as requested."""
    return bool(_LIMIT_TOO_HIGH.search(text))


def room_of(text: str, limit: int | None = None) -> int | None:
    """Returns the tokens that a conversation leaves for a reply, if an error says so.

    Args:
        text: the error.
        limit: of the refused reply; some errors have only its sum with the prompt.
    """
    if found := next(filter(None, (form.search(text) for form in _ROOM)), None):
        return int(found["context"]) - int(found["prompt"])
    if (context := _CONTEXT.search(text)) and (prompt := _PROMPT.search(text)):
        return int(context[1]) - int(prompt[1])
    if limit is None or not _SUM.search(text):
        return None
    *lower, total = sorted({0, *numbers(text)})
    return lower[-1] - (total - limit) if total > limit else None


def numbers(text: str) -> list[int]:
    """Returns the numbers of a text that can count tokens."""
    return [int(found) for found in re.findall(r"\b\d{2,9}\b", text)]


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


def _usage(found: Any) -> TokenUsage | None:
    if not isinstance(found, dict):
        return None
    details = found.get("prompt_tokens_details")
    return counted(
        found.get("prompt_tokens"),
        found.get("completion_tokens"),
        details.get("cached_tokens") if isinstance(details, dict) else 0,
    )


def counted(prompt: Any, completion: Any, cached: Any = 0) -> TokenUsage | None:
    """Returns the usage if the counts of prompt and completion are numbers from 0 up."""
    if not all(type(count) is int and count >= 0 for count in (prompt, completion)):
        return None
    return TokenUsage(prompt, completion, cached if type(cached) is int and cached > 0 else 0)
