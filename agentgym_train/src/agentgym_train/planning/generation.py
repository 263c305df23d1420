"""Bytes of the embedded generator on a card: its key-value cache, and one call of the model."""

from dataclasses import dataclass

from transformers import PretrainedConfig

from agentgym_train.generators.ragged_cache import GROWTH

PROMPT = 512
"""Assumed new tokens of each row in a turn, which the model reads in one call."""
SAMPLING = 24
"""Bytes per word and row while a token is drawn: logits, probabilities, and their sums in
float64."""


@dataclass(frozen=True)
class Rows:
    """Episodes that one process plays at the same time."""

    count: int
    context: int
    """Tokens of each at its end."""


def cache(shape: PretrainedConfig, rows: Rows, size: int) -> int:
    """Returns the bytes of keys and values.

    Args:
        shape: the model.
        rows: the episodes; room for them grows by a factor, and can exceed their context by it.
        size: bytes per number.
    """
    heads, _, head = heads_of(shape)
    layers = int(shape.get_text_config().num_hidden_layers)
    return int(2 * layers * rows.count * GROWTH * rows.context * heads * head * size)


def call(shape: PretrainedConfig, rows: Rows, size: int) -> int:
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
