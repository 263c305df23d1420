"""The same horizon throughout."""

from dataclasses import dataclass

from agentgym_train.curricula.stateless import Stateless, check_turns


@dataclass(frozen=True, kw_only=True)
class Fixed(Stateless):
    """``turns`` at every step."""

    turns: int

    def __post_init__(self) -> None:
        check_turns("turns", self.turns)

    def horizon(self, step: int) -> int:
        """Returns ``turns``."""
        return self.turns
