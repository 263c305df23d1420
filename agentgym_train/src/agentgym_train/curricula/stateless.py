"""What curricula share that learn nothing from the metrics."""

from collections.abc import Mapping
from typing import Any


class Stateless:
    """A curriculum whose horizon depends on the step alone."""

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Ignores the metrics."""

    def state_dict(self) -> dict[str, Any]:
        """Has nothing to restore."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Has nothing to restore."""
