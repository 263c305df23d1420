"""Counts the tokens and the cost of a model, and limits them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.errors import ArgumentError, ContextExceeded, ConversationRefused
from agentgym_envs.evaluate.transcript import OnReply
from agentgym_envs.models.answers import ModelReply, one_line
from agentgym_envs.models.endpoint import ChatMessage
from agentgym_envs.models.provider import ModelClient


def money(cost: float) -> str:
    """Returns a cost with at least two digits.

    >>> money(1234.5), money(0.00123)
    ('1,234.50', '0.0012')
    """
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}"


@dataclass
class UsageTotals:
    """Calls, tokens and cost."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """In the currency of the prices that were given; 0 without prices."""
    cached_tokens: int = 0
    """Prompt tokens that the server read from its cache."""
    cached_calls: int = 0
    """Calls that the response cache answered. They count no tokens and no cost."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def spent(self) -> str:
        """Tokens and cost, as a message; without a cost if nothing has a price."""
        cost = f", cost {money(self.cost)}" if self.cost else ""
        return f"{self.tokens:,} tokens{cost}"

    @property
    def saved(self) -> str:
        """The savings of both caches, as a message; empty if there are none."""
        parts = []
        if self.cached_tokens:
            share = f"{self.cached_tokens:,} of {self.prompt_tokens:,}"
            parts.append(f"{share} prompt tokens came from the server's cache")
        if self.cached_calls:
            parts.append(f"{self.cached_calls:,} of {self.calls:,} replies came from --cache")
        return "; ".join(parts)

    def add(self, other: "UsageTotals | Mapping[str, Any]") -> None:
        """Adds another."""
        counts = other if isinstance(other, Mapping) else vars(other)
        for name in vars(self):
            setattr(self, name, getattr(self, name) + counts.get(name, 0))


@dataclass
class UsageBudget:
    """Limits, and the usage of all replies of a folder, including earlier runs.

    Running episodes finish after a limit is reached, because they are paid for. The usage can
    therefore exceed the limit a little.
    """

    tokens: int | None = None
    cost: float | None = None
    names: tuple[str, str] = ("--budget-tokens", "--budget-cost")
    """The settings of the two limits, as a message names them."""
    used: UsageTotals = field(default_factory=UsageTotals)
    keep: Callable[[UsageTotals], None] = lambda usage: None
    """Receives the usage of each reply when it arrives."""

    def add(self, usage: UsageTotals) -> None:
        """Counts a reply."""
        self.used.add(usage)
        self.keep(usage)

    @property
    def spent(self) -> str:
        """The limit that is reached, as a message; empty if no limit is reached."""
        if self.tokens is not None and self.used.tokens >= self.tokens:
            return (
                f"the budget of {self.tokens:,} tokens is spent ({self.used.tokens:,} were used):"
                f" raise {self.names[0]} to go on"
            )
        if self.cost is not None and self.used.cost >= self.cost:
            return (
                f"the budget of {self.cost:g} is spent ({self.used.cost:.4f} was used): raise"
                f" {self.names[1]} to go on"
            )
        return ""


class MeteredClient:
    """A client for one episode that counts its usage.

    Args:
        client: the model.
        budget: of the run.
        sample: names the episode, so that the response cache answers each episode differently.

    Attributes:
        tools: the functions of the latest request.
        on_reply: called with each request's messages and tools, and the reply.
    """

    def __init__(self, client: ModelClient, budget: UsageBudget, sample: str = ""):
        self._client, self._budget, self._sample = client, budget, sample
        self.usage = UsageTotals()
        self.tools: Sequence[Mapping[str, Any]] | None = None
        self.on_reply: OnReply = lambda messages, tools, reply: None

    @property
    def max_context(self) -> int | None:
        """See :class:`~agentgym_envs.models.provider.ModelClient`."""
        return self._client.max_context

    async def complete(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[Mapping[str, Any]] | None = None
    ) -> ModelReply:
        """Asks the model.

        Raises:
            ArgumentError: there is a budget, and the server does not say what it used.
            ConversationRefused: the model or a filter refused to answer.
            ContextExceeded: the conversation and the reply fill the model's context.
            ProviderError: see :class:`~agentgym_envs.models.provider.ModelClient`.
        """
        self.tools = tools
        # The number of the call: the same question can be asked twice in an episode.
        sample = f"{self._sample}/{self.usage.calls}"
        reply = await self._client.complete(messages, tools=tools, sample=sample)
        usage = reply.usage
        if usage is None and (self._budget.tokens is not None or self._budget.cost is not None):
            raise ArgumentError(
                "the model's server does not say how many tokens it used, so that no budget can be"
                " kept"
            )
        used = used_by(reply)
        self.usage.add(used)
        self._budget.add(used)
        self.on_reply(messages, tools, reply)
        if reply.finish == "refusal":
            said = one_line(reply.text) or "the reply is empty"
            raise ConversationRefused(f"the model or a filter refused to answer: {said}")
        if reply.finish == "context":
            raise ContextExceeded("the reply reached the end of the model's context")
        return reply


def used_by(reply: ModelReply) -> UsageTotals:
    """Returns the usage of one reply."""
    if reply.cached:
        return UsageTotals(calls=1, cached_calls=1)
    if reply.usage is None:
        return UsageTotals(calls=1, cost=reply.cost or 0.0)
    return UsageTotals(calls=1, cost=reply.cost or 0.0, **vars(reply.usage))
