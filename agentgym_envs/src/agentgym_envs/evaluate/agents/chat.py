"""A model in a conversation: observations are the user's messages, responses the assistant's."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.agents.base import Agent, Opening
from agentgym_envs.models.endpoint import Message
from agentgym_envs.models.provider import Provider
from agentgym_envs.wrappers.responses import FormatError, split_thought

PICTURE = "screenshot"
"""The key of ``info`` under which an environment has a picture, as a ``data:`` address."""


class Chat(Agent):
    """Sends the whole conversation.

    Args:
        client: the model.
        window: number of latest turns to send, after the rules and the goal (or the first
            observation,
            without a goal); None sends all.
    """

    def __init__(self, *, client: Provider, window: int | None = None):
        if window is not None and (not isinstance(window, int) or window < 1):
            raise ArgumentError(f"window={window!r}: must be a whole number from 1 up")
        self.client, self.window = client, window
        self.messages: list[Message] = []
        self.reasoning = self.picture = ""
        self.replay: Message = {}

    async def start(self, opening: Opening) -> None:
        """Starts the conversation with the rules."""
        self.opening = opening
        self.messages = [{"role": "system", "content": opening.system_prompt}]

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the model."""
        self.messages.append({"role": "user", "content": shown(observation, info)})
        self.picture = str(info.get(PICTURE) or "")
        response = await self.respond()
        self.messages.append({"role": "assistant", "content": response, **self.replay})
        return thinking(self.reasoning, response)

    async def respond(self) -> str:
        """Returns the model's answer to the conversation so far."""
        return await self.ask()

    async def ask(self, *more: Message) -> str:
        """Returns the model's answer to the visible conversation and ``more``."""
        reply = await self.client.complete(pictured([*self.visible(), *more], self.picture))
        self.reasoning = reply.reasoning
        # A call without a result is refused, and this agent offers no functions.
        self.replay = {"replay": reply.replay} if reply.replay and not reply.tool_calls else {}
        return reply.text

    def visible(self) -> list[Message]:
        """Returns the messages to send: all, or the rules, the goal and the latest turns."""
        rules, *turns = self.messages
        # The latest may not be answered yet.
        kept = len(turns) if self.window is None else 2 * self.window - len(turns) % 2
        if len(turns) <= kept:
            return self.messages
        first, *rest = turns[-kept:]
        goal = f"Goal: {self.opening.goal}" if self.opening.goal else turns[0]["content"]
        return [rules, {"role": "user", "content": f"{goal}\n\n{first['content']}"}, *rest]


class React(Chat):
    """Thinks before each action (Yao et al., 2023, arXiv 2210.03629)."""

    format = "react"


def pictured(messages: list[Message], picture: str) -> list[Message]:
    """Returns the messages with a picture in the latest one; earlier pictures are not sent again.

    Args:
        messages: that the model sees.
        picture: a ``data:`` address; empty for none.
    """
    if not picture:
        return messages
    *before, last = messages
    parts = [
        {"type": "text", "text": last["content"]},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    if last["role"] == "tool":  # a tool's result holds text alone
        return [*messages, {"role": "user", "content": parts[1:]}]
    return [*before, {**last, "content": parts}]


def thinking(reasoning: str, response: str) -> str:
    """Returns a response with separately reported reasoning before it, in ``<think>`` tags."""
    return f"<think>{reasoning}</think>{response}" if reasoning else response


def spoken(response: str) -> str:
    """Returns the part of a response after its thought; empty if the thought does not end."""
    try:
        return split_thought(response)[1].strip()
    except FormatError:
        return ""


def shown(observation: str, info: Mapping[str, Any]) -> str:
    """Returns the message for an observation, with the admissible actions of ``info``."""
    listed: Sequence[str] = info.get("admissible_actions") or ()
    return (
        f"{observation}\n\nActions that are possible now: {', '.join(listed)}"
        if listed
        else observation
    )
