"""Descriptions of a run's environments: instructions, task ids and difficulties."""

from typing import Any

from agentgym_envs import pool
from agentgym_envs.pool import EnvDescription
from agentgym_train.config import Config
from agentgym_train.errors import ConfigError


def describe(config: Config) -> tuple[EnvDescription, EnvDescription]:
    """Returns the descriptions of an environment, for training and for evaluation.

    A worker constructs the environment, which checks its keywords.

    Raises:
        AgentGymError: the environment does not exist, rejects a keyword, or fails.
    """
    env, training, held_out = config.env, config.env.kwargs, held_out_keywords(config)
    limits: dict[str, Any] = {"action_format": env.action_format, "timeout": env.timeout}
    limits["hosts"] = env.hosts or None
    first = pool.describe(env.id, **limits, **training)
    if env.action_format != "plain" and not first.text_env:
        raise ConfigError(
            f"env.action_format={env.action_format!r} needs a TextEnv: for {env.id} use 'plain'"
        )
    same = held_out == training
    return first, first if same else pool.describe(env.id, **limits, **held_out)


def held_out_keywords(config: Config) -> dict[str, Any]:
    """Returns the constructor keywords of evaluation."""
    return config.env.kwargs | config.eval.kwargs
