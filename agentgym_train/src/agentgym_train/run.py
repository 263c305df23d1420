"""A run from configuration to report: everything is checked first, then the folder is made, then work starts.

RUN/config.toml        the resolved configuration
RUN/init/              the small model, if model.path is "scratch"
RUN/metrics.jsonl      one line a step
RUN/checkpoints/       see checkpoint.py
RUN/evaluation.json    held-out success before, during and after, and of the baselines
RUN/learning_curve.png, RUN/trajectories.md
RUN/model/             the trained model for transformers
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import gymnasium
import torch
from rich.console import Console
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from agentgym_envs import TextEnv, baselines, registry
from agentgym_envs.wrappers import ActionFormat
from agentgym_train import checkpoint, evaluate, metrics, plugins, report, scratch
from agentgym_train import config as configuration
from agentgym_train.config import Config
from agentgym_train.engine.zero_config import zero_config
from agentgym_train.errors import CheckpointError, ConfigError, ModelError, RunFolderError
from agentgym_train.rollout.chat import Chat
from agentgym_train.types import Group, Trajectory

SCRATCH = "scratch"
SHOWN = 6  # trajectories in the readable file


def prepare(config: Config, display: report.Display) -> None:
    """Checks everything, makes or recognises the run folder, and makes the small model where one is asked for.

    Raises:
        AgentGymError: what is wrong, before anything was written.
    """
    transformers_logging.disable_progress_bar()
    check(config)
    folder = claim_folder(config)
    if config.model.path == SCRATCH and not (folder / "init").exists():
        draft = folder / ".init-draft"
        shutil.rmtree(draft, ignore_errors=True)
        scratch.make(
            draft,
            config.env,
            config.scratch,
            seed=config.run.seed,
            max_context=config.model.max_context,
            progress=display.advance,
        )
        os.replace(draft, folder / "init")


def check(config: Config) -> None:
    """Refuses what cannot work: names, options, horizons, task filters, extras, model and chat template."""
    plugins.make("algorithm", config.algorithm)
    plugins.make("generator", config.generator)
    curriculum = plugins.make("curriculum", config.curriculum)
    for step in (0, config.run.steps - 1):
        if curriculum.horizon(step) < 1:
            raise ConfigError(f"the curriculum's horizon at step {step + 1} is {curriculum.horizon(step)}: it must be at least 1")
    for name, value in (
        ("env.groups", config.env.groups),
        ("env.group_size", config.env.group_size),
        ("run.steps", config.run.steps),
    ):
        if value < 1:
            raise ConfigError(f"configuration key {name!r} must be at least 1, not {value}")
    instructions = describe(config)
    evaluate.horizon(config)
    zero_config(config.engine, config.model.dtype)
    if config.model.path != SCRATCH:
        check_context(config)
        Chat(load_tokenizer(config.model.path), instructions)


def describe(config: Config) -> str:
    """Constructs the training and the held-out environment, which is cheap and checks their keywords; returns the rules."""
    extra: dict[str, Any] = {"admissible": True} if config.model.path == SCRATCH else {}
    instructions = ""
    for kwargs in (config.env.kwargs | config.eval.kwargs, config.env.kwargs | extra):
        env = registry.make(config.env.id, **kwargs)
        if config.env.action_format != "plain":
            env = ActionFormat(env, config.env.action_format)
        instructions = getattr(env if isinstance(env, ActionFormat) else env.unwrapped, "instructions", "")
        env.close()
    return instructions


def check_context(config: Config) -> None:
    """Refuses what is no model, and episodes that are longer than the model's positions reach."""
    path = config.model.path
    try:
        reach = getattr(AutoConfig.from_pretrained(path), "max_position_embeddings", None)
    except (OSError, ValueError) as error:
        raise ModelError(f"model.path={path!r} is no model that can be loaded: {str(error).splitlines()[0]}") from error
    if reach is not None and config.model.max_context > reach:
        raise ModelError(f"model.max_context={config.model.max_context} is more than the {reach} positions of {path!r}")


def load_tokenizer(path: str) -> PreTrainedTokenizerBase:
    """Loads a tokenizer.

    Raises:
        ModelError: there is none.
    """
    try:
        return AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ModelError(f"model.path={path!r} has no tokenizer that can be loaded: {str(error).splitlines()[0]}") from error


def claim_folder(config: Config) -> Path:
    """Makes the run folder, or recognises it as this run's.

    Raises:
        RunFolderError: it cannot be written, holds something else, or belongs to a run with another configuration.
    """
    folder = Path(config.run.folder)
    saved = folder / "config.toml"
    if saved.exists():
        changed = configuration.difference(configuration.load(saved), config, ignore=("run.steps", "run.save_every", "run.keep"))
        if changed:
            raise RunFolderError(f"{folder} holds a run with another configuration: {changed}. Choose another run.folder")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunFolderError(f"{folder} exists and is not a run folder. Choose another run.folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / ".config-draft"
        draft.write_text(configuration.dumps(config), encoding="utf-8")
        os.replace(draft, saved)
    except OSError as error:
        raise RunFolderError(f"cannot write run.folder={str(folder)!r}: {error.strerror}") from error
    return folder


def work(folder: Path, console: Console) -> None:
    """Trains, evaluates and reports in a prepared folder; goes on from the newest checkpoint. One process's share."""
    from agentgym_train.trainer import Trainer

    transformers_logging.disable_progress_bar()
    config = configuration.load(folder / "config.toml")
    model_path = str(folder / "init") if config.model.path == SCRATCH else config.model.path
    tokenizer = load_tokenizer(model_path)
    chat = Chat(tokenizer, describe(config))
    trainer = Trainer(config, folder, model_path=model_path, tokenizer=tokenizer, chat=chat)
    first = trainer.engine.rank == 0
    notes = Notes(folder / "evaluation.json", write=first)

    def held_out(key: str, step: int) -> list[Trajectory]:
        share = slice(trainer.engine.rank, None, trainer.engine.world_size)
        mine = evaluate.evaluate(config, trainer.generator, chat, share=share, key=f"held-out {step}")
        everyone = [t for part in trainer.engine.gather(mine) for t in part]
        notes.add(key, evaluate.summary(everyone) | {"step": step})
        return everyone

    with report.Display(console, quiet=not first) as display:
        if "before" not in notes.rows:
            if trainer.start:
                raise RunFolderError(f"{folder / 'evaluation.json'} has lost its first entry: it was written before training")
            held_out("before", 0)
        if first and "oracle" not in notes.rows and has_baselines(config):
            for agent in ("random", "oracle"):
                notes.add(agent, baseline(config, agent))

        def on_step(row: dict[str, Any], groups: list[Group]) -> None:
            display.step(row, config.run.steps)
            if config.eval.every and row["step"] % config.eval.every == 0 and row["step"] < config.run.steps:
                held_out(f"step {row['step']}", row["step"])

        trainer.train(on_step)
        episodes = held_out("after", config.run.steps)
    trainer.engine.save_model(folder / "model")
    if first:
        tokenizer.save_pretrained(folder / "model")
        report.write_trajectories(folder / "trajectories.md", episodes[:SHOWN])
        report.learning_curve(folder / "learning_curve.png", metrics.read(folder / "metrics.jsonl"), notes.rows)
        console.print(report.table(notes.rows))
        console.print(f"wrote {folder}/: learning_curve.png, trajectories.md, metrics.jsonl, model/", highlight=False)
    trainer.engine.close()


def has_baselines(config: Config) -> bool:
    """Says whether the environment keeps our contract; any other Gymnasium text environment has no oracle to ask."""
    env = gymnasium.make(config.env.id, **(config.env.kwargs | config.eval.kwargs))
    ours = isinstance(env.unwrapped, TextEnv)
    env.close()
    return ours


def baseline(config: Config, agent: str) -> dict[str, float]:
    """Returns success, score and turns of a baseline on the held-out tasks."""
    kwargs = config.env.kwargs | config.eval.kwargs
    episodes = baselines.play(config.env.id, agent, episodes=config.eval.episodes, horizon=evaluate.horizon(config), **kwargs)
    means = [sum(values) / len(episodes) for values in zip(*[(e.success, e.score, e.turns) for e in episodes], strict=True)]
    return dict(zip(("success", "score", "turns"), means, strict=True))


class Notes:
    """``evaluation.json``: named rows of held-out results, kept whole on disk after every addition."""

    def __init__(self, path: Path, *, write: bool):
        self.path, self.write = path, write
        self.rows: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def add(self, key: str, row: dict[str, float]) -> None:
        """Adds or replaces a row."""
        self.rows[key] = row
        if self.write:
            draft = self.path.with_suffix(".tmp")
            draft.write_text(json.dumps(self.rows, indent=1) + "\n", encoding="utf-8")
            os.replace(draft, self.path)


def evaluate_checkpoint(place: Path, config_file: Path | None, overrides: list[str], console: Console) -> None:
    """Plays held-out tasks with a saved model and prints the table.

    Raises:
        CheckpointError: there is no model, or no configuration was given and none lies above it.
    """
    folder = next((f for f in (place / "model", place) if (f / "config.json").is_file()), None)
    if folder is None:
        raise CheckpointError(f"{place} holds no model: give a run folder, a checkpoint of it, or a Hugging Face model folder")
    saved = [p / "config.toml" for p in (place, *place.resolve().parents) if (p / "config.toml").is_file()]
    if config_file is None and not saved:
        raise CheckpointError(f"no config.toml lies in or above {place}: name one with --config")
    config = configuration.load(config_file or saved[0], overrides)
    chat = Chat(load_tokenizer(str(folder)), describe(config))
    device = torch.accelerator.current_accelerator() or torch.device("cpu")
    generator = plugins.make("generator", config.generator).build(str(folder), device, getattr(torch, config.model.dtype))
    episodes = evaluate.evaluate(config, generator, chat)
    console.print(report.table({"checkpoint": evaluate.summary(episodes)}))
