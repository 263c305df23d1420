"""A horizon that grows by the same number of turns at a time."""

from dataclasses import dataclass

from agentgym_train.curricula.stateless import Stateless, check_turns
from agentgym_train.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Linear(Stateless):
    """``start`` turns, ``delta`` more after every ``every`` steps, never above ``limit``."""

    start: int
    limit: int
    delta: int = 1
    every: int = 1

    def __post_init__(self) -> None:
        check_turns("start", self.start)
        if self.every < 1 or self.delta < 0 or self.limit < self.start:
            raise ConfigError(f"linear: every={self.every} and delta={self.delta} do not lead from {self.start} to {self.limit}")

    def horizon(self, step: int) -> int:
        """Returns the turns at a step, counted from 0."""
        return min(self.start + self.delta * (step // self.every), self.limit)
