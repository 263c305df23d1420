"""Parts of a conversation, which each API writes in its own form."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.models.endpoint import ChatMessage

EMPTY = "(no text)"
"""Stands for an empty message, which some APIs refuse."""


def system_text(messages: Sequence[ChatMessage]) -> str:
    """Returns the text of all system messages."""
    return "\n\n".join(str(m["content"]) for m in messages if m["role"] == "system")


def turns(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Returns all messages except the system's."""
    return [message for message in messages if message["role"] != "system"]


def content(message: ChatMessage) -> list[tuple[str, str]]:
    """Returns a user's message as pairs of ``text`` and a text, or an image type and base64.

    Raises:
        ArgumentError: a part is neither a text nor an image in a ``data:`` address.
    """
    found = message["content"]
    if isinstance(found, str):
        return [("text", found if found.strip() else EMPTY)]
    return [_part(part) for part in found]


def _part(part: Mapping[str, Any]) -> tuple[str, str]:
    if part.get("type") == "text":
        return "text", part["text"] if part["text"].strip() else EMPTY
    url = part["image_url"]["url"] if part.get("type") == "image_url" else ""
    kind, base64, data = url.removeprefix("data:").partition(";base64,")
    if not (url.startswith("data:image/") and base64):
        raise ArgumentError("a part of a message must be a text or an image in a data: address")
    return kind, data


def replayed(message: ChatMessage, api: str) -> list[Any]:
    """Returns the parts of a reply in the form of its API; empty if another API gave it."""
    replay = message.get("replay") or {}
    return list(replay["parts"]) if replay.get("api") == api else []
