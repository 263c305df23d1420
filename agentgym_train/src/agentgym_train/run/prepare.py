"""Preparation of a run: checks everything, makes the run folder, and makes the small model.

A curriculum is tried before the run, on an instance that is thrown away.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import AutoConfig, PretrainedConfig
from transformers.utils import logging as transformers_logging

from agentgym_envs import registry
from agentgym_envs.errors import AgentGymError, BrokenPlugin
from agentgym_envs.pool import EnvDescription
from agentgym_train import plugins
from agentgym_train.assembly import check_group_size, naming
from agentgym_train.config import SCRATCH, Config, SharedSettings
from agentgym_train.config.schema import VOCAB
from agentgym_train.data import recorded
from agentgym_train.engine import checkpoint
from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.evaluation import evaluate
from agentgym_train.files import FolderLock, writing
from agentgym_train.models import lora
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.loading import check_attention, check_files, load_shape, load_tokenizer
from agentgym_train.models.scratch import train_tokenizer
from agentgym_train.planning.command import warning
from agentgym_train.protocols import Curriculum
from agentgym_train.reporting import report
from agentgym_train.reward import comparisons
from agentgym_train.reward.config import RewardConfig
from agentgym_train.rollout import tasks
from agentgym_train.rollout.build import describe, try_agent
from agentgym_train.run import repair
from agentgym_train.run.folder import (
    changed_code,
    check_progress,
    claim_folder,
    dated,
    recognise,
    saved_config,
)
from agentgym_train.run.launch import note_prepared

POOL_KEYWORDS = {
    "max_episode_steps",
    "num_envs",
    "workers",
    "timeout",
    "start_timeout",
    "action_format",
    "render_mode",
    "hosts",
    "token",
}


def prepare(
    config: Config | RewardConfig, display: report.RunDisplay, *, processes: int = 1
) -> FolderLock:
    """Checks a configuration, prepares the run folder, and makes the small model if requested.

    Args:
        config: the run.
        display: shows progress and warnings.
        processes: number of training processes.

    Returns:
        The run folder's lock, to be kept until the run has ended.

    Raises:
        AgentGymError: the configuration is invalid; no work has begun.
    """
    transformers_logging.disable_progress_bar()
    if isinstance(config, RewardConfig):
        check_reward(config, processes=processes)
    else:
        check(config, processes=processes)
    folder = Path(config.run.folder)
    saved, damage = saved_config(folder)
    config = dated(plugins.resolved(config), saved)
    recognise(folder, config)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder)
    try:
        claim_folder(config)
        display.warn(*filter(None, (damage, warning(config, processes))))
        display.warn(*repair.repair(folder, config), *changed_code(config, folder))
        check_progress(config, folder)
        if newest := checkpoint.latest(folder):
            display.warn(*checkpoint.convert(newest, processes=processes))
        if (policy := config.policy) and policy.model.path == SCRATCH:
            display.warn(*repair.prepare_init(policy, folder, display))
        note_prepared(folder, processes)
    except BaseException:
        lock.release()
        raise
    return lock


def check(config: Config, *, processes: int = 1) -> None:
    """Rejects an invalid configuration before any work.

    It checks names, options, horizons, difficulties, task filters, extras, model and chat template.
    """
    plugins.resolved(config)
    if config.groups < processes:
        raise ConfigError(
            f"env.groups={config.groups} leaves some of the {processes} processes without a task"
        )
    if config.engine.minibatches > config.groups:
        raise ConfigError(
            f"engine.minibatches={config.engine.minibatches} cannot split"
            f" env.groups={config.groups}: groups stay whole"
        )
    check_engine(config)
    plugins.make(plugins.GENERATOR, config.generator).check()
    described = [check_one(one, several=len(config.envs) > 1) for one in config.each()]
    if config.model.path == SCRATCH:
        for env in config.envs if config.scratch.folders else ():
            recorded.read_episodes(config.scratch.folders, env.id, key="scratch.folders")
        check_layers(config, config.scratch.layers)
        shape = AutoConfig.for_model("qwen2", num_hidden_layers=1)
        check_attention(config.model, shape)
        check_adapter(config, shape)
        tokenizer = train_tokenizer([""], VOCAB)  # the run's has another vocabulary
    else:
        check_model(config)
        tokenizer = load_tokenizer(config.model.path, chat_template=config.model.chat_template)
    options = config.template_options
    for one, environments in zip(config.each(), described, strict=True):
        for environment in environments:
            chat = ChatTokens(tokenizer, environment.instructions, must_grow=False, **options)
            try_agent(one, environment, chat)


def check_reward(config: RewardConfig, *, processes: int) -> None:
    """Rejects an invalid configuration of a reward model.

    It checks trackers, model, chat template and files of comparisons.
    """
    plugins.resolved(config)
    if config.model.path == SCRATCH:
        raise ModelError(
            "a reward model is made of a trained model: set model.path to a policy's folder or to a"
            " hub name"
        )
    if config.model.lora.rank:
        raise ModelError(
            f"model.lora.rank={config.model.lora.rank}: a reward model is trained without an"
            " adapter; set it to 0, and model.last_layers to train few layers"
        )
    if config.engine.minibatches != 1:
        raise ConfigError(
            f"engine.minibatches={config.engine.minibatches}: a step is one update here; set"
            " comparisons.pairs"
        )
    if config.comparisons.pairs < processes:
        raise ConfigError(
            f"comparisons.pairs={config.comparisons.pairs} leaves some of the {processes} processes"
            " without any"
        )
    check_engine(config)
    check_model(config)
    tokenizer = load_tokenizer(config.model.path, chat_template=config.model.chat_template)
    comparisons.load(config, tokenizer)


def check_engine(config: SharedSettings) -> None:
    """Rejects engine options that DeepSpeed does not accept."""
    if config.engine.zero:
        from agentgym_train.engine.zero_config import check_zero

        check_zero(config.engine)


def check_one(config: Config, *, several: bool) -> tuple[EnvDescription, EnvDescription]:
    """Does :func:`check_env`; with several environments its errors name the environment."""
    with naming(config, several=several):
        return check_env(config)


def check_env(config: Config) -> tuple[EnvDescription, EnvDescription]:
    """Rejects invalid settings of one environment.

    Returns the environment's descriptions, for training and for held-out evaluation.
    """
    rehearse(config.curriculum, config.run.steps)
    random_play = config.model.path == SCRATCH and not config.scratch.folders
    if random_play and not registry.takes(config.env.id, "admissible"):
        raise ModelError(
            "model.path='scratch' is a model of random play, which needs a list of admissible"
            f" actions, and {config.env.id} has no keyword 'admissible' that asks for one: set"
            " model.path to a trained model"
        )
    check_group_size(config)
    check_keywords(config)
    training, held_out = describe(config)
    check_tasks(config.curriculum, config.run.steps, tasks.task_difficulty(training))
    plugins.make(plugins.SOURCE, config.source).check(config, training)
    for table in config.scorer:
        plugins.make(plugins.SCORER, table).check(config, training)
    evaluate.horizon(config)
    return training, held_out


def check_keywords(config: Config) -> None:
    """Rejects keywords of the environment that the trainer sets."""
    for section, kwargs in (("env", config.env.kwargs), ("eval", config.eval.kwargs)):
        if taken := sorted(POOL_KEYWORDS & kwargs.keys()):
            raise ConfigError(
                f"configuration key '{section}.kwargs.{taken[0]}': the trainer sets it, not the"
                " environment"
            )


def check_model(config: SharedSettings) -> None:
    """Rejects a missing model, a context beyond its positions, and more layers than it has.

    It also rejects an attention implementation that the model cannot use.
    """
    path = config.model.path
    check_files(path)
    shape = load_shape(path)
    reach = getattr(shape, "max_position_embeddings", None)
    if reach is not None and config.model.max_context > reach:
        raise ModelError(
            f"model.max_context={config.model.max_context} is more than the {reach} positions of"
            f" {path!r}"
        )
    check_attention(config.model, shape)
    if config.model.last_layers:
        check_layers(config, shape.get_text_config().num_hidden_layers)
    check_adapter(config, shape)


def check_adapter(config: SharedSettings, shape: PretrainedConfig) -> None:
    """Rejects an adapter that the model cannot have."""
    if config.model.lora.rank:
        lora.check(config.model.lora, shape)


def check_layers(config: SharedSettings, layers: int) -> None:
    """Rejects a number of trained layers that the model does not have."""
    if config.model.last_layers > layers:
        path = config.model.path
        raise ModelError(
            f"model.last_layers={config.model.last_layers} is more than the {layers} layers of"
            f" {path!r}"
        )


def rehearse(options: Mapping[str, Any], steps: int) -> None:
    """Calls every method of a separate instance of a curriculum once, before the run needs it.

    Args:
        options: the configuration section.
        steps: number of the run's steps; the curriculum decides about the first and the last one.

    Raises:
        BrokenPlugin: a method raised an exception, a horizon or a range is invalid, or the state
            cannot be written as JSON.
    """
    curriculum = plugins.make_object(plugins.CURRICULUM, options)
    with _tried(curriculum):
        state = json.loads(json.dumps(curriculum.state_dict(), allow_nan=False))
        for step in (0, steps - 1):
            tasks.checked_horizon(curriculum, step)
            tasks.checked_difficulties(curriculum, step)
        curriculum.observe(defaultdict(lambda: 0.5))  # any metric has a value
        curriculum.load_state_dict(state)


def check_tasks(
    options: Mapping[str, Any], steps: int, task_difficulty: tasks.Difficulties | None
) -> None:
    """Rejects a curriculum that asks for missing tasks at any step of a run without learning.

    Args:
        options: the configuration section.
        steps: the run's.
        task_difficulty: the training tasks; None if the environment lists none.

    Raises:
        ConfigError: names the range, the first step that asks for it, and the
            existing difficulties.
        BrokenPlugin: the curriculum raised.
    """
    curriculum = plugins.make_object(plugins.CURRICULUM, options)
    with _tried(curriculum):
        first: dict[tuple[int, int], int] = {}
        for step in range(steps):
            if bounds := tasks.checked_difficulties(curriculum, step):
                first.setdefault(bounds, step)
        for bounds, step in first.items():
            tasks.within(task_difficulty, bounds, step)


@contextmanager
def _tried(curriculum: Curriculum) -> Iterator[None]:
    """Turns an exception of a curriculum's methods into an error of one line."""
    try:
        yield
    except AgentGymError:
        raise
    except Exception as error:
        where = plugins.title(curriculum)
        raise BrokenPlugin(
            f"{where} raised {error!r} when its methods were tried before the run"
        ) from error
