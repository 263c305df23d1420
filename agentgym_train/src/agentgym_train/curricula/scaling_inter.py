"""ScalingInter-RL (Xi et al., 2025): few turns first, so that the agent learns to exploit; then more, so that it explores."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from agentgym_train.curricula.stateless import Stateless
from agentgym_train.limits import Count


@dataclass(frozen=True, kw_only=True)
class ScalingInter(Stateless):
    """``rounds[0]`` turns for the first ``every`` steps, ``rounds[1]`` for the next, the last one to the end."""

    rounds: Annotated[tuple[Count, ...], Field(min_length=1)]
    every: Count

    def horizon(self, step: int) -> int:
        """Returns the turns of the stage that ``step`` lies in."""
        return self.rounds[min(step // self.every, len(self.rounds) - 1)]
