"""The requests of one episode to its model, and the replies; each message is stored once.

``messages`` has every distinct message in the order of its first use. ``calls`` has one entry per
request::

    {"turn": 3, "messages": [[0, 7]], "reply": 7, "prompt": 812, "finish": "stop"}

The request sent messages 0 to 6; the reply is message 7. ``prompt`` is the number of prompt tokens
that the server counted, if it did. ``"cached": true`` marks a reply of
``--cache``. ``turn`` is the number of turns played before the request. The request for a lesson has
the number of all turns.

``prompt_limit`` is the number of prompt tokens at which the server seems to cut the conversation,
if it does: see :mod:`.prompt_limit`.

System prompts and tools are the same in many episodes. The folder holds each of them once, under a
hash: see :meth:`.Record.share`. A mark replaces each picture: ``--screenshots`` keeps pictures.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentgym_envs.evaluate.prompt_limit import limit_of_calls
from agentgym_envs.models.answers import ModelReply
from agentgym_envs.models.endpoint import ChatMessage, ToolSchema

ChatMessages = Sequence[ChatMessage]
ToolSchemas = Sequence[ToolSchema] | None
OnReply = Callable[[ChatMessages, ToolSchemas, ModelReply], None]
PICTURE = {"type": "text", "text": "(picture)"}


class EpisodeTranscript:
    """Collects the requests and the replies of an episode.

    Args:
        share: stores a value that several episodes have, and returns its name.
        turns: the turns played so far.
    """

    def __init__(self, share: Callable[[Any], str], turns: Sequence[Any]):
        self._share, self._turns = share, turns
        self._numbers: dict[str, int] = {}
        self._messages: list[ChatMessage] = []
        self._sizes: list[int] = []
        self._calls: list[dict[str, Any]] = []

    @property
    def row(self) -> dict[str, Any]:
        """The keys of an episode's line; empty without a request."""
        if not self._calls:
            return {}
        limit = limit_of_calls(self._calls, self._turns, self._messages, self._sizes)
        found = {"messages": self._messages, "calls": self._calls}
        return found | ({"prompt_limit": limit} if limit else {})

    def add(self, messages: ChatMessages, tools: ToolSchemas, reply: ModelReply) -> None:
        """Adds a request and its reply."""
        asked = _ranges([self._number(message) for message in messages])
        call = {
            "turn": len(self._turns),
            "messages": asked,
            "reply": self._number(reply.message()),
            "reasoning": reply.reasoning,
            "prompt": reply.usage.prompt_tokens if reply.usage else "",
            "finish": reply.finish,
            "cached": reply.cached or "",
            "tools": self._share(list(tools)) if tools else "",
        }
        self._calls.append({key: value for key, value in call.items() if value != ""})

    def _number(self, message: ChatMessage) -> int:
        kept = self._kept(message)
        number = self._numbers.setdefault(json.dumps(kept, sort_keys=True), len(self._messages))
        if number == len(self._messages):
            self._messages.append(kept)
            self._sizes.append(len(_text(message)["text"]))
        return number

    def _kept(self, message: ChatMessage) -> ChatMessage:
        """Returns a message without its picture, and with the name of its system prompt."""
        content = message.get("content")
        if message.get("role") == "system" and isinstance(content, str):
            return {"role": "system", "prompt": self._share(content)}
        if isinstance(content, list):
            parts = [PICTURE if part.get("type") == "image_url" else part for part in content]
            return {**message, "content": parts}
        return message


def conversation(
    row: Mapping[str, Any], call: Mapping[str, Any], prompts: Mapping[str, Any]
) -> list[ChatMessage]:
    """Returns the messages of a request as they were sent.

    Args:
        row: the episode's line.
        call: an entry of ``row["calls"]``.
        prompts: the shared texts of the folder: see :func:`.prompts`.
    """
    return [_sent(row["messages"][n], prompts) for n in _numbers(call)]


def requests(row: Mapping[str, Any], prompts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the requests of an episode for a reader: each with the messages that it added.

    Args:
        row: the episode's line.
        prompts: the shared texts of the folder.
    """
    seen: set[int] = set()
    found = []
    for call in row.get("calls", ()):
        added = [n for n in _numbers(call) if n not in seen]
        seen |= {*added, call["reply"]}
        kept = {key: call[key] for key in ("turn", "reasoning", "finish") if key in call}
        texts = [_text(_sent(row["messages"][n], prompts)) for n in (*added, call["reply"])]
        found.append({**kept, "added": texts[:-1], "reply": texts[-1]["text"]})
    return found


def fits(row: Mapping[str, Any]) -> bool:
    """Returns whether the requests of an episode's line are whole."""
    messages = row.get("messages", [])
    return all(isinstance(message, dict) for message in messages) and all(
        isinstance(call["turn"], int)
        and 0 <= call["reply"] < len(messages)
        and all(0 <= start <= end <= len(messages) for start, end in call["messages"])
        for call in row.get("calls", ())
    )


def _numbers(call: Mapping[str, Any]) -> list[int]:
    return [n for start, end in call["messages"] for n in range(start, end)]


def _sent(message: ChatMessage, prompts: Mapping[str, Any]) -> ChatMessage:
    """Returns a message with the text of its system prompt."""
    if "prompt" not in message:
        return message
    name = message["prompt"]
    return {"role": message["role"], "content": prompts.get(name, f"(prompt {name} is missing)")}


def _text(message: ChatMessage) -> dict[str, str]:
    """Returns a message's role and text; calls of tools are part of the text."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else [str(part.get("text")) for part in content]
    calls = [json.dumps(call.get("function")) for call in message.get("tool_calls") or ()]
    return {"role": str(message.get("role")), "text": "\n".join(filter(None, [*parts, *calls]))}


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Returns consecutive numbers as half-open ranges.

    >>> _ranges([0, 1, 2, 5])
    [[0, 3], [5, 6]]
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number:
            ranges[-1][1] += 1
        else:
            ranges.append([number, number + 1])
    return ranges
