"""The memory of a session: its rows between two calls of the model.

Two memories are simple: one cache with padding between tokens, and tokens only.
:mod:`.ragged_cache` has the third. Releases of transformers differ in how a model takes a cache.
Models differ in what their layers attend to.

Shapes: R requested rows, V vocabulary, B lines of a cache, S positions of it, L tokens appended at
once, T tokens of the longest row.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from transformers import Cache, DynamicCache, PretrainedConfig, PreTrainedModel

from agentgym_train.errors import ModelError

CACHE_NAMES = ("cache", "past_key_values")
"""The argument of ``forward`` that takes a cache: since transformers 5.24, and before."""
WHOLE = {"DynamicLayer", "DummyLayer"}
"""Cache layers of transformers that keep the whole history.

``DummyLayer``, new in transformers 5.23, keeps nothing: its layer reads the keys and values of
another layer.
"""
RECURRENT, STATES = "LinearAttentionLayer", {"cache_params", "state"}
"""The cache layer of transformers that keeps a recurrent state or a convolution's input, and the
arguments of ``forward`` that take such states in place of a cache."""
SLIDING = "DynamicSlidingWindowLayer"
"""The cache layer of transformers that keeps a window or a chunk."""
FULL_MASK, SLIDING_MASK = "full_attention", "sliding_attention"
"""Types of layers, and the keys of the masks of a model that has both."""
TYPES = {FULL_MASK, SLIDING_MASK, "moe", "mlp"}
"""Types of layers that keep all keys and values, those of a window, or nothing."""
NARROW = 12
"""Tokens of a window that even a short conversation exceeds."""


@cache
def parameters(function: Callable[..., Any]) -> frozenset[str]:
    """Returns the names of a function's parameters."""
    return frozenset(inspect.signature(function).parameters)


def cache_name(model: Any) -> str | None:
    """Returns the argument of a model's ``forward`` that takes a cache; None: there is none."""
    accepted = parameters(type(model).forward)
    return next((name for name in CACHE_NAMES if name in accepted), None)


def keeps_keys(model: Any) -> bool:
    """Whether a layer of a causal LM keeps keys and values."""
    if parameters(type(model).forward) & STATES:
        return False
    return any(type(layer).__name__ != RECURRENT for layer in _layers(model.config))


class AttentionSpan(NamedTuple):
    """The tokens of the history that the layers of a model attend to."""

    window: int | None
    """Tokens that a layer with a sliding window sees, the newest included; None: no layer has a
    window."""
    mixed: bool
    """Whether some layers have the window and the others attend to the whole history."""


def attention(model: Any) -> AttentionSpan | None:
    """Returns what the layers of a causal LM attend to.

    None: a layer has neither the whole history nor a window, but chunks, a convolution or a
    recurrent state.
    """
    if not keeps_keys(model):
        return None
    text, layers = model.config.get_text_config(decoder=True), _layers(model.config)
    types = set(getattr(text, "layer_types", None) or ())
    # GPT-Neo's layers build their windows themselves, from the columns of the cache.
    local = "local" in (getattr(text, "attention_layers", None) or ())
    kinds = {type(layer).__name__ for layer in layers}
    # transformers 5.0 has the layer of the whole history for unknown types, too.
    if local or not types <= TYPES or not kinds <= WHOLE | {SLIDING}:
        return None
    if SLIDING not in kinds:
        return AttentionSpan(None, mixed=False)
    # A chunk is kept like a window, but its size has another name.
    window = getattr(text, "sliding_window", None)
    if {getattr(layer, "sliding_window", window) for layer in layers} != {window}:
        return None
    return AttentionSpan(window, mixed=FULL_MASK in types)


def _layers(config: PretrainedConfig) -> list[Any]:
    """Returns the layers of the cache that transformers makes for a model."""
    return list(DynamicCache(config=config).layers)


@contextmanager
def narrow(config: PretrainedConfig) -> Iterator[None]:
    """Shortens the sliding window, if there is one, for the block.

    A short conversation then shows whether the model and a memory have the same window.
    """
    text = config.get_text_config(decoder=True)
    window = getattr(text, "sliding_window", None)
    if window is None:
        yield
        return
    text.sliding_window = min(window, NARROW)
    try:
        yield
    finally:
        text.sliding_window = window


class SessionMemory(Protocol):
    """Rows of tokens that grow, and are cut back."""

    known: dict[int, int]
    """Number of tokens in the memory, by row."""

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Appends tokens to some rows, at least one per row.

        Returns:
            The logits after the last token of each row, shape (R, V), in the order of ``new``.
        """
        ...

    def rewind(self, row: int, length: int) -> None:
        """Forgets the tokens of a row after the first ``length``; it has at least as many."""
        ...

    def drop(self, row: int) -> None:
        """Removes a row that will not be continued."""
        ...


def append(
    model: PreTrainedModel,
    *,
    rows: Sequence[int],
    ids: Tensor,
    mask: Tensor | Mapping[str, Tensor],
    positions: Tensor,
    cache: Cache,
) -> Tensor:
    """Runs the model over new tokens that follow those of a cache.

    Args:
        model: the causal LM.
        rows: lines of ``ids`` whose logits are returned.
        ids: the new tokens, padded on the left.
        mask: the attention mask over cached and new tokens, or one for each type of layers.
        positions: the position of each new token.
        cache: the keys and values so far; it grows in place.

    Returns:
        The logits after the last token of each of ``rows``, shape (R, V).

    Raises:
        ModelError: the model takes no cache.
    """
    name = cache_name(model)
    if name is None:
        raise ModelError(f"{type(model).__name__}.forward takes no cache")
    tokens = {"input_ids": ids, "attention_mask": mask, "position_ids": positions}
    output = run(model, **tokens, **{name: cache}, use_cache=True, logits_to_keep=1)
    logits_RV: Tensor = output.logits[rows, -1]
    return logits_RV


def run(model: PreTrainedModel, **arguments: Any) -> Any:
    """Calls a model with the arguments that its ``forward`` accepts.

    Some architectures take no ``position_ids``, and some no ``logits_to_keep``.
    """
    accepted = parameters(type(model).forward)
    return model(**{name: value for name, value in arguments.items() if name in accepted})


class PaddedCache:
    """One key-value cache for all rows.

    New tokens are padded on the left and the padding is masked. Rows without new tokens get padding
    only. All rows therefore stay aligned in the cache. The position of a token is the number of
    unmasked tokens before it.

    Padding between the tokens of a row is exact only if every layer attends to the whole history: a
    sliding window counts the padding, and a convolution runs over it. Padding before the first
    token is exact for more models.
    """

    def __init__(self, model: PreTrainedModel, rows: Iterable[int]):
        self._model = model
        self._place = {row: place for place, row in enumerate(rows)}  # row → its line in the cache
        self.known = dict.fromkeys(self._place, 0)
        self._cache = DynamicCache(config=model.config)
        self._mask_BS = torch.zeros((len(self._place), 0), dtype=torch.int64, device=model.device)

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Runs the model over the new tokens only.

        First removes idle lines if at least half of the cache's lines are idle.
        """
        self._cut()
        width = max(len(ids) for ids in new.values())
        lines: list[Sequence[int]] = [[]] * len(self._mask_BS)
        for row, ids in new.items():
            lines[self._place[row]] = ids
            self.known[row] += len(ids)
        id_BL = torch.tensor(
            [[0] * (width - len(ids)) + list(ids) for ids in lines], device=self._model.device
        )
        mask_BL = torch.tensor(
            [[0] * (width - len(ids)) + [1] * len(ids) for ids in lines], device=self._model.device
        )
        self._mask_BS = torch.cat([self._mask_BS, mask_BL], 1)
        return append(
            self._model,
            rows=[self._place[row] for row in new],
            ids=id_BL,
            mask=self._mask_BS,
            # The running sum skips padding, so a token has the same position as without padding.
            # Padding before the first token would have position −1, which no embedding accepts.
            positions=(self._mask_BS.cumsum(1) - 1).clamp(min=0)[:, -width:],
            cache=self._cache,
        )

    def rewind(self, row: int, length: int) -> None:
        """Masks the forgotten tokens, and removes the last columns if no row uses them."""
        self.known[row] = length
        mask_S = self._mask_BS[self._place[row]]
        mask_S[mask_S.cumsum(0) > length] = 0
        used_S = self._mask_BS[list(self._place.values())].any(0)
        unused = int((used_S.flip(0).cumsum(0) == 0).sum())
        if unused:
            self._mask_BS = self._mask_BS[:, :-unused]
            self._cache.crop(-unused)

    def drop(self, row: int) -> None:
        """Removes the row; a later call frees its line."""
        del self._place[row], self.known[row]

    def _cut(self) -> None:
        """Removes idle lines, several at once; ``RaggedCache._cut`` says why."""
        if len(self._place) <= len(self._mask_BS) // 2 and self._mask_BS.shape[1]:
            kept = torch.tensor(list(self._place.values()), device=self._mask_BS.device)
            self._mask_BS = self._mask_BS[kept]
            self._cache.batch_select_indices(kept)
            self._place = {row: line for line, row in enumerate(self._place)}


class NoCache:
    """Keeps the tokens of each row.

    Each call runs the model over whole rows, padded on the right as in training.
    """

    def __init__(self, model: PreTrainedModel, rows: Iterable[int]):
        self._model = model
        self._ids: dict[int, list[int]] = {row: [] for row in rows}
        self.known = dict.fromkeys(self._ids, 0)

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Runs the model over the whole rows."""
        for row, ids in new.items():
            self._ids[row] += ids
            self.known[row] += len(ids)
        lines = [self._ids[row] for row in new]
        width, device = max(map(len, lines)), self._model.device
        id_RT = torch.tensor([ids + [0] * (width - len(ids)) for ids in lines], device=device)
        mask_RT = torch.tensor(
            [[1] * len(ids) + [0] * (width - len(ids)) for ids in lines], device=device
        )
        output = run(self._model, input_ids=id_RT, attention_mask=mask_RT, use_cache=False)
        logits_RV: Tensor = output.logits[range(len(lines)), [len(ids) - 1 for ids in lines]]
        return logits_RV

    def rewind(self, row: int, length: int) -> None:
        """Removes the forgotten tokens."""
        del self._ids[row][length:]
        self.known[row] = length

    def drop(self, row: int) -> None:
        """Removes the row."""
        del self._ids[row], self.known[row]
