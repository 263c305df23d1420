"""Curricula whose horizon depends on the step only."""

from dataclasses import dataclass

from agentgym_train.config.constraints import Count, Counts
from agentgym_train.protocols import Curriculum


@dataclass(frozen=True, kw_only=True)
class Fixed(Curriculum):
    """``turns`` at every step."""

    turns: Count
    """The horizon, in turns."""

    def horizon(self, step: int) -> int:
        """Returns ``turns``."""
        return self.turns


@dataclass(frozen=True, kw_only=True)
class ScalingInter(Curriculum):
    """Changes to the next stage after every ``every`` steps.

    The turns of the stages are ``rounds``, or ``start``, ``start + delta``, ….

    Raises:
        ValueError: neither or both forms are set, or the limit is below the start.

    >>> curriculum = ScalingInter(rounds=(10, 20, 30), every=80)
    >>> [curriculum.horizon(step) for step in (0, 79, 80, 160, 1000)]
    [10, 10, 20, 30, 30]
    """

    every: Count
    """Training steps per stage."""
    rounds: Counts | None = None
    """The turns of each stage; the last one stays."""
    start: Count | None = None
    """The turns of the first stage."""
    delta: Count | None = None
    """The paper's increment δ."""
    limit: Count | None = None
    """With ``start`` and ``delta``: maximum number of turns."""

    def __post_init__(self) -> None:
        forms = {
            "rounds": self.rounds,
            "start": self.start,
            "delta": self.delta,
            "limit": self.limit,
        }
        given = {name: value for name, value in forms.items() if value is not None}
        if (
            given.keys() - {"limit"} not in ({"rounds"}, {"start", "delta"})
            or {"rounds", "limit"} <= given.keys()
        ):
            shown = (
                ", ".join(
                    f"{name}={list(v) if isinstance(v, tuple) else v}" for name, v in given.items()
                )
                or "none of them"
            )
            raise ValueError(
                f"set either rounds, or start and delta and perhaps limit, not {shown}"
            )
        if self.start and self.limit and self.limit < self.start:
            raise ValueError(f"limit={self.limit} is below start={self.start}")

    def horizon(self, step: int) -> int:
        """Returns the turns of the stage that ``step`` lies in."""
        stage = step // self.every
        if self.rounds is not None:
            return self.rounds[min(stage, len(self.rounds) - 1)]
        turns = (self.start or 0) + (self.delta or 0) * stage
        return min(turns, self.limit or turns)
