"""A horizon that grows by the same number of turns at a time."""

from dataclasses import dataclass

from agentgym_train import Count, Curriculum, Whole


@dataclass(frozen=True, kw_only=True)
class Linear(Curriculum):
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
