"""Advantages against the textbook, NumPy and numbers worked out by hand."""

import statistics

import numpy as np
import pytest
import torch
import whitening
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import group_centred, leave_one_out, returns_to_go, whitened

# Rounded, since smaller differences count as none.
groups_of_returns = st.lists(
    st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=2, max_size=6),
    min_size=1,
    max_size=5,
)


def flat(groups):
    return torch.tensor([r for g in groups for r in g]), torch.tensor(
        [n for n, g in enumerate(groups) for _ in g]
    )


@given(groups_of_returns)
def test_group_normalisation_is_the_textbooks(groups):
    expected = []
    for g in groups:
        spread = statistics.stdev(g)
        expected += [
            0.0 if len(set(g)) == 1 else (r - statistics.fmean(g)) / (spread + 1e-6) for r in g
        ]
    assert group_centred(*flat(groups)).tolist() == pytest.approx(expected, abs=2e-3, rel=2e-3)


@given(st.floats(-100, 100, width=32), st.integers(1, 9), st.booleans())
def test_groups_of_equal_returns_give_exactly_nothing(value, count, normalise):
    equal = torch.full((count,), value), torch.zeros(count, dtype=torch.int64)
    assert group_centred(*equal, normalise=normalise).tolist() == [0.0] * count
    assert leave_one_out(*equal).tolist() == [0.0] * count


@given(groups_of_returns)
def test_leave_one_out_takes_the_mean_of_the_others(groups):
    expected = [r - (sum(g) - r) / (len(g) - 1) for g in groups for r in g]
    assert leave_one_out(*flat(groups)).tolist() == pytest.approx(expected, abs=1e-4)


def test_returns_to_go_discount_by_turn():
    reward = torch.tensor([[0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 4.0, 0.0]])
    turn = torch.tensor([[0, 0, 0, 1, 1, 1, 2, 2, 0]])  # the last is padding
    # turn 2: 4; turn 1: 2 + 4/2; turn 0: 1 + 4/2
    assert returns_to_go(reward, turn, 0.5).tolist() == [[3, 3, 3, 4, 4, 4, 4, 4, 0]]
    assert returns_to_go(reward, turn, 1.0).tolist() == [[7, 7, 7, 6, 6, 6, 4, 4, 0]]


def test_whitening_is_numpys():
    value, action = torch.randn(5, 7), torch.rand(5, 7) < 0.5
    got = whitened(value, action, Distributed())
    chosen = value[action].numpy()
    assert got[action].tolist() == pytest.approx(
        ((chosen - np.mean(chosen)) / np.std(chosen)).tolist(), abs=1e-4
    )
    assert not got[~action].any()
    assert not whitened(
        torch.full((2, 3), 0.1), torch.ones(2, 3, dtype=torch.bool), Distributed()
    ).any()
    assert not whitened(value, torch.zeros_like(action), Distributed()).any()
    assert not whitened(value * 1e-8, action, Distributed()).any(), (
        "rounding near 0 is not a spread"
    )


@pytest.mark.slow
def test_whitening_is_over_all_processes(warm, tmp_path):
    value, action = torch.randn(6, 7) + torch.arange(6.0)[:, None], torch.rand(6, 7) < 0.5
    torch.save((value, action), tmp_path / "input.pt")
    warm.play(whitening.__file__, tmp_path, tmp_path / "input.pt", tmp_path)
    alone = whitened(value, action, Distributed())
    for rank in range(2):
        torch.testing.assert_close(torch.load(tmp_path / f"{rank}.pt"), alone[rank::2])
