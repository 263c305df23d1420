"""ScalingInter-RL (Xi et al., 2025): few turns first, so that the agent learns to exploit; then more, so that it explores."""

from dataclasses import dataclass

from agentgym_train.curricula.stateless import Stateless, check_turns
from agentgym_train.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class ScalingInter(Stateless):
    """``rounds[0]`` turns for the first ``every`` steps, ``rounds[1]`` for the next, the last one to the end."""

    rounds: tuple[int, ...]
    every: int

    def __post_init__(self) -> None:
        if not self.rounds:
            raise ConfigError("configuration key 'curriculum.rounds' names no horizon")
        if self.every < 1:
            raise ConfigError(f"configuration key 'curriculum.every': a stage lasts at least 1 step, not {self.every}")
        for turns in self.rounds:
            check_turns("rounds", turns)

    def horizon(self, step: int) -> int:
        """Returns the turns of the stage that ``step`` lies in."""
        return self.rounds[min(step // self.every, len(self.rounds) - 1)]
