"""Tasks by difficulty, in the unit of the environment: easy tasks first."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from agentgym_train.config.constraints import Count
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import Curriculum


@dataclass(frozen=True, kw_only=True)
class TaskDifficulty(Curriculum):
    """Changes to the next stage of difficulties after every ``every`` steps; the last one stays.

    Raises:
        ValueError: the lowest difficulty of a stage is above its highest.

    >>> curriculum = TaskDifficulty(stages=((1, 1), (1, 4)), every=50, turns=20)
    >>> curriculum.difficulties(49), curriculum.difficulties(50)
    ((1, 1), (1, 4))
    """

    stages: Annotated[tuple[tuple[int, int], ...], Field(min_length=1)]
    """The lowest and the highest difficulty of each stage."""
    every: Count
    """Training steps per stage."""
    turns: Count | None = None
    """The horizon; not needed in a part of ``composed`` that is not the first."""

    def __post_init__(self) -> None:
        for number, (least, greatest) in enumerate(self.stages):
            if least > greatest:
                raise ValueError(
                    f"stages.{number}: the least difficulty, {least}, is above the greatest,"
                    f" {greatest}"
                )

    def horizon(self, step: int) -> int:
        """Returns ``turns``.

        Raises:
            ConfigError: ``turns`` is not set.
        """
        if self.turns is None:
            raise ConfigError(
                "task_difficulty sets no horizon: set its turns, or compose it with a curriculum"
                " before it that does"
            )
        return self.turns

    def difficulties(self, step: int) -> tuple[int, int]:
        """Returns the range of the stage that ``step`` lies in."""
        return self.stages[min(step // self.every, len(self.stages) - 1)]
