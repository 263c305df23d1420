"""A memory of tokens only, without keys and values.

Shapes: T tokens of the longest row, R requested rows, V vocabulary.
"""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agentgym_train.generators.memory import run


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

    def forget(self, row: int) -> None:
        """Empties the row."""
        self._ids[row], self.known[row] = [], 0

    def drop(self, row: int) -> None:
        """Removes the row."""
        del self._ids[row], self.known[row]
