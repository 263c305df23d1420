"""Builds generators, pools and collectors from a configuration, for training and evaluation."""

from typing import Any

import torch

from agentgym_envs.pool import EnvPool
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.distributed import Distributed
from agentgym_train.models.chat import Chat
from agentgym_train.protocols import Generator, GeneratorContext, Sampling
from agentgym_train.rollout.collector import Collector


def make_generator(
    config: Config, model_path: str, chat: Chat, *, device: torch.device, distributed: Distributed
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


def sampling(config: Config, chat: Chat) -> Sampling:
    """Returns the sampling options."""
    return Sampling(
        temperature=config.rollout.temperature,
        max_new_tokens=config.rollout.max_new_tokens,
        stop_ids=chat.stop_ids,
    )


def make_collector(
    config: Config, pool: EnvPool, generator: Generator, chat: Chat, **options: Any
) -> Collector:
    """Returns a collector over a pool.

    ``options`` are its ``agents``, ``opponents`` and ``keep_next``.
    """
    return Collector(
        pool,
        generator,
        chat,
        max_context=config.model.max_context,
        retries=config.env.retries,
        batch_wait=config.rollout.batch_wait,
        max_rows=config.rollout.max_rows,
        **options,
    )
