"""Next-token prediction on whole episodes, which trains a model from scratch.

Shapes: B episodes, T tokens, V vocabulary, N tokens of all episodes.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    PreTrainedTokenizerBase,
    Qwen2ForCausalLM,
    get_cosine_schedule_with_warmup,
)

from agentgym_train.config import ScratchConfig
from agentgym_train.data.balance import Unit, plan
from agentgym_train.models.chat import Chat, Message
from agentgym_train.models.optimizing import optimize

MICRO_BATCH_TOKENS = 1024
"""Maximum padded tokens per forward pass. Few fit the caches of a CPU, and need little padding."""


class Row(NamedTuple):
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
) -> list[Row]:
    """Returns the tokens of episodes.

    Args:
        tokenizer: has a chat template.
        episodes: chat messages of users (observations) and assistants (actions), by turns.
        max_context: longer episodes are cut.
        observations: weight of an observation's tokens. An action's tokens and its stop token have
            the weight 1.
    """
    chat = Chat(tokenizer)
    return [_encode(chat, episode, max_context, observations) for episode in episodes]


def _encode(chat: Chat, episode: Sequence[Message], max_context: int, observations: float) -> Row:
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
    return Row(ids[:max_context], weights[:max_context])


def learn(
    model: Qwen2ForCausalLM,
    rows: Sequence[Row],
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
        for (part,) in plan([Unit(1, len(row.ids)) for row in picked], 1, MICRO_BATCH_TOKENS):
            (_loss(model, [picked[number] for number in sorted(part)]) / total).backward()

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


def _loss(model: Qwen2ForCausalLM, rows: Sequence[Row]) -> torch.Tensor:
    """Returns the weighted sum of the loss over all tokens except the first of each row."""
    id_BT = pad_sequence([torch.tensor(row.ids) for row in rows], batch_first=True)
    weight_BT = pad_sequence([torch.tensor(row.weights) for row in rows], batch_first=True)
    id_BT, weight_BT = id_BT.to(model.device), weight_BT.to(model.device)
    # The attention is causal, so the padding behind a row needs no mask.
    logits_BTV = model(input_ids=id_BT).logits[:, :-1]
    # Rows of logits are faster than the transposed matrix that cross_entropy wants otherwise.
    loss_N = cross_entropy(logits_BTV.flatten(0, 1), id_BT[:, 1:].flatten(), reduction="none")
    return (loss_N * weight_BT[:, 1:].flatten()).sum()
