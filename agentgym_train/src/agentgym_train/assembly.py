"""The parts of a run, assembled from its configuration: for runs, tests and benchmarks."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from agentgym_envs.errors import AgentGymError
from agentgym_envs.pool import EnvDescription
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.config import SCRATCH, Config, SharedSettings
from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint, critic
from agentgym_train.engine.deepspeed import TrainingEngine, loading
from agentgym_train.errors import ConfigError
from agentgym_train.models.loading import device, load_policy, load_tokenizer
from agentgym_train.protocols import Algorithm, Generator, Tracker
from agentgym_train.rollout.build import describe, make_generator
from agentgym_train.rollout.pipeline import TrainingEnv, make_training_envs


@dataclass(frozen=True)
class RunParts:
    """The parts of one process of a run."""

    config: Config
    folder: Path
    """The run folder; it exists."""
    model_path: str
    """The initial policy, in Hugging Face format."""
    tokenizer: PreTrainedTokenizerBase
    envs: Sequence[TrainingEnv]
    held_out: Sequence[EnvDescription]
    """The environments of evaluation, in the order of ``envs``."""
    algorithm: Algorithm
    engines: Sequence[TrainingEngine]
    """The policy's engine, and the critic's if the critic is a separate model."""
    generator: Generator
    model_config: Any
    """The transformers configuration of the policy."""
    shape: dict[str, Any]
    """See :func:`agentgym_train.engine.checkpoint.shape`."""
    newest: Path | None
    """The checkpoint to resume from."""


def assemble(config: Config, folder: Path) -> RunParts:
    """Assembles a run; all processes call it.

    Args:
        config: the run.
        folder: the run folder; it exists.

    Raises:
        AgentGymError: a plugin, an environment or the model cannot be loaded.
    """
    config = plugins.resolved(config)
    model_path = str(folder / "init") if config.model.path == SCRATCH else config.model.path
    tokenizer = load_tokenizer(model_path, chat_template=config.model.chat_template)
    trainings, held_out = zip(*map(describe, config.each()), strict=True)
    envs = make_training_envs(config, trainings, tokenizer)
    algorithm = plugins.make_algorithm(config.algorithm)
    with loading(config.engine, config.model.dtype):
        model = load_policy(config.model, model_path, seed=config.run.seed)
    kind = critic.kind(config, algorithm.required_streams)
    shape = checkpoint.shape(model, kind)
    newest, universal = checkpoint.newest(folder, Distributed(device()))
    engines = critic.engines(config, model, model_path, kind, universal=universal)
    generator = make_generator(
        config,
        model_path,
        envs[0].chat,
        device=engines[0].device,
        distributed=engines[0].distributed,
    )
    return RunParts(
        config=config,
        folder=folder,
        model_path=model_path,
        tokenizer=tokenizer,
        envs=envs,
        held_out=held_out,
        algorithm=algorithm,
        engines=engines,
        generator=generator,
        model_config=model.config,
        shape=shape,
        newest=newest,
    )


def make_trackers(config: SharedSettings, folder: Path, distributed: Distributed) -> list[Tracker]:
    """Returns the configured trackers; only the main process has any."""
    tables = config.tracker if distributed.is_main else []
    tree = configuration.tree(config)
    return [plugins.make_object(plugins.TRACKER, table, tree, folder) for table in tables]


def check_group_size(config: Config) -> None:
    """Rejects a source whose groups have a size from which the algorithm does not learn."""
    algorithm, name = plugins.make_algorithm(config.algorithm), config.algorithm["name"]
    source = plugins.make(plugins.SOURCE, config.source)
    sizes = set(source.cls.group_sizes(source.options, config) or ())
    given = (
        f"source {config.source['name']!r} gives groups of {' and '.join(map(str, sorted(sizes)))}"
    )
    exact, least = algorithm.group_size, algorithm.min_group_size
    if exact is not None and sizes - {exact}:
        raise ConfigError(
            f"algorithm {name!r} learns from groups of {exact} episodes, and {given}: set"
            f" env.group_size={exact}, or pairs=true of a dataset"
        )
    if sizes and max(sizes) < least:
        size = config.env.group_size
        remedy = (
            f"raise env.group_size={size} to {least} or more"
            if size < least
            else ("use a source that plays")
        )
        raise ConfigError(
            f"algorithm {name!r} compares the episodes of a group, and {given}: {remedy}, or use"
            " an algorithm without groups, such as ppo, reinforce_pp or sft"
        )


@contextmanager
def naming(config: Config, *, several: bool) -> Iterator[None]:
    """Adds the name of the environment to errors, if there are several."""
    try:
        yield
    except AgentGymError as error:
        if several:
            error.args = (f"environment {config.env.name!r}: {error}",)
        raise
