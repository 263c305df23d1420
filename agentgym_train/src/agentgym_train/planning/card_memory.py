"""Bytes that a run holds on a card: DeepSpeed's engine by stage, and the embedded generator.

The engine's bytes were measured on its tensors. The generator has a key-value cache, and one call
of the model at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deepspeed.runtime.zero.config import DeepSpeedZeroConfig
from transformers import PretrainedConfig

from agentgym_train.config import EngineConfig
from agentgym_train.engine.zero_config import zero_config
from agentgym_train.generators.ragged_cache import GROWTH
from agentgym_train.planning.trace import ParameterSize

FLOAT32 = 4
BUCKET = 500_000_000
"""Elements that DeepSpeed joins in an all-reduce of gradients without ZeRO."""
MASTER, MOMENTS = FLOAT32, 2 * FLOAT32
"""Bytes per trained parameter: its float32 copy, and AdamW's two moments."""


@dataclass(frozen=True)
class TrainingCards:
    """Where a run trains."""

    count: int
    """Number of cards, which is the number of processes."""
    cpu: bool = False
    """Train on the CPU. A buffer then needs memory only as far as it is used."""


@dataclass(frozen=True)
class EngineMemory:
    """Bytes of one engine on one card."""

    weights: float
    optimizer: float
    """AdamW's moments and float32 copies of the weights."""
    gradients: float
    """Accumulated gradients during the update."""
    gradients_kept: float
    """The part of ``gradients`` that stays allocated between updates."""
    buckets: float
    """Buffers that stay allocated."""
    gathered: float
    """Weights of other cards that a pass gathers, and gradients on their way to other cards."""
    step: float
    """Temporary numbers of the optimizer step, above ``gradients``."""
    host: float
    """Bytes in main memory, by offloading."""


def engine_memory(
    weights: Sequence[ParameterSize],
    config: EngineConfig,
    dtype: str,
    cards: TrainingCards,
    *,
    frozen: bool = False,
) -> EngineMemory:
    """Returns what the engine of a model holds.

    Args:
        weights: the parameters of the model.
        config: the ZeRO settings.
        dtype: "float32" or "bfloat16".
        cards: where it trains.
        frozen: the model is not trained, such as a reference.
    """
    zero = DeepSpeedZeroConfig(**zero_config(config, dtype)["zero_optimization"])
    size = 2 if dtype == "bfloat16" else FLOAT32
    trained = 0 if frozen else sum(w.numel for w in weights if w.trained)
    if int(zero.stage) == 3:
        return _sharded(weights, trained, zero, size, cards)
    return _replicated(weights, trained, zero, size, cards)


def _replicated(
    weights: Sequence[ParameterSize], trained: int, zero: Any, size: int, cards: TrainingCards
) -> EngineMemory:
    """Stages 0, 1 and 2: every card holds all weights."""
    stage, count = int(zero.stage), cards.count
    total = sum(w.numel for w in weights)
    part = trained / (count if stage else 1)
    bucket = size * (
        min(zero.reduce_bucket_size, trained) if cards.cpu else zero.reduce_bucket_size
    )
    copies = (2 if zero.overlap_comm else 1) + (count > 1)
    largest = max((w.numel for w in weights if w.trained), default=0)
    # float32 has no extra copy without ZeRO: the optimizer changes the weights themselves.
    optimizer = (MOMENTS + (MASTER if stage else 0)) * part
    gradients = FLOAT32 * (part if stage == 2 else trained)
    off = _place(zero.offload_optimizer) != "none" and stage > 0
    flat = FLOAT32 * (min(trained, BUCKET) if stage == 0 else part)
    step = max(flat, _moving(part, cards) - gradients if stage else 0)
    return EngineMemory(
        weights=size * total,
        optimizer=0 if off else optimizer,
        gradients=0 if off else gradients,
        gradients_kept=0,
        # DeepSpeed frees its buffer after the backward pass, so the optimizer step is without it.
        buckets=0,
        gathered=copies * bucket + FLOAT32 * largest if stage and trained else 0,
        step=0 if off else step,
        host=(optimizer + FLOAT32 * part if off else 0) * count,
    )


def _sharded(
    weights: Sequence[ParameterSize], trained: int, zero: Any, size: int, cards: TrainingCards
) -> EngineMemory:
    """Stage 3: every card holds its part of each weight, and gathers a weight when it is used."""
    count = cards.count
    total = sum(w.numel for w in weights)
    largest = max(w.numel for w in weights)
    small = sum(w.numel for w in weights if w.numel < zero.param_persistence_threshold)
    part = trained / count
    optimizer, gradients = (MASTER + MOMENTS) * part, FLOAT32 * part
    bucket = _bucket(zero, trained, cards)
    # Weights of one fetch arrive in one buffer and are then copied to their places.
    live = min(total, zero.max_live_parameters + 2 * zero.prefetch_bucket_size + largest)
    away_optimizer, away_weights = (
        _place(place) != "none" for place in (zero.offload_optimizer, zero.offload_param)
    )
    shards = size * total / count
    return EngineMemory(
        weights=(0 if away_weights else shards) + size * small * (1 - 1 / count),
        optimizer=0 if away_optimizer else optimizer,
        gradients=0 if away_optimizer else gradients,
        gradients_kept=0 if away_optimizer else gradients,
        buckets=size * bucket if trained else 0,
        gathered=0 if count == 1 else size * (live + largest),
        step=0 if away_optimizer else _moving(min(part, zero.sub_group_size), cards),
        host=((optimizer + gradients) * away_optimizer + shards * away_weights) * count,
    )


def _bucket(zero: Any, trained: int, cards: TrainingCards) -> int:
    """Returns the elements of the buffer for gradients, as far as they need memory."""
    size = int(zero.reduce_bucket_size)
    return min(size, trained) if cards.cpu else size


def _moving(numel: float, cards: TrainingCards) -> float:
    """Returns the bytes of gradients in one piece and of AdamW's temporary numbers."""
    # On the CPU, AdamW has a root and a quotient at a time; on an accelerator only the root.
    return FLOAT32 * numel * (3 if cards.cpu else 2)


def _place(offload: Any) -> str:
    """Returns where DeepSpeed moves a state: "none", "cpu" or "nvme"."""
    device = getattr(offload, "device", None)
    return "none" if device is None else str(getattr(device, "value", device))


PROMPT = 512
"""Assumed new tokens of each row in a turn, which the model reads in one call."""
SAMPLING = 24
"""Bytes per word and row while a token is drawn: logits, probabilities, and their sums in
float64."""


@dataclass(frozen=True)
class GeneratorRows:
    """Episodes that one process plays at the same time."""

    count: int
    context: int
    """Tokens of each at its end."""


def generator_cache(shape: PretrainedConfig, rows: GeneratorRows, size: int) -> int:
    """Returns the bytes of keys and values.

    Args:
        shape: the model.
        rows: the episodes; room for them grows by a factor, and can exceed their context by it.
        size: bytes per number.
    """
    heads, _, head = heads_of(shape)
    layers = int(shape.get_text_config().num_hidden_layers)
    return int(2 * layers * rows.count * GROWTH * rows.context * heads * head * size)


def generator_call(shape: PretrainedConfig, rows: GeneratorRows, size: int) -> int:
    """Returns the peak of temporary tensors in one call of the model, in bytes.

    The call has a mask, with which transformers repeats keys and values for every query head.
    """
    text = shape.get_text_config()
    key_heads, heads, head = heads_of(shape)
    new = min(PROMPT, rows.context)
    repeated = 2 * rows.context * heads * head * size if heads > key_heads > 1 else 0
    mask = new * rows.context * size
    hidden = int(text.hidden_size)
    wide = 3 * int(getattr(text, "intermediate_size", None) or 4 * hidden)
    attention = repeated + new * size * (2 * hidden + 4 * heads * head)
    feed_forward = new * size * (2 * hidden + wide)
    sampling = SAMPLING * int(text.vocab_size)
    # transformers copies the mask before the first layer.
    return rows.count * max(2 * mask, mask + max(attention, feed_forward), sampling)


def heads_of(shape: PretrainedConfig) -> tuple[int, int, int]:
    """Returns the numbers of key heads and of query heads, and the size of a head."""
    text = shape.get_text_config()
    heads = int(text.num_attention_heads)
    size = getattr(text, "head_dim", None) or text.hidden_size // heads
    return int(getattr(text, "num_key_value_heads", None) or heads), heads, int(size)
