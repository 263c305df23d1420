"""Function calling: the environment's tools are the model's, and observations are their results."""

import json
from collections.abc import Mapping
from typing import Any

from agentgym_envs.evaluate.agents.base import Opening
from agentgym_envs.evaluate.agents.chat import PICTURE, Chat, pictured, shown, thinking
from agentgym_envs.models.endpoint import Message
from agentgym_envs.models.provider import Provider


class Function(Chat):
    """Native tool calls.

    An answer without a call is sent as it is; the environment then reports the error.
    """

    format = "function"

    def __init__(self, *, client: Provider):
        super().__init__(client=client)

    async def start(self, opening: Opening) -> None:
        """Starts the conversation with the environment's rules; the tools describe the actions."""
        await super().start(opening)
        self.messages = [{"role": "system", "content": opening.instructions}]
        self._called: list[str] = []

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the model. Exactly one call is valid."""
        text = shown(observation, info)
        results: list[Message] = [
            {"role": "tool", "tool_call_id": call, "content": text} for call in self._called
        ]
        self.messages += results or [{"role": "user", "content": text}]
        seen = pictured(self.visible(), str(info.get(PICTURE) or ""))
        reply = await self.client.complete(seen, tools=self.opening.tools)
        self.messages.append(reply.message())
        self._called = [call.id for call in reply.tool_calls]
        written = [
            json.dumps({"name": call.name, "arguments": call.arguments})
            for call in reply.tool_calls
        ]
        if not written:
            return thinking(reply.reasoning, reply.text)
        said = "\n".join(filter(None, [reply.reasoning, reply.text]))
        return thinking(said, "\n".join(f"<tool_call>{call}</tool_call>" for call in written))
