"""Teaches a new model to copy: training on random sequences of tokens, each shown twice.

Only copying the first half of such a sequence predicts its second half. The attention that copies
is called an induction head (Olsson et al., 2022, https://arxiv.org/abs/2209.11895). A policy needs
it to name a thing that an observation shows. A small model that only reads episodes learns it late.
"""

import logging
import math
from collections.abc import Callable
from functools import partial
from statistics import fmean

import torch
from torch.nn.functional import cross_entropy
from transformers import Qwen2ForCausalLM, get_constant_schedule_with_warmup

from agentgym_train.models.optimizing import optimize

log = logging.getLogger(__name__)
LENGTHS = (8, 64)
"""Shortest and longest half of a sequence, in tokens."""
TOKENS = 4096
"""Maximum tokens per optimizer step."""


def learn(
    model: Qwen2ForCausalLM,
    *,
    steps: int,
    lr: float,
    seed: int,
    progress: Callable[[int], None],
) -> list[float]:
    """Trains the model in place, on its device.

    Args:
        model: the model. Its tokens are drawn with equal probabilities.
        steps: optimizer steps.
        lr: learning rate, after a warm-up of a tenth of the steps.
        seed: fixes the sequences.
        progress: called with the number of steps done.

    Returns:
        The loss of each step on the second halves, in nats per token.
    """
    rng = torch.Generator().manual_seed(seed)
    losses = []

    def add_gradients() -> None:
        loss = _loss(model, rng)
        loss.backward()
        losses.append(loss.item())

    optimize(
        model,
        add_gradients,
        steps=steps,
        lr=lr,
        schedule=partial(get_constant_schedule_with_warmup, num_warmup_steps=steps // 10),
        progress=progress,
    )
    chance = math.log(model.config.vocab_size)
    if losses and fmean(losses[-10:]) > chance / 2:
        log.warning(
            "scratch.copy_steps=%d is too small: the model does not copy yet (loss %.2f nats per"
            " token; chance: %.2f)",
            steps,
            fmean(losses[-10:]),
            chance,
        )
    return losses


def _loss(model: Qwen2ForCausalLM, rng: torch.Generator) -> torch.Tensor:
    """Returns the mean loss on the second halves of a batch.

    Shapes: B sequences, T tokens of a half or of a sequence, V vocabulary.
    """
    length = int(torch.randint(LENGTHS[0], LENGTHS[1] + 1, (), generator=rng))
    vocab = model.config.vocab_size
    half_BT = torch.randint(vocab, (TOKENS // (2 * length), length), generator=rng)
    id_BT = torch.cat([half_BT, half_BT], dim=1).to(model.device)
    logits_BTV = model(input_ids=id_BT).logits[:, length - 1 : -1]
    return cross_entropy(logits_BTV.flatten(0, 1), id_BT[:, length:].flatten())
