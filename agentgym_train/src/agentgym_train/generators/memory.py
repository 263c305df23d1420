"""The memory of a session: its rows between two calls of the model.

Shapes: R requested rows, V vocabulary.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor
from transformers import Cache, PreTrainedModel

from agentgym_train.errors import ModelError
from agentgym_train.generators.layers import cache_name, parameters


class Memory(Protocol):
    """Growing rows of tokens."""

    known: dict[int, int]
    """Number of tokens in the memory, by row."""

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Appends tokens to some rows, at least one per row.

        Returns:
            The logits after the last token of each row, shape (R, V), in the order of ``new``.
        """
        ...

    def forget(self, row: int) -> None:
        """Empties a row."""
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
