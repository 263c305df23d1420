"""Counts the tokens and the cost of a model, and limits them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.models.client import Client, Message, Reply


@dataclass
class Usage:
    """Calls, tokens and cost."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """In the currency of the prices that were given; 0 without prices."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, other: "Usage | Mapping[str, Any]") -> None:
        """Adds another."""
        counts = other if isinstance(other, Mapping) else vars(other)
        for name in vars(self):
            setattr(self, name, getattr(self, name) + counts.get(name, 0))


@dataclass
class Budget:
    """Limits, and the usage of all episodes of a folder, including earlier runs.

    Running episodes finish after a limit is reached, because they are paid for. The usage can
    therefore exceed the limit a little.
    """

    tokens: int | None = None
    cost: float | None = None
    used: Usage = field(default_factory=Usage)

    @property
    def spent(self) -> str:
        """The limit that is reached, as a message; empty if no limit is reached."""
        if self.tokens is not None and self.used.tokens >= self.tokens:
            return (
                f"the budget of {self.tokens:,} tokens is spent ({self.used.tokens:,} were used):"
                " raise --budget-tokens to go on"
            )
        if self.cost is not None and self.used.cost >= self.cost:
            return (
                f"the budget of {self.cost:g} is spent ({self.used.cost:.4f} was used): raise"
                " --budget-cost to go on"
            )
        return ""


class Meter:
    """A client for one episode that counts its usage.

    Args:
        client: the model.
        budget: of the run.
    """

    def __init__(self, client: Client, budget: Budget):
        self._client, self._budget = client, budget
        self.usage = Usage()

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] | None = None
    ) -> Reply:
        """Asks the model.

        Raises:
            ArgumentError: there is a budget, and the server does not say what it used.
            ProviderError: see :class:`~agentgym_envs.models.client.Client`.
        """
        reply = await self._client.complete(messages, tools=tools)
        usage = reply.usage
        if usage is None and (self._budget.tokens is not None or self._budget.cost is not None):
            raise ArgumentError(
                "the model's server does not say how many tokens it used, so that no budget can be"
                " kept"
            )
        used = Usage(
            1,
            usage.prompt_tokens if usage else 0,
            usage.completion_tokens if usage else 0,
            reply.cost or 0.0,
        )
        self.usage.add(used)
        self._budget.used.add(used)
        return reply
