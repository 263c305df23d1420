"""What a user can get wrong with the trainer; the base and the plugin errors are those of ``agentgym_envs.errors``."""

from agentgym_envs.errors import AgentGymError


class ConfigError(AgentGymError, ValueError):
    """A configuration file, key or value that cannot be used."""


class ModelError(AgentGymError, ValueError):
    """A model or tokenizer that cannot be used."""


class TemplateError(ModelError):
    """A chat template that does not keep its own output as a prefix when messages are added."""


class RunFolderError(AgentGymError, ValueError):
    """A run folder that cannot be written or belongs to something else."""


class CheckpointError(AgentGymError, ValueError):
    """A checkpoint that is incomplete or of another model."""


class TrainingError(AgentGymError, RuntimeError):
    """A training that cannot go on, or that has changed nothing."""


class FaultBudgetError(AgentGymError, RuntimeError):
    """More environment failures than a run may have; the message says what failed where."""
