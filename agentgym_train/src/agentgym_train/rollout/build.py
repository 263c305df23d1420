"""Builds generators, pools, collectors and descriptions of environments from a configuration."""

from typing import Any

import torch

from agentgym_envs import pool
from agentgym_envs.pool import EnvDescription, EnvPool
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import Generator, GeneratorContext, SamplingOptions
from agentgym_train.rollout.collector import EpisodeCollector


def make_generator(
    config: Config,
    model_path: str,
    chat: ChatTokens,
    *,
    device: torch.device,
    distributed: Distributed,
) -> Generator:
    """Returns the configured generator with the weights of a model folder; the caller closes it."""
    context = GeneratorContext(
        model_folder=model_path,
        device=device,
        dtype=getattr(torch, config.model.dtype),
        max_context=config.model.max_context,
        max_rows=config.rollout.max_rows,
        sampling=sampling(config, chat),
        seed=config.run.seed,
        distributed=distributed,
    )
    generator: Generator = plugins.make_object(plugins.GENERATOR, config.generator, context)
    return generator


def make_pool(config: Config, episodes: int, kwargs: dict[str, Any]) -> EnvPool:
    """Returns a pool of one environment per episode.

    The environments have no step limits: the collector sets the horizon.
    """
    env = config.env
    limits: dict[str, Any] = {
        "workers": env.workers or None,
        "hosts": env.hosts or None,
        "timeout": env.timeout,
        "action_format": env.action_format,
    }
    return EnvPool(env.id, episodes, max_episode_steps=-1, **limits, **kwargs)


def sampling(config: Config, chat: ChatTokens) -> SamplingOptions:
    """Returns the sampling options."""
    return SamplingOptions(
        temperature=config.rollout.temperature,
        max_new_tokens=config.rollout.max_new_tokens,
        stop_ids=chat.stop_ids,
    )


def make_collector(
    config: Config, pool: EnvPool, generator: Generator, chat: ChatTokens, **options: Any
) -> EpisodeCollector:
    """Returns a collector over a pool.

    ``options`` are its ``agents``, ``opponents`` and ``keep_next``.
    """
    return EpisodeCollector(
        pool,
        generator,
        chat,
        max_context=config.model.max_context,
        retries=config.env.retries,
        batch_wait=config.rollout.batch_wait,
        max_rows=config.rollout.max_rows,
        **options,
    )


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
