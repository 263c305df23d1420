"""Several curricula as one: one for the horizon, another for the tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from agentgym_train import plugins
from agentgym_train.curricula import answers
from agentgym_train.protocols import Curriculum


@dataclass(frozen=True, kw_only=True)
class Composed:
    """The horizon is that of the first part, the tasks are those of the first part that chooses any; all see the metrics.

    Raises:
        AgentGymError: a part that does not exist, with options that it cannot have, or that is composed itself.
    """

    parts: Annotated[tuple[dict[str, Any], ...], Field(min_length=1)]
    """Tables such as that of a curriculum alone; defaults are filled in."""
    made: tuple[Curriculum, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        made, tables = plugins.make_parts(plugins.CURRICULUM, self.parts, whole=Composed, called="composed")
        object.__setattr__(self, "made", made)
        object.__setattr__(self, "parts", tables)

    def horizon(self, step: int) -> int:
        """Returns the horizon of the first part."""
        return answers.turns(self.made[0], step)

    def difficulties(self, step: int) -> tuple[int, int] | None:
        """Returns the range of the first part that has one at this step."""
        ranges = (answers.difficulties(part, step) for part in self.made)
        return next((bounds for bounds in ranges if bounds is not None), None)

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Shows the metrics to every part."""
        for part in self.made:
            part.observe(metrics)

    def state_dict(self) -> dict[str, Any]:
        """Returns the list of the parts' states."""
        return {"parts": [part.state_dict() for part in self.made]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores each part's."""
        for part, kept in zip(self.made, state["parts"], strict=True):
            part.load_state_dict(kept)
