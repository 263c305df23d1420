"""What a session remembers of its rows between two calls of the model.

Shapes: R rows asked for, V vocabulary.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from torch import Tensor
from transformers import Cache, PreTrainedModel


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


def append(
    model: PreTrainedModel,
    *,
    rows: Sequence[int],
    ids: Tensor,
    mask: Tensor,
    positions: Tensor,
    cache: Cache,
) -> Tensor:
    """Runs the model over new tokens, padded on the left, behind those of a cache; returns the logits behind some rows, (R, V)."""
    tokens = {"input_ids": ids, "attention_mask": mask, "position_ids": positions}
    output = run(model, **tokens, past_key_values=cache, use_cache=True, logits_to_keep=1)
    logits_RV: Tensor = output.logits[rows, -1]
    return logits_RV


def run(model: PreTrainedModel, **arguments: Any) -> Any:
    """Calls a model with those arguments that it takes: some have no positions, some compute all logits."""
    taken = _parameters(type(model).forward)
    return model(**{name: value for name, value in arguments.items() if name in taken})


@cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
