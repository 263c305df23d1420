"""Agents that talk with a model: observations are the user's messages, responses the assistant's.

``ChatAgent`` is the conversation alone. The others add a thought before each action, a second look,
a plan, lessons from failed attempts, or native tool calls.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.agents.base import Agent, EpisodeEnding, EpisodeOpening
from agentgym_envs.errors import ArgumentError
from agentgym_envs.models.answers import ModelReply, ToolCall
from agentgym_envs.models.calls import with_ids
from agentgym_envs.models.endpoint import ChatMessage
from agentgym_envs.models.provider import ModelClient
from agentgym_envs.wrappers.responses import FormatError, split_thought

THOUGHTS = ("template", "strip", "keep")
"""The choices of the option ``thoughts``: see :class:`ChatAgent`."""
PICTURE = "screenshot"
"""The key of ``info`` under which an environment has a picture, as a ``data:`` address."""
SECOND_LOOK = (
    "Before this is sent: does the action follow the rules, fit the last observation, and lead"
    " towards the goal? Write the response again in the same form, with another action if another"
    " is better."
)
ASK_PLAN = (
    "First write a short numbered plan that reaches the goal: plain text, this once without any"
    " other form. Do not act yet.\n\n{observation}"
)
ASK_LESSON = (
    "The attempt is over and the task was not solved. The last observation"
    " was:\n{observation}\n\nWhat went wrong, and what should be done differently in the next"
    " attempt at this task? Answer in two or three sentences of plain text, this once without any"
    " other form."
)
NOT_EXECUTED = (
    "Not executed: only the first call of a response is executed. Make one call at a time."
)


class ChatAgent(Agent):
    """Sends the whole conversation.

    Args:
        client: the model.
        window: number of latest turns to send, after the rules and the goal (or the first
            observation, without a goal); None sends all.
        thoughts: what later requests repeat of a reply's separately reported thought.
            "template": the reply as its API wants it back (``ModelReply.replay``); the server
            and its chat template decide how much of the thought the model sees again.
            "strip": the text alone.
            "keep": the text after the thought in ``<think>`` tags. A chat template that drops
            thoughts from messages still drops it.

    Raises:
        ArgumentError: an invalid value.
    """

    def __init__(
        self, *, client: ModelClient, window: int | None = None, thoughts: str = "template"
    ):
        if window is not None and (not isinstance(window, int) or window < 1):
            raise ArgumentError(f"window={window!r}: must be a whole number from 1 up")
        if thoughts not in THOUGHTS:
            raise ArgumentError(f"thoughts={thoughts!r}: must be one of {', '.join(THOUGHTS)}")
        self.client, self.window, self.thoughts = client, window, thoughts
        self.messages: list[ChatMessage] = []
        self.picture = ""
        self.reply = ModelReply(text="")

    async def start(self, opening: EpisodeOpening) -> None:
        """Starts the conversation with the rules."""
        self.opening = opening
        self.messages = [{"role": "system", "content": opening.system_prompt}]

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the model."""
        self.messages.append({"role": "user", "content": shown(observation, info)})
        self.picture = str(info.get(PICTURE) or "")
        response = await self.respond()
        self.messages.append(self.said(response))
        return thinking(self.reply.reasoning, response)

    async def respond(self) -> str:
        """Returns the model's answer to the conversation so far."""
        return await self.ask()

    async def ask(self, *more: ChatMessage) -> str:
        """Returns the model's answer to the visible conversation and ``more``."""
        self.reply = await self.client.complete(pictured([*self.visible(), *more], self.picture))
        return self.reply.text

    def said(self, response: str) -> ChatMessage:
        """Returns the latest response as a message, with the thought that ``thoughts`` keeps."""
        reply = self.reply
        if self.thoughts == "keep":
            response = thinking(reply.reasoning, response)
        message = {"role": "assistant", "content": response}
        # A call without a result is refused, and this agent offers no functions.
        if self.thoughts != "template" or not reply.replay or reply.tool_calls:
            return message
        return {**message, "replay": reply.replay}

    def visible(self) -> list[ChatMessage]:
        """Returns the messages to send: all, or the rules, the goal and the latest turns."""
        rules, *turns = self.messages
        # The latest may not be answered yet.
        kept = len(turns) if self.window is None else 2 * self.window - len(turns) % 2
        if len(turns) <= kept:
            return self.messages
        first, *rest = turns[-kept:]
        goal = f"Goal: {self.opening.goal}" if self.opening.goal else turns[0]["content"]
        return [rules, {"role": "user", "content": f"{goal}\n\n{first['content']}"}, *rest]


class ReactAgent(ChatAgent):
    """Thinks before each action (Yao et al., 2023, arXiv 2210.03629)."""

    format = "react"


class CorrectAgent(ReactAgent):
    """ReAct with a second look at each response; the conversation keeps the second one."""

    async def respond(self) -> str:
        """Asks twice."""
        first = self.said(await self.ask())
        return await self.ask(first, {"role": "user", "content": SECOND_LOOK})


class PlanAgent(ReactAgent):
    """ReAct with a plan, which the model writes from the first observation and keeps in view.

    Source: Plan-and-Solve, Wang et al., arXiv 2305.04091.
    """

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Plans before the first action."""
        if len(self.messages) == 1:
            self.picture = str(info.get(PICTURE) or "")
            question = ASK_PLAN.format(observation=shown(observation, info))
            plan = await self.ask({"role": "user", "content": question})
            rules = self.messages[0]["content"]
            self.messages[0] = {
                "role": "system",
                "content": f"{rules}\n\nYour plan:\n{spoken(plan)}",
            }
        return await super().act(observation, info)


class ReflectAgent(ReactAgent):
    """ReAct with lessons from failed attempts at the task, for the next attempt.

    Source: Reflexion, Shinn et al., arXiv 2303.11366.
    """

    async def start(self, opening: EpisodeOpening) -> None:
        """Says the rules and the lessons."""
        await super().start(opening)
        lessons = [f"- {lesson}" for lesson in opening.memory if lesson]
        if lessons:
            rules = self.messages[0]["content"]
            learned = "\n".join(["Lessons from earlier attempts at this task:", *lessons])
            self.messages[0] = {"role": "system", "content": f"{rules}\n\n{learned}"}

    async def end(self, ending: EpisodeEnding) -> Any:
        """Asks the model for the lesson of a failure."""
        if ending.success:
            return None
        question: ChatMessage = {
            "role": "user",
            "content": ASK_LESSON.format(observation=ending.observation),
        }
        return spoken(await self.ask(question)) or None


class FunctionAgent(ChatAgent):
    """Native tool calls: observations are the results of the calls.

    A turn executes one call. If a response has several, the first one is executed, and the results
    of the others say that they were not executed. An answer without a call is sent as it is; the
    environment then reports the error. Each call goes back with its thought, because servers
    require that; so the agent has no option ``thoughts``.
    """

    format = "function"

    def __init__(self, *, client: ModelClient):
        super().__init__(client=client)

    async def start(self, opening: EpisodeOpening) -> None:
        """Starts the conversation with the environment's rules; the tools describe the actions.

        Raises:
            ArgumentError: the environment has no functions.
        """
        if not opening.tools:
            raise ArgumentError(
                "the environment has no functions, which the agent 'function' calls: use another"
                " agent, such as react"
            )
        await super().start(opening)
        self.messages = [{"role": "system", "content": opening.instructions}]
        self._called: list[str] = []
        self._ids: set[str] = set()

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the model. The first call of its reply is the action."""
        text = shown(observation, info)
        results: list[ChatMessage] = [
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


def pictured(messages: list[ChatMessage], picture: str) -> list[ChatMessage]:
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


def _written(call: ToolCall) -> str:
    """Returns a call as JSON. Tags in it are escaped, because they would end the call."""
    text = json.dumps({"name": call.name, "arguments": call.arguments})
    return re.sub("<(?=/?(?:think|tool_call))", r"\\u003c", text, flags=re.IGNORECASE)
