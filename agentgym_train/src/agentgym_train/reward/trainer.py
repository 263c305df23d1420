"""The loop in which a reward model learns.

Shapes: B episodes, P pairs.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from agentgym_train.data.balance import share_out
from agentgym_train.data.batching import Batch, pack
from agentgym_train.data.sampler import EpochSampler
from agentgym_train.distributed import Distributed
from agentgym_train.engine import checkpoint
from agentgym_train.engine.deepspeed import Engine, loading
from agentgym_train.errors import TrainingError
from agentgym_train.learning.losses import bradley_terry
from agentgym_train.models.loading import device, load_reward_model
from agentgym_train.reporting import metrics
from agentgym_train.reward.calibration import summary
from agentgym_train.reward.comparisons import Pair, Split
from agentgym_train.reward.config import RewardConfig

Judged = tuple[Tensor, Tensor]
"""Margins and preferences, each of shape (P,).

See :func:`agentgym_train.reward.calibration.summary`.
"""


class RewardTrainer:
    """One process's share of a run.

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
        pairs: Split,
    ):
        self.config, self.folder, self.tokenizer, self.pairs = config, folder, tokenizer, pairs
        with loading(config.engine, config.model.dtype):
            model = load_reward_model(config.model, tokenizer, seed=config.run.seed)
        self.shape = checkpoint.shape(model)
        newest, universal = checkpoint.newest(folder, Distributed(device()))
        self.engine = Engine(model, config.engine, dtype=config.model.dtype, universal=universal)
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

    def update(self, step: int, pairs: Sequence[Pair]) -> dict[str, float]:
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
    def judge(self, pairs: Sequence[Pair]) -> dict[str, float]:
        """Returns the metrics of comparisons without learning from them.

        All processes call it with the same comparisons.
        """
        return self._summary(list(self._judged(self._mine(pairs))))

    def save(self, step: int) -> None:
        """Writes a checkpoint."""
        state = checkpoint.State(
            step, {}, self.config.engine.zero_stage, self.distributed.size, self.shape
        )
        checkpoint.save(self.folder, state, self.engine, self.tokenizer, keep=self.config.run.keep)

    def _mine(self, pairs: Sequence[Pair]) -> Batch:
        """Returns this process's share."""
        rank, size = self.distributed.rank, self.distributed.size
        return pack(
            [pair.group(number) for number, pair in enumerate(pairs) if number % size == rank]
        )

    def _judged(self, batch: Batch) -> Iterator[Judged]:
        """Judges this process's share of all pairs, in as many micro-batches as every process.

        An idle process gets a padding row, which is not a pair.
        """
        for micro, _ in share_out(
            batch, self.distributed, self.config.engine.micro_batch_tokens, whole_groups=True
        ):
            here = micro.to(self.engine.device)
            rows = len(here.group_B) // 2 * 2
            score_P2, share_P2 = (
                each_B[:rows].view(-1, 2)
                for each_B in (self.engine.scores(here), here.return_B().float())
            )
            yield score_P2[:, 0] - score_P2[:, 1], share_P2[:, 0]

    def _summary(self, judged: Sequence[Judged]) -> dict[str, float]:
        """Sums up what all processes have judged."""
        mine = [torch.cat(parts).cpu() for parts in zip(*judged, strict=True)]
        everywhere = zip(*self.distributed.gather(mine), strict=True)
        return summary(*(torch.cat(parts) for parts in everywhere))
