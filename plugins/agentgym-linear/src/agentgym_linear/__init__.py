"""A horizon that grows by the same number of turns at a time."""

from dataclasses import dataclass

from agentgym_train.config.constraints import Count, Whole
from agentgym_train.curricula.stateless import Stateless


@dataclass(frozen=True, kw_only=True)
class Linear(Stateless):
    """``start`` turns, ``delta`` more after every ``every`` steps, never above ``limit``."""

    start: Count
    limit: Count
    delta: Whole = 1
    every: Count = 1

    def __post_init__(self) -> None:
        if self.limit < self.start:
            raise ValueError(f"limit={self.limit} is below start={self.start}")

    def horizon(self, step: int) -> int:
        """Returns the turns at a step, counted from 0."""
        return min(self.start + self.delta * (step // self.every), self.limit)
