"""Builds generators, pools, collectors and descriptions of environments from a configuration."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from agentgym_envs import pool
from agentgym_envs.agents import AgentFactory, EpisodeOpening, open_episode
from agentgym_envs.agents.chat import ChatAgent, ReactAgent
from agentgym_envs.errors import AgentFailure
from agentgym_envs.pool import EnvDescription, EnvPool
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.config.schema import load_agent
from agentgym_train.data.types import Call
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.conversation import Conversation
from agentgym_train.models.pretraining import Replay
from agentgym_train.protocols import Generator, GeneratorContext, SamplingOptions
from agentgym_train.rollout.collector import EpisodeCollector
from agentgym_train.rollout.policy_client import AgentPlayer, Player, replayed


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
    """Returns the sampling options.

    If the agent's responses are calls of functions, the token that ends a message with a call stops
    a response too.
    """
    calls = load_agent(config.agent).format == "function"
    return SamplingOptions(
        temperature=config.rollout.temperature,
        max_new_tokens=config.rollout.max_new_tokens,
        stop_ids=Conversation(chat, calls=True).stop_ids if calls else chat.stop_ids,
    )


def make_collector(
    config: Config,
    pool: EnvPool,
    generator: Generator,
    chat: ChatTokens,
    description: EnvDescription,
    **options: Any,
) -> EpisodeCollector:
    """Returns a collector over a pool.

    ``options`` are its ``agents``, ``opponents`` and ``keep_next``.
    """
    return EpisodeCollector(
        pool,
        generator,
        chat,
        max_context=config.model.max_context,
        make_player=player_maker(make_agent(config), description, chat),
        retries=config.env.retries,
        batch_wait=config.rollout.batch_wait,
        max_rows=config.rollout.max_rows,
        attempts=config.attempts,
        **options,
    )


def make_agent(config: Config) -> AgentFactory:
    """Returns the agent of a run.

    Raises:
        AgentGymError: the agent cannot be loaded, or does not take an option.
        ConfigError: the agent uses no model, or it has another format of responses.
    """
    agent = load_agent(config.agent)
    if not agent.needs_client:
        raise ConfigError(
            f"agent.name={agent.name!r} takes no keyword 'client', so it uses no model and cannot"
            " be trained"
        )
    agent.check_format(config.env.action_format)
    return agent


def player_maker(
    agent: AgentFactory, description: EnvDescription, chat: ChatTokens
) -> Callable[..., Player] | None:
    """Returns what creates the players of a collector; None: its default player.

    The default player is the fast path of the agents ``chat`` and ``react``. It needs an agent that
    sends all messages, and a template that keeps them and does not tell thoughts from answers.
    """
    conversation = Conversation(chat, calls=agent.format == "function")
    if chat.grows and not conversation.splits and _is_chat(agent):
        return None

    def opening(info: Mapping[str, Any], memory: Sequence[Any]) -> EpisodeOpening:
        return open_episode(
            info,
            task_id=str(info.get("task_id", "")),
            attempt=len(memory),
            rules=description.rules,
            format_rules=description.format_rules,
            tools=description.tools,
            memory=memory,
        )

    return lambda _, **limits: AgentPlayer(agent.make, opening, conversation, **limits)


def _is_chat(agent: AgentFactory) -> bool:
    """Whether an agent sends its whole conversation, as it is."""
    options = agent.options
    whole = options.get("window") is None and options.get("thoughts") != "strip"
    return whole and agent.target in (ChatAgent, ReactAgent)


def replay(agent: AgentFactory) -> Replay | None:
    """Returns what makes an agent's samples of a recorded episode; None: the conversation alone.

    Each call of a turn is answered with the turn's response.
    """
    facts = EnvDescription(rules="", task_ids=None, difficulties=None, tools={}, text_env=True)
    size = {"max_context": sys.maxsize, "max_new_tokens": 1}

    def samples(chat: ChatTokens, turns: Sequence[tuple[str, list[int]]]) -> list[list[Call]]:
        make = player_maker(agent, facts, chat)
        assert make is not None  # the agent is another one than ``chat``
        return replayed(make("", **size), turns)

    return None if _is_chat(agent) else samples


def try_agent(config: Config, description: EnvDescription, chat: ChatTokens) -> None:
    """Lets an agent ask its model once, about an empty observation and an empty ``info``.

    Raises:
        AgentGymError: the agent fails, or the chat template refuses its messages.
    """
    agent = make_agent(config)
    if make := player_maker(agent, description, chat):
        size = {"max_context": sys.maxsize, "max_new_tokens": 1}
        steps = make("", **size).turn("", {"goal": "", "task_id": ""})
        try:
            next(steps)
        except AgentFailure as error:
            if error.__cause__ is None:
                raise
            return  # the agent's own error can be due to the empty ``info``
        steps.close()


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
