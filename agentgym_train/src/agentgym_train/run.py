"""A run from configuration to report: everything is checked first, then the folder is made, then work starts.

RUN/config.toml        the resolved configuration
RUN/init/              the small model, if model.path is "scratch"
RUN/metrics.jsonl      one line a step
RUN/failures.jsonl     one line a failure of an environment
RUN/checkpoints/       see checkpoint.py
RUN/evaluation.json    held-out success before, during and after, and of the baselines
RUN/episodes/*/        held-out episodes, for `agentgym report RUN/episodes/*`
RUN/learning_curve.png, RUN/trajectories.md
RUN/model/             the trained model for transformers
"""

import shutil
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from agentgym_envs import baselines, pool, registry
from agentgym_envs.errors import AgentGymError
from agentgym_envs.pool import Description
from agentgym_train import checkpoint, curricula, episodes, evaluate, metrics, plugins, report, tasks
from agentgym_train import config as configuration
from agentgym_train.config import Config
from agentgym_train.errors import CheckpointError, ConfigError, ModelError, RunFolderError, TrainingError
from agentgym_train.files import Lock, publish, write_whole, writing
from agentgym_train.rollout.chat import Chat
from agentgym_train.types import Group, Trajectory

SCRATCH = "scratch"
SHOWN = 6  # trajectories in the readable file
CHANGEABLE = frozenset(
    {
        "run.folder",
        "run.steps",
        "run.save_every",
        "run.keep",
        "env.workers",
        "env.timeout",
        "env.retries",
        "env.failure_budget",
        "rollout.patience",
        "engine.micro_batch_tokens",
        "eval.every",
    }
)
"""Keys that do not change what a run computes: a resumed run may have other values."""
POOL_KEYWORDS = {"max_episode_steps", "num_envs", "workers", "timeout", "start_timeout", "action_format", "render_mode"}
UNFINISHED = {".lock", ".config.toml-draft"}  # all that a start leaves which was interrupted before it wrote config.toml


def prepare(config: Config, display: report.Display, *, processes: int = 1) -> Lock:
    """Checks everything, makes or recognises the run folder, and makes the small model where one is asked for.

    Args:
        config: the run.
        display: shows progress and warnings.
        processes: that will train.

    Returns:
        The run folder's lock, to be kept until the run has ended.

    Raises:
        AgentGymError: what is wrong, before any work.
    """
    transformers_logging.disable_progress_bar()
    check(config, processes=processes)
    config = plugins.resolved(config)
    folder = Path(config.run.folder)
    recognise(folder, config)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder)
    try:
        claim_folder(config)
        for line in checkpoint.recover(folder):
            display.console.print(f"warning: {line}", style="yellow", markup=False, soft_wrap=True)
        check_progress(config, folder)
        if newest := checkpoint.latest(folder):
            checkpoint.convert(newest, processes=processes)
        if config.model.path == SCRATCH and not (folder / "init").exists():
            make_init(config, folder, display)
    except BaseException:
        lock.release()
        raise
    return lock


def make_init(config: Config, folder: Path, display: report.Display) -> None:
    """Makes the small model."""
    from agentgym_train import scratch

    draft = folder / ".init-draft"
    shutil.rmtree(draft, ignore_errors=True)
    sizes: dict[str, int] = {"seed": config.run.seed, "max_context": config.model.max_context}
    scratch.make(draft, config.env, config.scratch, progress=display.advance, **sizes)
    with writing(folder / "init"):
        publish(draft, folder / "init")


def check(config: Config, *, processes: int = 1) -> None:
    """Refuses what cannot work: names, options, horizons, difficulties, task filters, extras, model and chat template."""
    plugins.resolved(config)
    curricula.rehearse(config.curriculum, config.run.steps)
    if config.env.groups < processes:
        raise ConfigError(f"env.groups={config.env.groups} leaves some of the {processes} processes without a task")
    if config.model.path == SCRATCH and not registry.takes(config.env.id, "admissible"):
        raise ModelError(
            f"model.path='scratch' is a model of random play, which needs a list of admissible actions, and {config.env.id} has no "
            "keyword 'admissible' that asks for one: set model.path to a trained model"
        )
    if config.engine.minibatches > config.env.groups:
        raise ConfigError(
            f"engine.minibatches={config.engine.minibatches} cannot split env.groups={config.env.groups}: groups stay whole"
        )
    if config.engine.zero:
        from agentgym_train.engine.deepspeed import check_zero

        check_zero(config.engine)
    check_keywords(config)
    training, _ = describe(config)
    curricula.check_tasks(config.curriculum, config.run.steps, tasks.levels(training))
    evaluate.horizon(config)
    if config.model.path != SCRATCH:
        check_context(config)
        Chat(load_tokenizer(config.model.path), training.instructions)


def check_keywords(config: Config) -> None:
    """Refuses keywords for the environment that are the trainer's own."""
    for section, kwargs in (("env", config.env.kwargs), ("eval", config.eval.kwargs)):
        if taken := sorted(POOL_KEYWORDS & kwargs.keys()):
            raise ConfigError(f"configuration key '{section}.kwargs.{taken[0]}': the trainer sets it, not the environment")


def describe(config: Config) -> tuple[Description, Description]:
    """Constructs the training and the held-out environment in a worker, which checks their keywords; returns what they are.

    Raises:
        AgentGymError: a keyword that the environment does not take, no such environment, or one that fails.
    """
    env, training, held_out = config.env, config.env.kwargs, held_out_keywords(config)
    limits: dict[str, Any] = {"action_format": env.action_format, "timeout": env.timeout}
    first = pool.describe(env.id, **limits, **training)
    if env.action_format != "plain" and not first.text_env:
        raise ConfigError(f"env.action_format={env.action_format!r} needs a TextEnv: for {env.id} use 'plain'")
    same = held_out == training
    return first, first if same else pool.describe(env.id, **limits, **held_out)


def held_out_keywords(config: Config) -> dict[str, Any]:
    """Returns the constructor keywords of evaluation."""
    return config.env.kwargs | config.eval.kwargs


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
    """Makes the run folder, or recognises it as this run's, and writes the configuration into it.

    Raises:
        RunFolderError: it cannot be written, holds something else, or belongs to a run with another configuration.
    """
    folder = Path(config.run.folder)
    recognise(folder, config)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "config.toml", configuration.dumps(config))
    return folder


def recognise(folder: Path, config: Config) -> None:
    """Refuses a folder that holds something else than this run; touches nothing.

    Raises:
        RunFolderError: says what the folder holds, or which keys differ in what way.
    """
    saved = folder / "config.toml"
    if saved.exists():
        changed = configuration.difference(configuration.load(saved), config, ignore=CHANGEABLE)
        if changed:
            raise RunFolderError(f"{folder} holds a run with another configuration: {changed}. Choose another run.folder")
    elif folder.exists() and (not folder.is_dir() or {path.name for path in folder.iterdir()} - UNFINISHED):
        raise RunFolderError(f"{folder} exists and is not a run folder. Choose another run.folder")


def check_progress(config: Config, folder: Path) -> None:
    """Refuses to go on from results that cannot be read, or to stop before where the run already is.

    Raises:
        RunFolderError: names the file and says what to do.
    """
    metrics.Notes(folder / "evaluation.json", write=False)
    for name in metrics.FILES:
        if (folder / name).exists():
            metrics.read(folder / name)
    newest = checkpoint.latest(folder)
    done = checkpoint.read_state(newest).step if newest else 0
    if done > config.run.steps:
        raise RunFolderError(f"{folder} has {done} steps behind it, more than run.steps={config.run.steps}")


def work(folder: Path, console: Console) -> None:
    """Trains, evaluates and reports in a prepared folder; goes on from the newest checkpoint. One process's share."""
    from agentgym_train.trainer import Trainer

    transformers_logging.disable_progress_bar()
    lock = Lock(folder, shared=True)
    config = configuration.load(folder / "config.toml")
    model_path = str(folder / "init") if config.model.path == SCRATCH else config.model.path
    tokenizer = load_tokenizer(model_path)
    training, held_out = describe(config)
    chat = Chat(tokenizer, training.instructions)
    levels = tasks.levels(training)
    trainer = Trainer(config, folder, model_path=model_path, tokenizer=tokenizer, chat=chat, levels=levels)
    first = trainer.world.first
    notes = metrics.Notes(folder / "evaluation.json", write=first)

    def test(key: str, step: int) -> list[Trajectory]:
        share = slice(trainer.world.rank, None, trainer.world.size)
        played = evaluate.evaluate(config, trainer.generator, chat, held_out.task_ids, share=share, key=f"held-out {step}")
        parts = trainer.world.gather(played)
        trainer.note_failures(step, [f for part in parts for f in part.failures], evaluation=True)
        everyone = [t for part in parts for t in part.trajectories]
        notes.add(key, evaluate.summary(everyone) | {"step": step})
        if first:
            with writing(folder):
                place = folder / "episodes" / key.replace(" ", "-")
                episodes.write(place, config, step=step, tools=held_out.tools, trajectories=everyone)
        return everyone

    with report.Display(console, quiet=not first) as display:
        if "before" not in notes.rows and not trainer.start:
            test("before", 0)
        if first and "oracle" not in notes.rows and held_out.text_env:
            add_baselines(config, notes, console)

        def on_step(row: dict[str, Any], groups: list[Group]) -> None:
            display.step(row, config.run.steps)
            if config.eval.every and row["step"] % config.eval.every == 0 and row["step"] < config.run.steps:
                test(f"step {row['step']}", row["step"])

        trainer.train(on_step)
        shown = test("after", config.run.steps)[:SHOWN]
    checkpoint.save_model(folder / "model", trainer.engine, tokenizer)
    if first:
        rows = metrics.read(folder / "metrics.jsonl")
        with writing(folder):
            report.write_trajectories(folder / "trajectories.md", shown)
            report.learning_curve(folder / "learning_curve.png", rows, notes.rows)
        console.print(report.table(notes.rows))
        console.print(f"wrote {folder}/: learning_curve.png, trajectories.md, metrics.jsonl, model/", highlight=False)
        console.print(f"to read and compare its episodes: agentgym report {folder}/episodes/*", highlight=False)
        check_learned(rows)
    trainer.engine.close()
    lock.release()


def check_learned(rows: list[dict[str, Any]]) -> None:
    """Refuses to call a training done that changed nothing.

    Raises:
        TrainingError: no step had a gradient.
    """
    if not any(row.get("grad_norm", 0.0) for row in rows):
        raise TrainingError(
            "the model is what it was: every gradient was 0, because rewards never differed within a group. Look at "
            "trajectories.md and 'return' in metrics.jsonl; try easier tasks, a longer horizon, or a larger env.group_size"
        )


def add_baselines(config: Config, notes: metrics.Notes, console: Console) -> None:
    """Measures random play and the oracle; an environment that fails, or cannot be asked for it, costs the row and not the run."""
    for agent in ("random", "oracle"):
        try:
            notes.add(agent, baseline(config, agent))
        except AgentGymError as error:
            console.print(f"warning: no row for {agent}: {error}", style="yellow", markup=False, soft_wrap=True)


def baseline(config: Config, agent: str) -> dict[str, float]:
    """Returns success, score and turns of a baseline on the held-out tasks."""
    episodes = baselines.play(
        config.env.id,
        agent,
        episodes=config.eval.episodes,
        horizon=evaluate.horizon(config),
        workers=config.env.workers or None,
        timeout=config.env.timeout,
        **held_out_keywords(config),
    )
    means = [sum(values) / len(episodes) for values in zip(*[(e.success, e.score, e.turns) for e in episodes], strict=True)]
    return dict(zip(("success", "score", "turns"), means, strict=True))


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
    training, held_out = describe(config)
    chat = Chat(load_tokenizer(str(folder)), training.instructions)
    device = torch.accelerator.current_accelerator() or torch.device("cpu")
    generator = plugins.make(plugins.GENERATOR, config.generator).build(str(folder), device, getattr(torch, config.model.dtype))
    played = evaluate.evaluate(config, generator, chat, held_out.task_ids)
    console.print(report.table({"checkpoint": evaluate.summary(played.trajectories)}))
