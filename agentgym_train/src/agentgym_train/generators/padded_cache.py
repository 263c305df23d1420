"""A memory that is exact for most models: one cache with padding between tokens.

Shapes: B lines of the cache, S positions of the cache, L tokens appended at once, R requested rows,
V vocabulary.
"""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from agentgym_train.generators.memory import append


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

    def forget(self, row: int) -> None:
        """Masks all cached tokens of the row."""
        self.known[row] = 0
        self._mask_BS[self._place[row]] = 0

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
