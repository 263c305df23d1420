"""A curriculum whose horizon grows by a constant number of turns."""

from dataclasses import dataclass

from agentgym_train import Count, Curriculum, Whole


@dataclass(frozen=True, kw_only=True)
class Linear(Curriculum):
    """Adds ``delta`` turns after each ``every`` steps, up to ``limit``."""

    start: Count
    limit: Count
    delta: Whole = 1
    every: Count = 1

    def horizon(self, step):
        """Returns the turns that an episode may take; steps count from 0."""
        return min(self.start + self.delta * (step // self.every), self.limit)
