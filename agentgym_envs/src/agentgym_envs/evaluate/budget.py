"""Counting what a model costs, and stopping in time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.errors import AgentGymError
from agentgym_envs.evaluate.client import Client, Message, Reply


class BudgetSpent(AgentGymError):
    """No more calls may be made."""


@dataclass
class Usage:
    """What was used."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """In the currency of the prices that were given; 0 without prices."""

    @property
    def tokens(self) -> int:
        """Of both kinds."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, other: "Usage | Mapping[str, Any]") -> None:
        """Adds another."""
        told = other if isinstance(other, Mapping) else vars(other)
        for name in vars(self):
            setattr(self, name, getattr(self, name) + told.get(name, 0))


@dataclass
class Budget:
    """Limits, and what was used so far by all episodes of a folder, earlier runs included."""

    tokens: int | None = None
    cost: float | None = None
    used: Usage = field(default_factory=Usage)

    def check(self) -> None:
        """Refuses the next call.

        Raises:
            BudgetSpent: a limit is reached.
        """
        if self.tokens is not None and self.used.tokens >= self.tokens:
            raise BudgetSpent(f"the budget of {self.tokens:,} tokens is spent ({self.used.tokens:,} were used)")
        if self.cost is not None and self.used.cost >= self.cost:
            raise BudgetSpent(f"the budget of {self.cost:g} is spent ({self.used.cost:.4f} was used)")


class Meter:
    """A client for one episode, which counts.

    Args:
        client: the model.
        budget: of the run.
    """

    def __init__(self, client: Client, budget: Budget):
        self._client, self._budget = client, budget
        self.usage = Usage()

    async def complete(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] | None = None) -> Reply:
        """Asks the model.

        Raises:
            BudgetSpent: before the call.
            ProviderError: see :class:`~agentgym_envs.evaluate.client.Client`.
        """
        self._budget.check()
        reply = await self._client.complete(messages, tools=tools)
        told = reply.usage
        used = Usage(1, told.prompt_tokens if told else 0, told.completion_tokens if told else 0, reply.cost or 0.0)
        self.usage.add(used)
        self._budget.used.add(used)
        return reply
