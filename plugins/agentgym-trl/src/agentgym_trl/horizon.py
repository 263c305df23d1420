"""The horizon of each step, from a curriculum of agentgym-train."""

from collections.abc import Mapping
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from agentgym_train import ConfigError, plugins

KEY = "agentgym_curriculum"
"""The name of the curriculum's state in ``trainer_state.json``."""


class Horizon(TrainerCallback):  # type: ignore[misc]
    """Asks the curriculum for the horizon of each step, and gives it the step's metrics.

    Args:
        options: the curriculum's ``name`` and its options.

    Raises:
        AgentGymError: the curriculum does not exist or rejects an option.
    """

    def __init__(self, options: Mapping[str, Any]):
        self.curriculum = plugins.make_object(plugins.CURRICULUM, options)
        self.turns = 0
        self.metrics: dict[str, float] = {}
        """Of the latest rollouts; empty if a step trains on earlier ones."""
        self._set(0)

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Restores the state of a resumed run."""
        if state.global_step and KEY in state.stateful_callbacks:
            self.curriculum.load_state_dict(state.stateful_callbacks[KEY])

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Sets the horizon."""
        self._set(state.global_step)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Gives the curriculum the metrics, and puts its state where checkpoints keep it."""
        if self.metrics:
            self.curriculum.observe(self.metrics)
            self.metrics = {}
        state.stateful_callbacks[KEY] = self.curriculum.state_dict()

    def _set(self, step: int) -> None:
        if self.curriculum.difficulties(step) is not None:
            raise ConfigError(
                f"{plugins.title(self.curriculum)} chooses tasks by difficulty, but TRL chooses the"
                " tasks: use a curriculum that sets horizons only"
            )
        self.turns = self.curriculum.horizon(step)
