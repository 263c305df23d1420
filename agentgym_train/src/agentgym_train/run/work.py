"""One process of a run: evaluation, training, evaluation, results."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from transformers.utils import logging as transformers_logging

from agentgym_train import config as configuration
from agentgym_train.assembly import assemble, make_trackers
from agentgym_train.config import SCRATCH, Config, SharedSettings
from agentgym_train.data.types import Group, Trajectory
from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint, rendezvous
from agentgym_train.engine.rendezvous import start_processes
from agentgym_train.errors import CheckpointError, RunFolderError, TrainingError
from agentgym_train.evaluation import evaluate
from agentgym_train.evaluation.held_out import HeldOut
from agentgym_train.files import FolderLock, writing
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.loading import check_files, device, load_tokenizer, use_threads
from agentgym_train.reporting import metrics, report
from agentgym_train.reward import config as reward_config
from agentgym_train.reward import trainer as reward
from agentgym_train.rollout.build import describe, make_generator
from agentgym_train.run import repair
from agentgym_train.run.folder import changed_code, config_fault, dated, saved_config
from agentgym_train.run.launch import read_secret, take_checked
from agentgym_train.trainer import PolicyTrainer

SHOWN = 6  # trajectories in trajectories.md; each environment has an equal part, rounded up
SAMPLES = 2  # trajectories per step that trackers get


def work(folder: Path, console: Console) -> None:
    """Runs this process's part of a prepared run, from the newest checkpoint on."""
    transformers_logging.disable_progress_bar()
    lock = FolderLock(folder, shared=True)
    config, damage = saved_config(folder)
    if config is None or damage:
        raise RunFolderError(
            f"{folder / 'config.toml'} is missing or damaged: 'agentgym-train prepare' restores it"
        )
    use_threads(config.run.threads)
    start_processes(config.engine, read_secret(folder))
    # Other processes share the first lock, and another start of 'work' would too.
    main = FolderLock(folder, name=".main-lock") if Distributed().is_main else None
    try:
        Distributed(device()).from_main(lambda: check_again(config, folder, console))
        if config.policy:
            work_on_policy(config.policy, folder, console)
        else:
            assert isinstance(config, reward_config.RewardConfig)
            reward.work(config, folder, console)
    except RuntimeError as error:
        if late := rendezvous.explain(error, config.engine.collective_timeout):
            raise TrainingError(late) from error
        raise
    for each in filter(None, (main, lock)):
        each.release()


def check_again(config: SharedSettings, folder: Path, console: Console) -> None:
    """Checks the files of a run that a launcher starts again without preparing it.

    Raises:
        RunFolderError: the model of the start is damaged.
    """
    if take_checked(folder):
        return
    report.RunDisplay(console).warn(*repair.repair(folder, config), *changed_code(config, folder))
    scratch = config.policy and config.model.path == SCRATCH
    if scratch and (found := repair.init_fault(folder / "init")):
        raise RunFolderError(f"{folder / 'init'} {found}: 'agentgym-train prepare' makes it again")


def work_on_policy(config: Config, folder: Path, console: Console) -> None:
    """Trains, evaluates and reports."""
    parts = assemble(config, folder)
    trainer, tokenizer, held_out = PolicyTrainer(parts), parts.tokenizer, parts.held_out
    first = trainer.distributed.is_main
    if first and trainer.generator.method_name:
        name = config.generator["name"]
        console.print(f"generator {name}: {trainer.generator.method_name}", highlight=False)
    tests = HeldOut(
        config,
        folder,
        tokenizer=tokenizer,
        described=held_out,
        generator=trainer.generator,
        distributed=trainer.distributed,
        failures=trainer.failures,
    )
    trackers = make_trackers(config, folder, trainer.distributed)
    with report.RunDisplay(console, quiet=not first) as display:
        if "before" not in tests.notes.rows and not trainer.start:
            tests.play("before", 0)
            display.warn_of_cut_actions(tests.notes.rows["before"], config.rollout.max_new_tokens)
        if "oracle" not in tests.notes.rows and all(d.text_env and not d.several for d in held_out):
            tests.add_baselines(console)

        def log(row: dict[str, Any], groups: list[Group]) -> None:
            display.step(row, config.run.steps)
            display.warn_of_cut_actions(row, config.rollout.max_new_tokens)
            for tracker in trackers:
                tracker.log(row["step"], row, [t for g in groups for t in g.trajectories][:SAMPLES])

        trainer.train(log, lambda step: tests.play(f"step {step}", step))
        played = tests.play("after", config.run.steps)
    for tracker in trackers:
        tracker.finish()
    checkpoint.save_model(folder / "model", trainer.engine, tokenizer)
    if first:
        leave(folder, played, tests.notes, console)
    trainer.close()


def leave(
    folder: Path,
    played: Mapping[str, Sequence[Trajectory]],
    notes: metrics.EvaluationNotes,
    console: Console,
) -> None:
    """Writes and prints the results of a run for the user."""
    rows = metrics.read(folder / "metrics.jsonl")
    share = -(-SHOWN // len(played))
    shown = {name: episodes[:share] for name, episodes in played.items()}
    with writing(folder):
        report.write_trajectories(folder / "trajectories.md", shown)
        report.learning_curve(folder / "learning_curve.png", rows, notes.rows)
    console.print(report.table(notes.rows))
    console.print(
        f"wrote {folder}/: learning_curve.png, trajectories.md, metrics.jsonl, model/",
        highlight=False,
    )
    console.print(
        f"to read and compare its episodes: agentgym report {folder}/episodes/*", highlight=False
    )
    check_learned(rows)


def check_learned(rows: list[dict[str, Any]]) -> None:
    """Rejects a training that changed nothing.

    Raises:
        TrainingError: no step had a gradient.
    """
    if not any(row.get("grad_norm", 0.0) for row in rows):
        raise TrainingError(
            "training changed nothing: every gradient was 0, because rewards never differed within"
            " a group. Look at trajectories.md and 'return' in metrics.jsonl; try easier tasks, a"
            " longer horizon, or a larger env.group_size"
        )


def evaluate_checkpoint(
    place: Path, config_file: Path | None, overrides: list[str], console: Console
) -> None:
    """Plays held-out tasks with a saved model and prints the table.

    Raises:
        CheckpointError: the model is missing, or the configuration is missing or damaged.
        ModelError: the model is damaged.
    """
    folder = next((f for f in (place / "model", place) if (f / "config.json").is_file()), None)
    if folder is None:
        raise CheckpointError(
            f"{place} holds no model: give a run folder, a checkpoint of it, or a Hugging Face"
            " model folder"
        )
    check_files(str(folder), key="the model")
    above = (place, *place.resolve().parents)
    saved = next((p for p in above if (p / "config.toml").is_file()), None)
    if config_file is None and saved is None:
        raise CheckpointError(f"no config.toml lies in or above {place}: name one with --config")
    damage = config_fault(saved) if saved else None
    if config_file is None and damage:
        raise CheckpointError(f"{saved}/config.toml {damage}: name a configuration with --config")
    own = reward_config.load(saved / "config.toml") if saved and not damage else None
    config = configuration.load(config_file or f"{saved}/config.toml", overrides)
    config = dated(config, own)
    use_threads(config.run.threads)
    held_out = [(one, describe(one)[1]) for one in config.each()]
    tokenizer = load_tokenizer(str(folder), chat_template=config.model.chat_template)
    generator = make_generator(
        config,
        str(folder),
        ChatTokens(tokenizer, must_grow=False, **config.template_options),
        device=device(),
        distributed=Distributed(),
    )
    with closing(generator):
        played = {
            one.env.name: evaluate.evaluate(one, generator, tokenizer, described).trajectories
            for one, described in held_out
        }
    row = evaluate.overall(played)
    console.print(report.table({"checkpoint": row}))
    report.RunDisplay(console).warn_of_cut_actions(row, config.rollout.max_new_tokens)
