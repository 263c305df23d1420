"""The memories' logits against the plain model's, and the fast one's use of memory."""

import random
from itertools import pairwise

import pytest
import tiny
import torch
from some import full

from agentgym_train.generators.memory import NoCache, PaddedCache
from agentgym_train.generators.ragged_cache import ColumnCache, RaggedCache

ROWS = 9


@pytest.fixture(
    scope="module",
    params=["qwen2", "gpt2", "gemma3_text", *full("llama, eager", "mpt", "mistral")],
)
def model(request):
    kind, _, attention = request.param.partition(", ")
    made = tiny.model(kind).eval()
    made.set_attn_implementation(attention or made.config._attn_implementation)
    return made


@pytest.fixture
def qwen2():
    return tiny.model().eval()


def expected(model, ids):
    """Returns the logits after each token of a row, without padding or cache."""
    return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()


@pytest.fixture
def calls(monkeypatch):
    """Records the shapes of a model's calls: lines, tokens per line, attended columns."""

    def of(model):
        noted, forward = [], model.forward

        def spied(attention_mask, **rest):
            lines, _, new, columns = attention_mask.shape
            assert attention_mask.dtype == model.dtype
            assert rest["input_ids"].shape == rest["position_ids"].shape == (lines, new)
            noted.append((lines, new, columns))
            return forward(attention_mask=attention_mask, **rest)

        monkeypatch.setattr(model, "forward", spied)
        return noted

    return of


class Checked:
    """A memory that records the tokens of each row, and compares the logits when a row ends."""

    def __init__(self, model, rows=ROWS, off=1e-4, kind=RaggedCache):
        self.model, self.memory, self.off, self.compared = model, kind(model, range(rows)), off, 0
        self.held = {row: [] for row in range(rows)}
        self.seen = {row: {} for row in range(rows)}  # row → position → logits after it

    def append(self, new):
        logits_RV = self.memory.append(new)
        for row, logits_V in zip(new, logits_RV, strict=True):
            self.held[row] += new[row]
            self.seen[row][len(self.held[row]) - 1] = logits_V.float()
        assert self.memory.known == {row: len(ids) for row, ids in self.held.items()}

    def compare(self, row):
        if self.seen[row]:
            logits_TV = expected(self.model, self.held[row])
            for position, logits_V in self.seen[row].items():
                torch.testing.assert_close(logits_V, logits_TV[position], atol=self.off, rtol=0)
                self.compared += 1
        self.seen[row] = {}

    def rewind(self, row, length):
        self.compare(row)
        del self.held[row][length:]
        self.memory.rewind(row, length)

    def drop(self, row):
        self.compare(row)
        del self.held[row], self.seen[row]
        self.memory.drop(row)

    def end(self):
        for row in self.held:
            self.compare(row)


def tokens(rng, most):
    return [rng.randrange(300) for _ in range(rng.randint(1, most))]


def play(checked, rng, turns):
    """Plays turns in which fewer and fewer rows continue; rows are cut back and end."""
    for _ in range(turns):
        going = rng.sample(sorted(checked.held), rng.randint(1, len(checked.held)))
        most = rng.choice((1, 3, 9))
        while going:
            checked.append({row: tokens(rng, most) for row in going})
            going, most = rng.sample(going, rng.randrange(len(going))), 1
        for row in rng.sample(sorted(checked.held), rng.choice((0, 0, 1, 3))):
            checked.rewind(row, rng.choice((0, rng.randint(0, len(checked.held[row])))))
        if rng.random() < 0.2 and len(checked.held) > 2:
            checked.drop(rng.choice(sorted(checked.held)))
    checked.end()


@torch.inference_mode()
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.full) for s in (1, 2, 3))])
def test_logits_are_those_of_the_plain_model_whatever_rows_do(model, seed):
    checked = Checked(model)
    play(checked, random.Random(seed), turns=25)
    assert checked.compared > 100


@torch.inference_mode()
@pytest.mark.parametrize(
    ("kind", "memory"),
    [("bloom", PaddedCache), ("mamba", NoCache), *full(("qwen2", PaddedCache), ("lfm2", NoCache))],
)
def test_those_of_the_slower_memories_are_too(kind, memory):
    checked = Checked(tiny.model(kind).eval(), kind=memory)
    play(checked, random.Random(0), turns=12)
    assert checked.compared > 50


@torch.inference_mode()
def test_a_padded_cache_keeps_no_columns_that_every_row_has_forgotten():
    checked = Checked(tiny.model("bloom").eval(), rows=2, kind=PaddedCache)
    for _ in range(5):
        checked.append({0: [5, 6, 7], 1: [8]})
        checked.append({1: [9]})
        checked.rewind(0, 2)
        checked.rewind(1, 1)
        assert checked.memory._mask_BS.shape == (2, 3)
        assert checked.memory._cache.get_seq_length() == 3
        checked.append({0: [10]})
        checked.rewind(0, 0)
        checked.rewind(1, 0)
    assert checked.compared == 20


@torch.inference_mode()
def test_in_bfloat16_they_are_too_and_memory_is_of_that_precision(model):
    checked = Checked(tiny.model(model.config.model_type).eval().bfloat16(), off=0.4)
    play(checked, random.Random(0), turns=12)
    assert {tensor.dtype for tensor in checked.memory._cache._held.values()} == {torch.bfloat16}


@torch.inference_mode()
def test_what_it_does_not_show_counts_for_nothing_even_if_memory_begins_as_no_number(
    qwen2, monkeypatch
):
    """Rows have very different lengths, and all uninitialised memory is NaN."""
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty(3).isnan().all()
        checked = Checked(qwen2, rows=3)
        for count in (1, 1, 40):
            checked.append({0: [7], 2: [8] * count})
        checked.append({0: [7], 1: [9], 2: [8]})
        checked.end()
    finally:
        torch.use_deterministic_algorithms(False)


@torch.inference_mode()
def test_room_doubles_and_nothing_is_copied_in_between(qwen2, monkeypatch):
    memory, rooms, attended, update = RaggedCache(qwen2, range(3)), [], set(), ColumnCache.update

    def spied(cache, *states, **rest):
        keys, values = update(cache, *states, **rest)
        attended.update((keys.data_ptr(), values.data_ptr()))
        return keys, values

    monkeypatch.setattr(ColumnCache, "update", spied)
    for turn in range(60):
        memory.append({0: [5] * 3, 1: [6], 2: [7] * (turn % 3 + 1)})
        rooms.append(
            {name: (held.shape[2], held.data_ptr()) for name, held in memory._cache._held.items()}
        )
    columns = [{room for room, _ in of_turn.values()} for of_turn in rooms]
    assert columns == [{3 * 2 ** turn.bit_length()} for turn in range(60)]
    addresses = [{name: address for name, (_, address) in of_turn.items()} for of_turn in rooms]
    copies = [before != after for before, after in pairwise(addresses)]
    assert [turn for turn, copied in enumerate(copies, 1) if copied] == [1, 2, 4, 8, 16, 32]
    assert attended == {address for of_turn in addresses for address in of_turn.values()}


@torch.inference_mode()
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_model_runs_over_rows_that_go_on_and_as_far_as_the_longest_of_them(qwen2, dtype, calls):
    memory, called = RaggedCache(qwen2.to(dtype), range(8)), calls(qwen2)
    memory.append({row: [9] * (row + 1) for row in range(8)})
    # Five rows are more than half of eight; four are not.
    for going in ([0, 2, 4, 5, 7], [0, 2, 4, 7], [2, 4, 7], [2], [6, 2]):
        memory.append({row: [10 + row] for row in going})
    memory.append({row: [9, 9] for row in range(8)})
    assert called == [
        (8, 8, 8),
        (8, 1, 9),
        (4, 1, 10),
        (4, 1, 11),
        (1, 1, 7),
        (2, 1, 8),
        (8, 2, 13),
    ]


@torch.inference_mode()
def test_lines_are_as_long_as_the_longest_row_whatever_was_padded(qwen2, calls):
    memory, called = RaggedCache(qwen2, range(2)), calls(qwen2)
    for turn in range(20):
        memory.append({0: [5] * (1 + 8 * (turn % 2)), 1: [6] * (9 - 8 * (turn % 2))})
    assert [columns for *_, columns in called[-2:]] == [91 + 8, 100]
    assert memory.known == {0: 100, 1: 100}


@torch.inference_mode()
def test_rows_that_leave_give_their_memory_back_when_they_are_half(qwen2):
    checked = Checked(qwen2, rows=8)

    def lines():
        column = 4 * 2 * 8  # bytes of a number, heads, numbers of a head
        (count,) = {
            held.untyped_storage().nbytes() / held.shape[2] / column
            for held in checked.memory._cache._held.values()
        }
        return count

    checked.append({row: [5 + row] * (row + 1) for row in range(8)})
    for gone, row in enumerate((1, 6, 0, 4, 7), 1):
        checked.drop(row)
        checked.append({row: [20 + row, gone] for row in checked.held})
        assert lines() == (8 if gone < 4 else 4)
    checked.end()
    for row in (2, 3, 5):
        checked.memory.drop(row)


@torch.inference_mode()
def test_rows_change_places_after_all_were_forgotten_or_before_any_had_tokens(qwen2):
    for first in ({0: [4, 5], 1: [6], 2: [7], 3: [8]}, {}):
        checked = Checked(qwen2, rows=4)
        if first:
            checked.append(first)
        for row in range(4):
            checked.rewind(row, 0)
        for new in (
            {3: [5, 6]},
            {2: [7]},
            {0: [8] * 3, 3: [9]},
            {1: [5]},
            {row: [row, 9] for row in range(4)},
        ):
            checked.append(new)
        checked.end()
        assert checked.compared == 9 + len(first)
