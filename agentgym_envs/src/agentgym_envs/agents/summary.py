"""An agent that rewrites its own memory when the model's context fills up."""

from collections.abc import Mapping
from typing import Any

from agentgym_envs.agents.base import EpisodeOpening
from agentgym_envs.agents.chat import PICTURE, ReactAgent, shown, spoken
from agentgym_envs.errors import ArgumentError, ContextExceeded
from agentgym_envs.models.endpoint import ChatMessage
from agentgym_envs.models.provider import ModelClient

ASK_MEMORY = (
    "{observation}\n\nBefore you act, write a memory: the goal, what you learned and tried, the"
    " current state and your plan. You go on with the memory and the observation above alone. Plain"
    " text, this once without any other form."
)
MEMORY = "Your memory of the earlier turns:\n{memory}\n\n{observation}"


class SummaryAgent(ReactAgent):
    """ReAct over episodes that are longer than the model's context.

    When the tokens in use reach a share of the context, the model writes a memory of the
    conversation. A new conversation then starts with the rules, the goal, the memory and the latest
    observation. An episode can have any number of them. The request for the memory is a call of the
    model like any other, so training rewards a memory like an action.

    Sources: SUPO (Lu et al., ACL 2026, arXiv 2510.06727), whose authors train tool use and
    summaries together by reinforcement learning, beyond a fixed context; CompactionRL
    (arXiv 2607.05378), whose authors train a coding agent and its summaries the same way. Their
    prompts and thresholds differ.

    Args:
        client: the model. Its server must count tokens.
        share: of the context; the memory is rewritten when a reply ends at this share or above.
        context: in tokens; None takes ``client.max_context``.
        thoughts: see :class:`ChatAgent`.

    Raises:
        ArgumentError: an invalid value.
    """

    def __init__(
        self,
        *,
        client: ModelClient,
        share: float = 0.75,
        context: int | None = None,
        thoughts: str = "template",
    ):
        super().__init__(client=client, thoughts=thoughts)
        if not isinstance(share, int | float) or not 0 < share < 1:
            raise ArgumentError(f"share={share!r}: must be a number above 0 and below 1")
        if context is not None and (type(context) is not int or context < 1):
            raise ArgumentError(f"context={context!r}: must be a whole number of tokens from 1 up")
        self.share, self._context = share, context

    async def start(self, opening: EpisodeOpening) -> None:
        """Starts the conversation with the rules.

        Raises:
            ArgumentError: the length of the context is unknown.
        """
        context = self._context or self.client.max_context
        if context is None:
            raise ArgumentError(
                "the agent 'summary' needs the length of the model's context, which the server"
                " does not say: set it in tokens with --option context=…"
            )
        self.context = context
        self.used = 0
        """Tokens of the latest prompt and reply."""
        await super().start(opening)

    async def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the model, after it has rewritten its memory if the context is full.

        Raises:
            ArgumentError: the server does not count tokens.
            ContextExceeded: the memory is empty, or it or the request for it does not fit.
        """
        if self.used < self.share * self.context:
            return await super().act(observation, info)
        memory = await self._rewrite(observation, info)
        goal = f"Goal: {self.opening.goal}\n\n" if self.opening.goal else ""
        self.messages = self.messages[:1]
        try:
            text = MEMORY.format(memory=memory, observation=observation)
            return await super().act(f"{goal}{text}", info)
        except ContextExceeded as error:
            rules = self.messages[0]["content"]
            raise ContextExceeded(
                f"the memory of {len(memory):,} characters does not fit into the context of"
                f" {self.context:,} tokens beside rules of {len(rules):,} and an observation of"
                f" {len(observation):,} characters: {error}",
                error.status,
                error.answer,
            ) from None

    async def _rewrite(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the model for its memory."""
        self.picture = str(info.get(PICTURE) or "")
        question = ASK_MEMORY.format(observation=shown(observation, info))
        full = f"{self.used:,} of the context's {self.context:,} tokens are in use"
        try:
            memory = spoken(await self.ask({"role": "user", "content": question}))
        except ContextExceeded as error:
            raise ContextExceeded(
                f"{full}, and the request for a memory does not fit beside them (lower"
                f" share={self.share:g}): {error}",
                error.status,
                error.answer,
            ) from None
        if not memory:
            raise ContextExceeded(f"{full}, and the memory that the model wrote is empty")
        return memory

    async def ask(self, *more: ChatMessage) -> str:
        """Asks the model, and counts the tokens in use."""
        text = await super().ask(*more)
        usage = self.reply.usage
        if usage is None:
            raise ArgumentError(
                "the model's server does not count tokens, which the agent 'summary' needs: use"
                " --agent react --option window=8"
            )
        self.used = usage.prompt_tokens + usage.completion_tokens
        if usage.prompt_tokens > self.context:
            raise ContextExceeded(
                f"the prompt has {usage.prompt_tokens:,} tokens, and the context {self.context:,}"
            )
        return text
