"""What curricula share that learn nothing from the metrics."""

from collections.abc import Mapping
from typing import Any

from agentgym_train.errors import ConfigError


class Stateless:
    """A curriculum whose horizon depends on the step alone."""

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Ignores the metrics."""

    def state_dict(self) -> dict[str, Any]:
        """Has nothing to restore."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Has nothing to restore."""


def check_turns(name: str, turns: int) -> None:
    """Refuses a horizon below one turn.

    Raises:
        ConfigError: naming the key and the value.
    """
    if turns < 1:
        raise ConfigError(f"configuration key 'curriculum.{name}': a horizon is at least 1 turn, not {turns}")
