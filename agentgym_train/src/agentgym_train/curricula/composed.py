"""Several curricula as one: one sets the horizon, another chooses the tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from agentgym_train import plugins
from agentgym_train.curricula import answers
from agentgym_train.protocols import Curriculum


class Composed(Curriculum):
    """The first part sets the horizon.

    The first part that chooses tasks chooses them. All parts see the metrics.
    """

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The parts.

        Raises:
            AgentGymError: a part does not exist, has invalid options, or is composed itself.
        """

        parts: Annotated[tuple[dict[str, Any], ...], Field(min_length=1)]
        """One table per part, with the keys of a single curriculum; defaults are filled in."""
        made: tuple[plugins.ChosenPlugin[Curriculum], ...] = field(
            init=False, repr=False, compare=False
        )

        def __post_init__(self) -> None:
            made, tables = plugins.make_parts(
                plugins.CURRICULUM, self.parts, whole=Composed, called="composed"
            )
            object.__setattr__(self, "made", made)
            object.__setattr__(self, "parts", tables)

    def __init__(self, options: Options):
        self._parts = [part.build() for part in options.made]

    def horizon(self, step: int) -> int:
        """Returns the horizon of the first part."""
        return answers.turns(self._parts[0], step)

    def difficulties(self, step: int) -> tuple[int, int] | None:
        """Returns the range of the first part that has one at this step."""
        ranges = (answers.difficulties(part, step) for part in self._parts)
        return next((bounds for bounds in ranges if bounds is not None), None)

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Passes the metrics to every part."""
        for part in self._parts:
            part.observe(metrics)

    def state_dict(self) -> dict[str, Any]:
        """Returns the list of the parts' states."""
        return {"parts": [part.state_dict() for part in self._parts]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores each part's state."""
        for part, kept in zip(self._parts, state["parts"], strict=True):
            part.load_state_dict(kept)
