"""The fast memory: one cache without padding between the tokens of a row.

A token's keys and values are in the column of its position.

Shapes: B lines of the cache, N lines in a call of the model, H heads, C allocated columns,
S columns in use, D head size, L tokens appended at once, K new tokens of all rows, M moved lines,
R requested rows, V vocabulary.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from agentgym_train.generators.memory import (
    FULL_MASK,
    SLIDING_MASK,
    AttentionSpan,
    append,
    attention,
)

GROWTH = 2
"""Factor by which the room for columns grows."""


class RaggedCache:
    """One key-value cache for all rows.

    New tokens are padded on the left for the call, and the cache keeps no padding. A token attends
    to the columns of its line up to its own column, in a layer with a sliding window to the last
    ones of them. Later columns hold zeros, or old numbers of a row that was cut back. The method
    is exact if every layer attends to the whole history or has a sliding window, and the model
    accepts a mask per token and column. A model with both kinds of layers must accept two masks.

    A row gets a line with its first tokens. The model runs over the cache's first lines, up to the
    last line with new tokens. If at least half of these lines have none, the lines with new tokens
    move to the front. With prompts they do not move, since the next call is for other rows: the
    model runs over a copy of their lines.
    """

    def __init__(self, model: PreTrainedModel, rows: Iterable[int]):
        self._model = model
        self._place: dict[int, int] = {}  # row → its line in the cache
        self.known = dict.fromkeys(rows, 0)
        self._cache = ColumnCache()
        self._attention = attention(model) or AttentionSpan(None, mixed=False)

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Runs the model over the new tokens only.

        First removes idle lines if at least half of the cache's lines are idle.
        """
        self._cut(new.keys() - self._place.keys())
        self._add_lines([row for row in new if row not in self._place])
        copied, line = self._lines(new)
        lines: list[Sequence[int]] = [()] * (1 + max(line.values()))
        starts = [0] * len(lines)
        for row, ids in new.items():
            lines[line[row]], starts[line[row]] = ids, self.known[row]
            self.known[row] += len(ids)
        # Padding is on the left, so the last column of the logits belongs to the newest token of
        # every row. A position below its line's start marks padding: its keys and values are not
        # kept. The model gets position 0 for it, since position embeddings accept no negative
        # number.
        width, device = max(map(len, lines)), self._model.device
        start_N1 = torch.tensor(starts)[:, None]
        id_NL = torch.tensor([[0] * (width - len(ids)) + list(ids) for ids in lines], device=device)
        position_NL = start_N1 + torch.tensor([range(len(ids) - width, len(ids)) for ids in lines])
        self._cache.target = Target.of(position_NL, position_NL >= start_N1, copied, device)
        position_NL = position_NL.clamp(min=0).to(device)
        return append(
            self._model,
            rows=[line[row] for row in new],
            ids=id_NL,
            mask=self._mask(position_NL),
            positions=position_NL,
            cache=self._cache,
        )

    def rewind(self, row: int, length: int) -> None:
        """Forgets tokens: new ones overwrite them, and until then the mask hides them."""
        self.known[row] = length

    def drop(self, row: int) -> None:
        """Removes the row; a later call frees its line."""
        self._place.pop(row, None)
        del self.known[row]

    def _mask(self, position_NL: Tensor) -> Tensor | dict[str, Tensor]:
        """Returns the mask of all layers, or one for each type of layers."""
        columns, dtype = self._cache.target.columns, self._model.dtype
        sliding = _mask(position_NL, columns, dtype, self._attention.window)
        if not self._attention.mixed:
            return sliding
        return {FULL_MASK: _mask(position_NL, columns, dtype), SLIDING_MASK: sliding}

    def _lines(self, new: Mapping[int, Sequence[int]]) -> tuple[list[int] | None, dict[int, int]]:
        """Returns the lines of the cache that a call copies, and the line of each row in the call.

        None: the call uses the first lines in place.
        """
        prompts = max(map(len, new.values())) > 1
        if prompts and 2 * len(new) <= 1 + max(self._place[row] for row in new):
            return [self._place[row] for row in new], {row: n for n, row in enumerate(new)}
        self._bring_forward(new.keys())
        return None, {row: self._place[row] for row in new}

    def _add_lines(self, rows: Sequence[int]) -> None:
        """Gives each row the first free line; adds lines if too few are free."""
        free = sorted(set(range(self._cache.lines)) - set(self._place.values()))
        count = self._cache.lines
        self._cache.add(max(len(rows) - len(free), 0))
        self._place |= zip(rows, [*free, *range(count, self._cache.lines)], strict=False)

    def _cut(self, upcoming: Collection[int]) -> None:
        """Removes idle lines if at least half of the lines are idle, despite the upcoming rows.

        With several threads, a line's number affects the rounding of its matrix products. Rows end
        in the order of the environments' responses, which depends on the machine. Idle lines are
        therefore removed only here, at the next call of the model, and never when a row ends.
        """
        if len(self._place) + len(upcoming) <= self._cache.lines // 2:
            self._cache.keep(list(self._place.values()))
            self._place = {row: line for line, row in enumerate(self._place)}

    def _bring_forward(self, rows: Collection[int]) -> None:
        """Moves rows to idle lines before theirs if that at least halves the lines of the call."""
        busy, front = {self._place[row] for row in rows}, set(range(len(rows)))
        if 2 * len(busy) > 1 + max(busy):
            return
        behind, idle = sorted(busy - front), sorted(front - busy)
        self._cache.move(behind + idle, idle + behind, columns=max(self.known.values()))
        moved = dict(zip(behind + idle, idle + behind, strict=True))
        self._place = {row: moved.get(line, line) for row, line in self._place.items()}


class Target(NamedTuple):
    """Where the keys and values of a call go: from a slot of its lines to a column of the cache."""

    line_K: Tensor
    """Lines of the call."""
    slot_K: Tensor
    held_K: Tensor
    """Lines of the cache."""
    column_K: Tensor
    columns: int
    """Number of columns in use after the call."""
    copied_N: Tensor | None
    """The lines of the cache that the model attends to; None: the first ones, in place."""

    @classmethod
    def of(
        cls,
        column_NL: Tensor,
        kept_NL: Tensor,
        copied: Sequence[int] | None,
        device: torch.device,
    ) -> "Target":
        """Builds the target from CPU tensors, since ``nonzero`` would block on an accelerator.

        Args:
            column_NL: the column of each slot.
            kept_NL: bool, whether the slot holds a token; false for padding.
            copied: the lines of the cache that the call copies, or None.
            device: device of the cache.
        """
        line_K, slot_K = kept_NL.nonzero(as_tuple=True)
        copied_N = None if copied is None else torch.tensor(copied)
        return cls(
            line_K.to(device),
            slot_K.to(device),
            (line_K if copied_N is None else copied_N[line_K]).to(device),
            column_NL[kept_NL].to(device),
            1 + int(column_NL.max()),
            None if copied_N is None else copied_N.to(device),
        )


class ColumnCache(Cache):
    """Keys and values of all layers, each (B, H, C, D), written in place.

    The number of columns grows by doubling. New columns are zero: a hidden column has the attention
    weight 0, but 0 times NaN would still be NaN.
    """

    target: Target
    """The target of the next call."""

    def __init__(self) -> None:
        # ``update`` below replaces the layers of the base class, so none is ever created.
        super().__init__(layer_class_to_replicate=DynamicLayer)
        self.lines = 0
        self._held: dict[tuple[int, str], Tensor] = {}

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Writes a layer's new keys and values, each (N, H, L, D).

        Returns:
            The keys and values that the model attends to, each (N, H, S, D).
        """
        return self._write((layer_idx, "keys"), key_states), self._write(
            (layer_idx, "values"), value_states
        )

    def add(self, lines: int) -> None:
        """Adds lines at the end."""
        self.lines += lines
        if lines:
            self._held = {
                name: torch.cat([held_BHCD, held_BHCD.new_zeros((lines, *held_BHCD.shape[1:]))])
                for name, held_BHCD in self._held.items()
            }

    def move(self, lines: Sequence[int], to: Sequence[int], *, columns: int) -> None:
        """Copies the first ``columns`` columns of ``lines`` to the lines ``to``."""
        for held_BHCD in self._held.values():
            used_BHSD = held_BHCD[:, :, :columns]
            line_M, to_M = (
                torch.tensor(numbers, device=held_BHCD.device) for numbers in (lines, to)
            )
            # index_select makes a copy before anything is overwritten, so lines can swap places.
            used_BHSD.index_copy_(0, to_M, used_BHSD.index_select(0, line_M))

    def keep(self, lines: Sequence[int]) -> None:
        """Removes all other lines."""
        self.lines = len(lines)
        self._held = {name: held_BHCD[list(lines)] for name, held_BHCD in self._held.items()}

    def _write(self, name: tuple[int, str], new_NHLD: Tensor) -> Tensor:
        target, held_BHCD = self.target, self._held.get(name)
        if held_BHCD is None or held_BHCD.shape[2] < target.columns:
            held_BHCD = self._held[name] = self._widened(held_BHCD, new_NHLD)
        # One scatter for all rows: token k goes from its slot in the call to its column in the
        # cache.
        held_BHCD[target.held_K, :, target.column_K] = new_NHLD[target.line_K, :, target.slot_K]
        used_BHSD = held_BHCD[:, :, : target.columns]
        if target.copied_N is not None:
            return used_BHSD.index_select(0, target.copied_N)
        # Slices are views: the model attends to the cache in place, without a copy per call.
        return used_BHSD[: len(new_NHLD)]

    def _widened(self, held_BHCD: Tensor | None, like_NHLD: Tensor) -> Tensor:
        """Returns a tensor of twice as many columns, or of as many as the call needs if more.

        The held columns are copied; the others are zero.
        """
        have = 0 if held_BHCD is None else held_BHCD.shape[2]
        # With doubling, each number is copied a constant number of times on average, however long
        # the episode is.
        columns = max(GROWTH * have, self.target.columns)
        room_BHCD = like_NHLD.new_zeros(
            (self.lines, like_NHLD.shape[1], columns, like_NHLD.shape[3])
        )
        if held_BHCD is not None:
            room_BHCD[:, :, :have] = held_BHCD
        return room_BHCD


def _mask(
    position_NL: Tensor, columns: int, dtype: torch.dtype, window: int | None = None
) -> Tensor:
    """Returns the additive attention mask, (N, 1, L, S).

    It is 0 in the last ``window`` columns up to a token's position (None: in all), and the smallest
    number of ``dtype`` elsewhere.
    """
    column_S = torch.arange(columns, device=position_NL.device)
    hidden_NLS = column_S > position_NL[:, :, None]
    if window is not None:
        hidden_NLS |= column_S <= position_NL[:, :, None] - window
    # transformers builds its own additive masks with the smallest finite number, too.
    mask_NLS = torch.zeros(hidden_NLS.shape, dtype=dtype, device=position_NL.device)
    return mask_NLS.masked_fill_(hidden_NLS, torch.finfo(dtype).min)[:, None]
