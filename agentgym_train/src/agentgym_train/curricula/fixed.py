"""The same horizon throughout."""

from dataclasses import dataclass

from agentgym_train.config.constraints import Count
from agentgym_train.curricula.stateless import Stateless


@dataclass(frozen=True, kw_only=True)
class Fixed(Stateless):
    """``turns`` at every step."""

    turns: Count

    def horizon(self, step: int) -> int:
        """Returns ``turns``."""
        return self.turns
