import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train.data.load_balancing import BatchUnit, plan

units = st.lists(st.builds(BatchUnit, st.integers(1, 4), st.integers(1, 90)), max_size=40)


def padded(made, part):
    """Rows times the longest, counted from the result alone."""
    return sum(made[n].rows for n in part) * max((made[n].length for n in part), default=0)


@given(units, st.integers(1, 5), st.integers(1, 300))
def test_every_unit_is_in_one_part_and_the_limits_hold(made, processes, limit):
    rounds = plan(made, processes, limit)
    assert all(len(parts) == processes for parts in rounds)
    assert sorted(n for parts in rounds for part in parts for n in part) == list(range(len(made)))
    assert plan(made, processes, limit) == rounds, "the same on every call"
    sizes = [[padded(made, part) for part in parts] for parts in rounds]
    longest = max((unit.rows * unit.length for unit in made), default=0)
    for parts, row in zip(rounds, sizes, strict=True):
        assert any(parts), "no round is idle"
        for part, size in zip(parts, row, strict=True):
            assert size <= max(limit, longest) or len(part) == 1
    loads = [sum(column) for column in zip(*sizes, strict=True)]
    largest = max((size for row in sizes for size in row), default=0)
    assert max(loads, default=0) <= sum(loads) / processes + largest


@given(units, st.integers(1, 300))
def test_a_single_process_keeps_the_limit(made, limit):
    for (part,) in plan(made, 1, limit):
        assert padded(made, part) <= limit or len(part) == 1


def test_by_hand():
    """Two processes: 9 beside 4 + 4, which 9 allows though the limit is 6; then 3 beside 2."""
    lengths = [2, 9, 4, 3, 4]
    rounds = plan([BatchUnit(1, length) for length in lengths], 2, 6)
    assert rounds == [[[1], [2, 4]], [[0], [3]]], "the longer of the last two goes to the second"
    assert plan([], 2, 6) == []


def test_equal_trajectories_are_spread_over_all_processes():
    """They would fit into one micro-batch."""
    assert plan([BatchUnit(1, 10)] * 4, 4, 1000) == [[[0], [1], [2], [3]]]


@pytest.mark.parametrize("limit", [8192, 16384, 32768])
def test_realistic_lengths_are_balanced(limit):
    """8 × 32 episodes of log-normal length. The bound of both ratios is the aim of the design."""
    for seed in range(3):
        rng = random.Random(seed)
        lengths = [min(32768, int(3000 * rng.lognormvariate(0, 0.5))) for _ in range(256)]
        made = [BatchUnit(1, length) for length in lengths]
        rounds = plan(made, 8, limit)
        tokens = [sum(lengths[n] for parts in rounds for n in parts[p]) for p in range(8)]
        assert max(tokens) / (sum(tokens) / 8) <= 1.05
        sizes = [[padded(made, part) for part in parts] for parts in rounds]
        assert sum(map(max, sizes)) / (sum(map(sum, sizes)) / 8) <= 1.05
