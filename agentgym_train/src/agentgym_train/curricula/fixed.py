"""The same horizon throughout."""

from dataclasses import dataclass

from agentgym_train.config.constraints import Count
from agentgym_train.protocols import Curriculum


@dataclass(frozen=True, kw_only=True)
class Fixed(Curriculum):
    """``turns`` at every step."""

    turns: Count
    """The horizon, in turns."""

    def horizon(self, step: int) -> int:
        """Returns ``turns``."""
        return self.turns
