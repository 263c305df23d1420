"""The fast memory: one cache in which a row's tokens follow one another without padding, each in the column of its position.

Shapes: B lines of the cache, N of them that the model runs over, H heads, C columns of room, S of
them in use, D numbers of a head, L tokens appended at once, K new tokens of all rows, M lines that
move, R rows asked for, V vocabulary.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from agentgym_train.generators.memory import append


class RaggedCache:
    """One key-value cache for all rows.

    New tokens are padded on the left for the call, and nothing of the padding is kept. A token sees
    the columns of its line up to its own; what lies behind them is zero or of a row that was
    forgotten. This is exact where every layer attends to the whole history and the model takes a
    mask for each token and column.

    The model runs over the cache's first lines, as far as there are new tokens. Where at least half
    of these lines have none, the others are brought to the front.
    """

    def __init__(self, model: PreTrainedModel, rows: Iterable[int]):
        self._model = model
        self._place = {row: place for place, row in enumerate(rows)}  # row -> its line in the cache
        self.known = dict.fromkeys(self._place, 0)
        self._cache = ColumnCache(len(self._place))

    def append(self, new: Mapping[int, Sequence[int]]) -> Tensor:
        """Runs the model over the new tokens alone.

        When half of the cache's lines are idle they are cut out first.
        """
        self._cut()
        self._bring_forward(new.keys())
        count = 1 + max(self._place[row] for row in new)
        lines: list[Sequence[int]] = [()] * count
        starts = [0] * count
        for row, ids in new.items():
            lines[self._place[row]], starts[self._place[row]] = ids, self.known[row]
            self.known[row] += len(ids)
        # Padding is on the left, so that the last column of the logits is every row's newest token.
        # Its positions are below the
        # line's start, by which it is told apart; they are clamped for the model, and its keys and
        # values are not kept.
        width, device, start_N1 = (
            max(map(len, lines)),
            self._model.device,
            torch.tensor(starts)[:, None],
        )
        id_NL = torch.tensor([[0] * (width - len(ids)) + list(ids) for ids in lines], device=device)
        position_NL = start_N1 + torch.tensor([range(len(ids) - width, len(ids)) for ids in lines])
        self._cache.target = Target.of(position_NL, position_NL >= start_N1, device)
        position_NL = position_NL.clamp(min=0).to(device)
        return append(
            self._model,
            rows=[self._place[row] for row in new],
            ids=id_NL,
            mask=_mask(position_NL, self._cache.target.columns, self._model.dtype),
            positions=position_NL,
            cache=self._cache,
        )

    def forget(self, row: int) -> None:
        """Lets the row's next token overwrite its first."""
        self.known[row] = 0

    def drop(self, row: int) -> None:
        """Forgets the row; the next call frees its line."""
        del self._place[row], self.known[row]

    def _cut(self) -> None:
        """Cuts out idle lines.

        A line's number decides the rounding where several threads multiply. So the cut waits for
        all rows that end in a round: the order in which they end, which is that of the
        environments' answers, must not decide which lines remain.
        """
        if len(self._place) <= self._cache.lines // 2:
            self._cache.keep(list(self._place.values()))
            self._place = {row: line for line, row in enumerate(self._place)}

    def _bring_forward(self, rows: Collection[int]) -> None:
        """Lets rows change places with idle lines before them, if the model would run over twice as many lines or more."""
        busy, front = {self._place[row] for row in rows}, set(range(len(rows)))
        if 2 * len(busy) > 1 + max(busy):
            return
        behind, idle = sorted(busy - front), sorted(front - busy)
        self._cache.move(behind + idle, idle + behind, columns=max(self.known.values()))
        moved = dict(zip(behind + idle, idle + behind, strict=True))
        self._place = {row: moved.get(line, line) for row, line in self._place.items()}


class Target(NamedTuple):
    """Where the keys and values of a call go: those at a slot of a line to a column of the same line."""

    line_K: Tensor
    slot_K: Tensor
    column_K: Tensor
    columns: int
    """In use afterwards."""

    @classmethod
    def of(cls, column_NL: Tensor, kept_NL: Tensor, device: torch.device) -> "Target":
        """Reads it, on the CPU, from the columns and whether a slot's token is kept."""
        line_K, slot_K = kept_NL.nonzero(as_tuple=True)
        return cls(
            line_K.to(device),
            slot_K.to(device),
            column_NL[kept_NL].to(device),
            1 + int(column_NL.max()),
        )


class ColumnCache(Cache):
    """Keys and values of all layers, each (B, H, C, D), written in place; their room grows by doubling.

    They begin as zeros, as even a column that counts for nothing must be finite.
    """

    target: Target
    """Of the call to come."""

    def __init__(self, lines: int):
        super().__init__(
            layer_class_to_replicate=DynamicLayer
        )  # none is made: what a layer would hold is held here
        self.lines = lines
        self._held: dict[tuple[int, str], Tensor] = {}

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Writes what is new of a layer, (N, H, L, D); returns what the model attends to, (N, H, S, D)."""
        return self._write((layer_idx, "keys"), key_states), self._write(
            (layer_idx, "values"), value_states
        )

    def move(self, lines: Sequence[int], to: Sequence[int], *, columns: int) -> None:
        """Moves lines to others of the same, as far as their columns are in use."""
        for held_BHCD in self._held.values():
            used_BHSD = held_BHCD[:, :, :columns]
            line_M, to_M = (
                torch.tensor(numbers, device=held_BHCD.device) for numbers in (lines, to)
            )
            # index_select copies first, so that lines may change places with one another.
            used_BHSD.index_copy_(0, to_M, used_BHSD.index_select(0, line_M))

    def keep(self, lines: Sequence[int]) -> None:
        """Cuts out all other lines."""
        self.lines = len(lines)
        self._held = {name: held_BHCD[list(lines)] for name, held_BHCD in self._held.items()}

    def _write(self, name: tuple[int, str], new_NHLD: Tensor) -> Tensor:
        target, held_BHCD = self.target, self._held.get(name)
        if held_BHCD is None or held_BHCD.shape[2] < target.columns:
            held_BHCD = self._held[name] = self._widened(held_BHCD, new_NHLD)
        # One scatter for all rows: token k moves from its slot in the call to its column in the
        # cache.
        held_BHCD[target.line_K, :, target.column_K] = new_NHLD[target.line_K, :, target.slot_K]
        # Slices are views: the model attends to the cache in place, and nothing is copied for a
        # call.
        return held_BHCD[: len(new_NHLD), :, : target.columns]

    def _widened(self, held_BHCD: Tensor | None, like_NHLD: Tensor) -> Tensor:
        """Returns twice the room, or as much as the call needs if that is more."""
        have = 0 if held_BHCD is None else held_BHCD.shape[2]
        # Doubling copies each number a constant number of times on average, however long an episode
        # grows.
        columns = max(2 * have, self.target.columns)
        room_BHCD = like_NHLD.new_zeros(
            (self.lines, like_NHLD.shape[1], columns, like_NHLD.shape[3])
        )
        if held_BHCD is not None:
            room_BHCD[:, :, :have] = held_BHCD
        return room_BHCD


def _mask(position_NL: Tensor, columns: int, dtype: torch.dtype) -> Tensor:
    """Returns what is added to attention scores, (N, 1, L, S): nothing in the columns up to a token's position."""
    hidden_NLS = torch.arange(columns, device=position_NL.device) > position_NL[:, :, None]
    mask_NLS = torch.zeros(hidden_NLS.shape, dtype=dtype, device=position_NL.device)
    return mask_NLS.masked_fill_(hidden_NLS, torch.finfo(dtype).min)[:, None]
