"""Function calling: the environment's tools are the model's, and observations are their results."""

import json
import re
from collections.abc import Mapping
from typing import Any

from agentgym_envs.evaluate.agents.base import Opening
from agentgym_envs.evaluate.agents.chat import PICTURE, Chat, pictured, shown, thinking
from agentgym_envs.models.answers import ToolCall
from agentgym_envs.models.calls import with_ids
from agentgym_envs.models.endpoint import Message
from agentgym_envs.models.provider import Provider

NOT_EXECUTED = (
    "Not executed: only the first call of a response is executed. Make one call at a time."
)


class Function(Chat):
    """Native tool calls.

    A turn executes one call. If a response has several, the first one is executed, and the results
    of the others say that they were not executed. An answer without a call is sent as it is; the
    environment then reports the error.
    """

    format = "function"

    def __init__(self, *, client: Provider):
        super().__init__(client=client)

    async def start(self, opening: Opening) -> None:
        """Starts the conversation with the environment's rules; the tools describe the actions."""
        await super().start(opening)
        self.messages = [{"role": "system", "content": opening.instructions}]
        self._called: list[str] = []
        self._ids: set[str] = set()

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the model. The first call of its reply is the action."""
        text = shown(observation, info)
        results: list[Message] = [
            {"role": "tool", "tool_call_id": call, "content": NOT_EXECUTED if number else text}
            for number, call in enumerate(self._called)
        ]
        self.messages += results or [{"role": "user", "content": text}]
        seen = pictured(self.visible(), str(info.get(PICTURE) or ""))
        reply = with_ids(await self.client.complete(seen, tools=self.opening.tools), self._ids)
        self.messages.append(reply.message())
        self._called = [call.id for call in reply.tool_calls]
        self._ids.update(self._called)
        if not reply.tool_calls:
            return thinking(reply.reasoning, reply.text)
        said = "\n".join(filter(None, [reply.reasoning, reply.text]))
        return thinking(said, f"<tool_call>{_written(reply.tool_calls[0])}</tool_call>")


def _written(call: ToolCall) -> str:
    """Returns a call as JSON. Tags in it are escaped, because they would end the call."""
    text = json.dumps({"name": call.name, "arguments": call.arguments})
    return re.sub("<(?=/?(?:think|tool_call))", r"\\u003c", text, flags=re.IGNORECASE)
