"""The training of a reward model: evaluation, training, evaluation, results.

::

    RUN/config.toml, metrics.jsonl, checkpoints/   as in a policy's run
    RUN/evaluation.json                            metrics of held-out tasks by training step
    RUN/model/                                     a sequence classifier with one label, for
                                                   transformers, TRL and the scorer reward_model

Shapes: B episodes, P pairs.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Column, Table
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from agentgym_train.assembly import make_trackers
from agentgym_train.data.batching import Batch, pack
from agentgym_train.data.load_balancing import share_out
from agentgym_train.data.recorded import EpochSampler
from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint
from agentgym_train.engine.deepspeed import TrainingEngine, loading
from agentgym_train.errors import TrainingError
from agentgym_train.learning.losses import bradley_terry
from agentgym_train.models.loading import device, load_reward_model, load_tokenizer
from agentgym_train.reporting import metrics, report
from agentgym_train.reward import comparisons
from agentgym_train.reward.comparisons import ComparedPair, ComparisonSplit
from agentgym_train.reward.config import RewardConfig

BINS = 10  # number of bins of confidence, from one half to one


def summary(margin_P: Tensor, preference_P: Tensor) -> dict[str, float]:
    """Returns the metrics of comparisons.

    Args:
        margin_P: the first episode's score minus the second's.
        preference_P: 1 if the first is better, 0 if the second is better, 0.5 if they tie.

    Returns:
        ``log_loss``: the mean loss, in nats; random guesses have 0.693. ``accuracy``: share of the
        decided pairs in which the better episode scores higher; two equal scores count one half.
        ``calibration_error``: the expected calibration error (Naeini et al., 2015), the mean
        difference between confidence and correctness over ten bins of confidence; a tie is half
        correct. ``margin``: the better episode's score minus the other's. ``pairs``, and the
        ``ties`` among them. ``accuracy`` and ``margin`` are absent if all pairs tie.
    """
    margin_P, preference_P = margin_P.double(), preference_P.double()
    decided_P = preference_P != 0.5
    signed_P = margin_P * (2 * preference_P - 1)
    right_P = (1 + margin_P.sign() * (2 * preference_P - 1)) / 2
    confidence_P = margin_P.abs().sigmoid()
    # The lower bound is needed if a score is not a number.
    bin_P = ((2 * confidence_P - 1) * BINS).long().clamp(0, BINS - 1)
    gaps = torch.zeros(BINS, dtype=torch.float64).index_add(0, bin_P, confidence_P - right_P)
    of_decided = {"accuracy": right_P, "margin": signed_P} if decided_P.any() else {}
    return {
        "log_loss": float(bradley_terry(margin_P, preference_P).mean()),
        "calibration_error": float(gaps.abs().sum() / len(margin_P)),
        **{name: float(value_P[decided_P].mean()) for name, value_P in of_decided.items()},
        "pairs": len(margin_P),
        "ties": int((~decided_P).sum()),
    }


Judged = tuple[Tensor, Tensor]
"""Margins and preferences, each of shape (P,).

See :func:`agentgym_train.reward.trainer.summary`.
"""


class RewardTrainer:
    """The part of a reward model's training that one process does.

    Args:
        config: the run.
        folder: the run folder; it exists and is ours.
        tokenizer: of the model.
        pairs: the comparisons.
    """

    def __init__(
        self,
        config: RewardConfig,
        folder: Path,
        *,
        tokenizer: PreTrainedTokenizerBase,
        pairs: ComparisonSplit,
    ):
        self.config, self.folder, self.tokenizer, self.pairs = config, folder, tokenizer, pairs
        with loading(config.engine, config.model.dtype):
            model = load_reward_model(config.model, tokenizer, seed=config.run.seed)
        self.shape = checkpoint.shape(model)
        newest, universal = checkpoint.newest(folder, Distributed(device()))
        self.engine = TrainingEngine(
            model, config.engine, dtype=config.model.dtype, universal=universal
        )
        self.distributed = self.engine.distributed
        zero_stage = config.engine.zero_stage
        self.start = (
            checkpoint.restore(newest, [self.engine], model=self.shape, zero_stage=zero_stage).step
            if newest
            else 0
        )
        self.rows = metrics.MetricsFile(
            folder / checkpoint.LINES[0], start=self.start, distributed=self.distributed
        )
        self.sampler = EpochSampler(len(pairs.learn), seed=config.run.seed)

    def train(self, log: Callable[[dict[str, Any]], None], look: Callable[[int], object]) -> None:
        """Runs the remaining steps.

        Args:
            log: sees each step's metrics.
            look: judges held-out comparisons after a step (counted from 1).

        Raises:
            TrainingError: a loss or gradient is not finite.
        """
        run, every, size = (
            self.config.run,
            self.config.comparisons.every,
            self.config.comparisons.pairs,
        )
        for step in range(self.start, run.steps):
            began = time.monotonic()
            dealt = [
                self.pairs.learn[self.sampler.place(step * size + number)] for number in range(size)
            ]
            learned = self.update(step, dealt)
            row = {
                "step": step + 1,
                **learned,
                "time": {"update": time.monotonic() - began},
                "memory": metrics.memory(),
            }
            self.rows.write(row)
            log(row)
            if every and (step + 1) % every == 0 and step + 1 < run.steps:
                look(step + 1)
            if (step + 1) % run.save_every == 0 or step + 1 == run.steps:
                self.save(step + 1)

    def update(self, step: int, pairs: Sequence[ComparedPair]) -> dict[str, float]:
        """Takes an optimizer step.

        All processes call it with the same pairs; each judges its share.

        Raises:
            TrainingError: a loss or gradient is not finite.
        """
        batch, judged = self._mine(pairs), []
        for margin_P, preference_P in self._judged(batch):
            # DeepSpeed averages gradients over processes; the loss needs their sum.
            self.engine.backward(
                bradley_terry(margin_P, preference_P).sum() * self.distributed.size / len(pairs)
            )
            judged.append((margin_P.detach(), preference_P))
        learned = self._summary(judged) | {"grad_norm": self.engine.step(), "lr": self.engine.lr}
        if not all(map(math.isfinite, learned.values())):
            newest, _ = checkpoint.newest(self.folder, self.distributed)
            raise TrainingError(
                f"step {step + 1}: the loss or its gradient is not finite. A smaller engine.lr or"
                " engine.max_grad_norm may help; running again goes on from"
                f" {newest or 'the start'}"
            )
        return learned

    @torch.no_grad()
    def judge(self, pairs: Sequence[ComparedPair]) -> dict[str, float]:
        """Returns the metrics of comparisons without learning from them.

        All processes call it with the same comparisons.
        """
        return self._summary(list(self._judged(self._mine(pairs))))

    def save(self, step: int) -> None:
        """Writes a checkpoint."""
        state = checkpoint.CheckpointState(
            step, {}, self.config.engine.zero_stage, self.distributed.size, self.shape
        )
        checkpoint.save(self.folder, state, self.engine, self.tokenizer, keep=self.config.run.keep)

    def _mine(self, pairs: Sequence[ComparedPair]) -> Batch:
        """Returns this process's pairs as a batch."""
        rank, size = self.distributed.rank, self.distributed.size
        return pack(
            [pair.group(number) for number, pair in enumerate(pairs) if number % size == rank]
        )

    def _judged(self, batch: Batch) -> Iterator[Judged]:
        """Judges this process's share of all pairs, in as many micro-batches as every process.

        An idle process gets a padding row, which is not a pair.
        """
        for micro, _ in share_out(
            batch, self.distributed, self.config.engine.micro_batch_tokens, unit="group"
        ):
            here = micro.to(self.engine.device)
            rows = len(here.group_B) // 2 * 2
            score_P2, share_P2 = (
                each_B[:rows].view(-1, 2)
                for each_B in (self.engine.scores(here), here.return_B().float())
            )
            yield score_P2[:, 0] - score_P2[:, 1], share_P2[:, 0]

    def _summary(self, judged: Sequence[Judged]) -> dict[str, float]:
        """Returns the metrics of the comparisons of all processes."""
        mine = [torch.cat(parts).cpu() for parts in zip(*judged, strict=True)]
        everywhere = zip(*self.distributed.gather(mine), strict=True)
        return summary(*(torch.cat(parts) for parts in everywhere))


SHOWN = {
    "log_loss": "log loss",
    "accuracy": "accuracy",
    "calibration_error": "calibration error",
    "margin": "margin",
}


def work(config: RewardConfig, folder: Path, console: Console) -> None:
    """Trains a reward model and evaluates it on held-out comparisons before and after.

    It continues from the newest checkpoint. All processes call it.
    """
    tokenizer = load_tokenizer(config.model.path, chat_template=config.model.chat_template)
    pairs = comparisons.load(config, tokenizer)
    trainer = RewardTrainer(config, folder, tokenizer=tokenizer, pairs=pairs)
    first, steps = trainer.distributed.is_main, config.run.steps
    notes = metrics.EvaluationNotes(folder / "evaluation.json", trainer.distributed)
    trackers = make_trackers(config, folder, trainer.distributed)

    def look(key: str, step: int) -> None:
        notes.add(key, trainer.judge(pairs.held_out) | {"step": step})

    with report.RunDisplay(console, quiet=not first) as display:

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
