"""How a server wants its requests, as far as its refusals show it.

Servers of one API differ in the name of the reply limit, in the longest reply, and in whether a
conversation can begin with a system message. A refused request names the difference. The client
then tries another dialect, and keeps it if the server accepts it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agentgym_envs.models.answers import limit_too_high, numbers, room_of
from agentgym_envs.models.endpoint import LIMITS, ChatMessage, ModelEndpoint
from agentgym_envs.models.parts import system_text, turns

_NAMED = re.compile(r"max_(?:completion_)?tokens")
_ROLES = re.compile(r"\bsystem\b|\broles?\b|developer (?:instruction|message)", re.IGNORECASE)


@dataclass(frozen=True)
class ServerDialect:
    """The form of the requests to one server."""

    tokens_name: str
    """The name of the reply limit in the API for chat completions."""
    max_tokens: int | None
    """Longest reply; ``None``: the server's default."""
    has_system: bool = True
    """Whether the server takes system messages."""

    @classmethod
    def first(cls, endpoint: ModelEndpoint) -> "ServerDialect":
        """Returns the dialect of the first request to a server."""
        openai = endpoint.host == "api.openai.com"
        return cls(endpoint.max_tokens_name or LIMITS[openai], endpoint.max_tokens)

    def written(self, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        """Returns a conversation.

        Without system messages, the first message of the user begins with their text.
        """
        rules = "" if self.has_system else system_text(messages)
        if not rules:
            return messages
        said = turns(messages)
        first = said[0]["content"] if said and said[0]["role"] == "user" else ""
        text = (
            f"{rules}\n\n{first}".rstrip()
            if isinstance(first, str)
            else [{"type": "text", "text": rules}, *first]
        )
        rest = said[1:] if first else said
        return [{"role": "user", "content": text}, *rest]

    def others(self, refusal: str, endpoint: ModelEndpoint) -> Iterator["ServerDialect"]:
        """Yields the dialects that a server may accept, given its refusal of this one."""
        if self.max_tokens is not None and limit_too_high(refusal):
            lower = [n for n in numbers(refusal) if n < self.max_tokens]
            if lower:
                yield replace(self, max_tokens=max(lower))
        elif _NAMED.search(refusal) and not endpoint.max_tokens_name:
            yield replace(self, tokens_name=LIMITS[self.tokens_name == LIMITS[0]])
        if self.has_system and _ROLES.search(refusal):
            yield replace(self, has_system=False)

    def shorter(self, refusal: str) -> "ServerDialect | None":
        """Returns the dialect for one conversation that leaves less room than the reply limit."""
        room = room_of(refusal, self.max_tokens)
        if room is None or self.max_tokens is None or not 0 < room < self.max_tokens:
            return None
        return replace(self, max_tokens=room)

    def changes(self, before: "ServerDialect") -> str:
        """Returns the differences from another dialect, as a message."""
        parts = []
        if self.tokens_name != before.tokens_name:
            parts.append(f"the reply limit is called {self.tokens_name}")
        if self.max_tokens != before.max_tokens:
            parts.append(f"a reply has at most {self.max_tokens} tokens, not {before.max_tokens}")
        if self.has_system != before.has_system:
            parts.append("the rules are in the first user message, not in a system message")
        return "; ".join(parts)
