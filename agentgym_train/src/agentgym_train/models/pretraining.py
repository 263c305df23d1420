"""The training of a model from scratch: first it learns to copy, then it reads episodes.

Copying is learned from random sequences of tokens, each shown twice. Only copying the first half of
such a sequence predicts its second half. The attention that copies is called an induction head
(Olsson et al., 2022, https://arxiv.org/abs/2209.11895). A policy needs it to name a thing that an
observation shows. A small model that only reads episodes learns it late.

Shapes: B sequences, T tokens.
"""

import logging
import math
import random
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import LRScheduler
from transformers import (
    PreTrainedTokenizerBase,
    Qwen2ForCausalLM,
    get_constant_schedule_with_warmup,
    get_cosine_schedule_with_warmup,
)

from agentgym_train.config import ScratchConfig
from agentgym_train.data.load_balancing import BatchUnit, plan
from agentgym_train.data.types import Call
from agentgym_train.models.chat import ChatTokens, Message


def optimize(
    model: Qwen2ForCausalLM,
    add_gradients: Callable[[], None],
    *,
    steps: int,
    lr: float,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler],
    progress: Callable[[int], None],
) -> None:
    """Trains the model in place, on its device.

    Args:
        model: the model.
        add_gradients: computes the gradients of the next batch.
        steps: optimizer steps.
        lr: peak learning rate.
        schedule: makes the schedule of the learning rate.
        progress: called with the number of steps done.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    scheduler = schedule(optimizer)
    model.train()
    for step in range(steps):
        add_gradients()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        progress(step + 1)


log = logging.getLogger(__name__)
LENGTHS = (8, 64)
"""Shortest and longest half of a sequence, in tokens."""
TOKENS = 4096
"""Maximum tokens per optimizer step."""


def learn_to_copy(
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
        loss = _copy_loss(model, rng)
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


def _copy_loss(model: Qwen2ForCausalLM, rng: torch.Generator) -> torch.Tensor:
    """Returns the mean loss on the second halves of a batch.

    Shapes: B sequences, T tokens of a half or of a sequence, V vocabulary.
    """
    length = int(torch.randint(LENGTHS[0], LENGTHS[1] + 1, (), generator=rng))
    vocab = model.config.vocab_size
    half_BT = torch.randint(vocab, (TOKENS // (2 * length), length), generator=rng)
    id_BT = torch.cat([half_BT, half_BT], dim=1).to(model.device)
    logits_BTV = model(input_ids=id_BT).logits[:, length - 1 : -1]
    return cross_entropy(logits_BTV.flatten(0, 1), id_BT[:, length:].flatten())


Replay = Callable[[ChatTokens, Sequence[tuple[str, list[int]]]], list[list[Call]]]
"""Returns the samples of an episode: its observations, each with the tokens of the response."""
MICRO_BATCH_TOKENS = 1024
"""Maximum padded tokens per forward pass. Few fit the caches of a CPU, and need little padding."""


class EpisodeTokens(NamedTuple):
    """An episode as tokens."""

    ids: list[int]
    weights: list[float]
    """Weight of each token in the loss."""


def encode(
    tokenizer: PreTrainedTokenizerBase,
    episodes: Sequence[Sequence[Message]],
    *,
    max_context: int,
    observations: float,
    replay: Replay | None = None,
) -> list[EpisodeTokens]:
    """Returns the tokens of episodes, or of the samples that an agent would see.

    Args:
        tokenizer: has a chat template.
        episodes: chat messages of users (observations) and assistants (actions), by turns.
        max_context: longer episodes are cut.
        observations: weight of an observation's tokens. An action's tokens and its stop token have
            the weight 1.
        replay: the agent; None: the conversation alone.
    """
    chat = ChatTokens(tokenizer)
    if replay is None:
        return [_encode(chat, episode, max_context, observations) for episode in episodes]
    rows = []
    for episode in episodes:
        texts = [message["content"] for message in episode]
        answers = [chat.response(text) for text in texts[1::2]]
        for sample in replay(chat, list(zip(texts[::2], answers, strict=False))):
            parts = [
                part
                for call in sample
                for part in ((call.prompt_ids, observations), (call.action_ids, 1.0))
            ]
            ids = [token for part, _ in parts for token in part]
            weights = [weight for part, weight in parts for _ in part]
            rows.append(EpisodeTokens(ids[:max_context], weights[:max_context]))
    return rows


def _encode(
    chat: ChatTokens, episode: Sequence[Message], max_context: int, observations: float
) -> EpisodeTokens:
    ids: list[int] = []
    weights: list[float] = []
    action: list[int] = []
    for message in episode:
        if message["role"] == "assistant":
            part, weight = chat.response(message["content"]), 1.0
            action = part
        else:
            text, weight = message["content"], observations
            part = chat.between(action, text) if action else chat.opening(text)
        ids += part
        weights += [weight] * len(part)
    return EpisodeTokens(ids[:max_context], weights[:max_context])


def learn_episodes(
    model: Qwen2ForCausalLM,
    rows: Sequence[EpisodeTokens],
    config: ScratchConfig,
    *,
    seed: int,
    progress: Callable[[int], None],
) -> None:
    """Trains the model in place, on its device.

    Args:
        model: the model.
        rows: the episodes.
        config: steps, episodes per step, and learning rate.
        seed: fixes the batches.
        progress: called with the number of steps done.
    """
    rng = random.Random(seed)

    def add_gradients() -> None:
        picked = rng.sample(rows, min(config.batch, len(rows)))
        total = sum(sum(row.weights[1:]) for row in picked)
        for (part,) in plan([BatchUnit(1, len(row.ids)) for row in picked], 1, MICRO_BATCH_TOKENS):
            (_episode_loss(model, [picked[number] for number in sorted(part)]) / total).backward()

    optimize(
        model,
        add_gradients,
        steps=config.steps,
        lr=config.lr,
        schedule=partial(
            get_cosine_schedule_with_warmup,
            num_warmup_steps=config.steps // 10,
            num_training_steps=config.steps,
        ),
        progress=progress,
    )


def _episode_loss(model: Qwen2ForCausalLM, rows: Sequence[EpisodeTokens]) -> torch.Tensor:
    """Returns the weighted sum of the loss over all tokens except the first of each row."""
    id_BT = pad_sequence([torch.tensor(row.ids) for row in rows], batch_first=True)
    weight_BT = pad_sequence([torch.tensor(row.weights) for row in rows], batch_first=True)
    id_BT, weight_BT = id_BT.to(model.device), weight_BT.to(model.device)
    # The attention is causal, so the padding behind a row needs no mask.
    logits_BTV = model(input_ids=id_BT).logits[:, :-1]
    # Rows of logits are faster than the transposed matrix that cross_entropy wants otherwise.
    loss_N = cross_entropy(logits_BTV.flatten(0, 1), id_BT[:, 1:].flatten(), reduction="none")
    return (loss_N * weight_BT[:, 1:].flatten()).sum()
