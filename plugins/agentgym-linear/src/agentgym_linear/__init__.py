"""A curriculum whose horizon grows by a constant number of turns."""

from dataclasses import dataclass

from agentgym_train import Count, Curriculum, Whole


@dataclass(frozen=True, kw_only=True)
class Linear(Curriculum):
    """Starts with ``start`` turns and adds ``delta`` after each ``every`` steps up to ``limit``."""

    start: Count
    limit: Count
    delta: Whole = 1
    every: Count = 1

    def __post_init__(self) -> None:
        if self.limit < self.start:
            raise ValueError(f"limit={self.limit} is below start={self.start}")

    def horizon(self, step: int) -> int:
        """Returns the horizon of a step; steps count from 0."""
        return min(self.start + self.delta * (step // self.every), self.limit)
