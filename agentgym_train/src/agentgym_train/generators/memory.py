"""What a session remembers of its rows between two calls of the model.

Shapes: B rows, S positions of the cache, L tokens appended at once, T tokens of the longest row, R rows asked for, V vocabulary.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel


class Memory(Protocol):
    """Rows of tokens that grow."""

    known: dict[int, int]
    """Tokens held of each row."""

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Appends tokens, at least one a row, to some rows; returns the logits behind each, shape (R, V), in their order."""
        ...

    def forget(self, row: int) -> None:
        """Empties a row."""
        ...

    def drop(self, row: int) -> None:
        """Says that a row will not be continued."""
        ...


class SharedCache:
    """One key-value cache for all rows.

    New tokens are padded on the left and masked, as are the rows that get none, so that rows of different lengths stay aligned;
    positions are the running sum of the mask. Padding between the tokens of a row is exact only where every layer attends to the
    whole history: a sliding window counts it, a convolution runs over it. Padding before the first token is exact more often.
    """

    def __init__(self, model: PreTrainedModel, rows: Iterable[int]):
        self._model = model
        self._place = {row: place for place, row in enumerate(rows)}  # row -> its line in the cache
        self.known = dict.fromkeys(self._place, 0)
        self._cache = DynamicCache(config=model.config)
        self._mask_BS = torch.zeros((len(self._place), 0), dtype=torch.int64, device=model.device)

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Runs the model over the new tokens alone."""
        width = max(len(ids) for ids in new.values())
        lines: list[Sequence[int]] = [[]] * len(self._mask_BS)
        for row, ids in new.items():
            lines[self._place[row]] = ids
            self.known[row] += len(ids)
        id_BL = torch.tensor([[0] * (width - len(ids)) + list(ids) for ids in lines], device=self._model.device)
        mask_BL = torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in lines], device=self._model.device)
        self._mask_BS = torch.cat([self._mask_BS, mask_BL], 1)
        output = _run(
            self._model,
            input_ids=id_BL,
            attention_mask=self._mask_BS,
            position_ids=(self._mask_BS.cumsum(1) - 1).clamp(min=0)[:, -width:],
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits_RV: Tensor = output.logits[[self._place[row] for row in new], -1]
        return logits_RV

    def forget(self, row: int) -> None:
        """Hides everything that the row holds in the cache."""
        self.known[row] = 0
        self._mask_BS[self._place[row]] = 0

    def drop(self, row: int) -> None:
        """When half of the cache's lines are idle they are cut out."""
        del self._place[row], self.known[row]
        if self._place and len(self._place) <= len(self._mask_BS) // 2 and self._mask_BS.shape[1]:
            kept = torch.tensor(list(self._place.values()), device=self._mask_BS.device)
            self._mask_BS = self._mask_BS[kept]
            self._cache.batch_select_indices(kept)
            self._place = {row: line for line, row in enumerate(self._place)}


class NoCache:
    """The tokens alone: the model runs over all of them each time, padded on the right as in training."""

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
        mask_RT = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in lines], device=device)
        output = _run(self._model, input_ids=id_RT, attention_mask=mask_RT, use_cache=False)
        logits_RV: Tensor = output.logits[range(len(lines)), [len(ids) - 1 for ids in lines]]
        return logits_RV

    def forget(self, row: int) -> None:
        """Empties the row."""
        self._ids[row], self.known[row] = [], 0

    def drop(self, row: int) -> None:
        """Removes the row."""
        del self._ids[row], self.known[row]


def _run(model: PreTrainedModel, **arguments: Any) -> Any:
    """Calls a model with those arguments that it takes: some have no positions, some compute all logits."""
    taken = _parameters(type(model).forward)
    return model(**{name: value for name, value in arguments.items() if name in taken})


@cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
