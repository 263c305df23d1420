"""Errors of the trainer.

Their base class and the errors of plugins are in ``agentgym_envs.errors``.
"""

from agentgym_envs.errors import AgentGymError


class ConfigError(AgentGymError, ValueError):
    """A configuration file, key or value cannot be used."""


class ModelError(AgentGymError, ValueError):
    """A model or tokenizer cannot be used."""


class TemplateError(ModelError):
    """A chat template rewrites earlier messages when later ones are added."""


class RunFolderError(AgentGymError, ValueError):
    """A run folder cannot be written, or it holds something other than this run."""


class CheckpointError(AgentGymError, ValueError):
    """A checkpoint is incomplete or belongs to another model."""


class TrainingError(AgentGymError, RuntimeError):
    """Training cannot continue, or it changed nothing."""


class FaultBudgetError(AgentGymError, RuntimeError):
    """More environments failed than the run allows; the message names the failures."""
