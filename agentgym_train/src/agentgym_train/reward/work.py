"""One process of a reward model's run: evaluation, training, evaluation, results.

RUN/config.toml, metrics.jsonl, checkpoints/   as of a policy's run (see ``run``)
RUN/evaluation.json                            what it says of held-out tasks: before, during and
after RUN/model/                                     a sequence classifier with one label: for
transformers, TRL, the scorer reward_model
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column, Table

from agentgym_train.assembly import make_trackers
from agentgym_train.engine import checkpoint
from agentgym_train.models.loading import load_tokenizer
from agentgym_train.reporting import metrics, report
from agentgym_train.reward import comparisons
from agentgym_train.reward.config import RewardConfig
from agentgym_train.reward.trainer import RewardTrainer

SHOWN = {
    "log_loss": "log loss",
    "accuracy": "accuracy",
    "calibration_error": "calibration error",
    "margin": "margin",
}


def work(config: RewardConfig, folder: Path, console: Console) -> None:
    """Learns between two looks at held-out comparisons; goes on from the newest checkpoint.

    One process's share.
    """
    tokenizer = load_tokenizer(config.model.path, chat_template=config.model.chat_template)
    pairs = comparisons.load(config, tokenizer)
    trainer = RewardTrainer(config, folder, tokenizer=tokenizer, pairs=pairs)
    first, steps = trainer.distributed.is_main, config.run.steps
    notes = metrics.Notes(folder / "evaluation.json", trainer.distributed)
    trackers = make_trackers(config, folder, trainer.distributed)

    def look(key: str, step: int) -> None:
        notes.add(key, trainer.judge(pairs.held_out) | {"step": step})

    with report.Display(console, quiet=not first) as display:

        def log(row: dict[str, Any]) -> None:
            right = f" · accuracy {row['accuracy']:.2f}" if "accuracy" in row else ""
            display.advance(
                "reward model", row["step"], steps, f"log loss {row['log_loss']:.3f}{right}"
            )
            for tracker in trackers:
                tracker.log(row["step"], row, [])

        if "before" not in notes.rows and not trainer.start:
            look("before", 0)
        trainer.train(log, lambda step: look(f"step {step}", step))
        look("after", steps)
    for tracker in trackers:
        tracker.finish()
    checkpoint.save_model(folder / "model", trainer.engine, tokenizer)
    if first:
        console.print(table(notes.rows))
        console.print(f"wrote {folder}/: metrics.jsonl, evaluation.json, model/", highlight=False)
    trainer.engine.close()


def table(notes: Mapping[str, Mapping[str, float]]) -> Table:
    """Returns what the model says of held-out comparisons, before, during and after."""
    shown = Table(
        Column("", overflow="fold"),
        *(Column(head, no_wrap=True) for head in SHOWN.values()),
        title=f"{notes['after']['pairs']} comparisons of held-out tasks",
    )
    for key, row in notes.items():
        shown.add_row(key, *(f"{row[name]:.3f}" for name in SHOWN))
    return shown
