"""Returns that differ by rounding only give no advantage; returns that really differ do.

The reference is exact: scores are fractions, and rewards are differences of rounded scores.
"""

import itertools
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train.algorithms.gigpo import GiGPO
from agentgym_train.algorithms.offline import DPO
from agentgym_train.algorithms.policy_gradient import GRPO, RLOO, ReinforcePP
from agentgym_train.algorithms.ppo import PPO
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import group_centred, leave_one_out, whitened
from agentgym_train.reporting import metrics
from agentgym_train.scorers.penalty import Penalty
from agentgym_train.sources.rollout import _differ

UNITS = (3, 7, 12, 30, 100)
WHOLE = [GRPO(), RLOO(), GiGPO(gamma=1.0)]
LAST = [*WHOLE, GRPO(gamma=0.9), GiGPO(), ReinforcePP(gamma=0.9), PPO(gamma=0.9)]
"""Algorithms that credit each turn by itself: here only the last turn has a reward."""
RANGES = [
    {"scale": scale, "offset": offset}
    for scale, offset in ((1.0, 0.0), (1.0, -1.0), (1000.0, 0.0), (1.0, 1000.0), (1e-3, 0.0))
]
named = pytest.mark.parametrize


def label(algorithm):
    return f"{type(algorithm).__name__}-{algorithm.gamma}"


@st.composite
def scores(draw, unit):
    """Draws the scores of an episode in units: some turns, in which the score can fall, too."""
    return draw(st.lists(st.integers(0, unit), min_size=1, max_size=12))


@st.composite
def equal_ends(draw):
    """Draws a group: its scores by episode and turn, all with the same last score."""
    unit = draw(st.sampled_from(UNITS))
    last = draw(st.integers(0, unit))
    return [
        [Fraction(n, unit) for n in [*path, last]]
        for path in draw(st.lists(scores(unit), min_size=2, max_size=8))
    ]


def episode(rewards):
    """Returns an episode with a token of prompt and of action per turn; openings are equal."""
    turns = [
        Turn("opening" if n == 0 else f"{n} {id(rewards)}", [Call([1], [2], [-1.0])], reward=reward)
        for n, reward in enumerate(rewards)
    ]
    return Trajectory("task", 0, turns)


def steps(path, *, scale=1.0, offset=0.0):
    """Returns the rewards of a path of scores: differences of rounded scores."""
    rounded = [0.0, *(float(score) * scale for score in path)]
    rewards = [after - before for before, after in itertools.pairwise(rounded)]
    return [*rewards[:-1], rewards[-1] + offset]


def advantages(algorithm, group):
    batch = pack([group])
    batch = batch.with_streams(value=torch.zeros_like(batch.logp_BT))
    credited = algorithm.compute_advantages(batch, [group], Distributed())
    assert credited.streams["advantage"].dtype == torch.float32
    return credited.streams["advantage"]


@named("algorithm", WHOLE, ids=label)
@given(equal_ends(), st.sampled_from(RANGES))
def test_episodes_that_end_with_the_same_score_teach_nothing(algorithm, paths, span):
    rewards = [steps(path, **span) for path in paths]
    group = Group(0, [episode(each) for each in rewards])
    assert not advantages(algorithm, group).any()
    assert not _differ(group)
    row = metrics.means(metrics.totals([group], Distributed()) | metrics.failed([]))
    assert row["mixed_groups"] == 0.0
    pair = Group(0, group.trajectories[:2])
    sides = DPO().compute_advantages(pack([pair]), [pair], Distributed()).streams["side"]
    assert not sides.any()


@named("algorithm", LAST, ids=label)
@given(st.sampled_from(UNITS), st.data())
def test_equal_last_rewards_teach_nothing(algorithm, unit, data):
    """A reward is the difference of two scores; which two changes its last digits."""
    gain, turns = data.draw(st.integers(1, unit)), data.draw(st.integers(1, 5))
    starts = data.draw(st.lists(st.integers(0, unit - gain), min_size=2, max_size=6))
    lasts = [(start + gain) / unit - start / unit for start in starts]
    group = Group(0, [episode([0.0] * turns + [last]) for last in lasts])
    # With a discount, turns of a trajectory differ, so whitening compares the tokens of one turn.
    if isinstance(algorithm, ReinforcePP | PPO):
        group = Group(0, [episode([last]) for last in lasts])
    assert not advantages(algorithm, group).any()


@given(equal_ends(), st.integers(1, 40))
def test_a_cost_per_action_that_is_equal_in_sum_teaches_nothing(paths, turns):
    padded = [(path[:-1] * turns)[: turns - 1] + path[-1:] for path in paths]
    penalty = Penalty(turn=0.05)
    groups = penalty.score([Group(0, [episode(steps(path)) for path in padded])])
    assert not advantages(GRPO(), *groups).any()


@named("estimate", [group_centred, leave_one_out])
@given(equal_ends(), st.sampled_from([0.0, -1.0]))
def test_sums_in_float32_are_compared_as_such(estimate, paths, offset):
    """An algorithm can sum in float32: its returns differ by more than those in float64."""
    return_B = torch.stack(
        [torch.tensor(steps(path, offset=offset)).cumsum(0)[-1] for path in paths]
    )
    assert not estimate(return_B, torch.zeros(len(paths), dtype=torch.int64)).any()
    assert not whitened(
        return_B[:, None], torch.ones(len(paths), 1, dtype=torch.bool), Distributed()
    ).any()


@named("algorithm", WHOLE, ids=label)
@given(st.sampled_from(RANGES), st.data())
def test_a_thousandth_of_the_range_is_a_difference(algorithm, span, data):
    lasts = data.draw(st.lists(st.integers(0, 999), min_size=2, max_size=6))
    lasts[-1] = lasts[0] + 1
    paths = [[*data.draw(scores(1000)), last] for last in lasts]
    made = [steps([Fraction(n, 1000) for n in path], **span) for path in paths]
    group = Group(0, [episode(each) for each in made])
    first = advantages(algorithm, group)[:, 1]
    mean = Fraction(sum(lasts), len(lasts))
    for advantage, last in zip(first.tolist(), lasts, strict=True):
        assert abs(advantage) < 1e-3 if last == mean else (advantage > 0) == (last > mean)
    assert first.any()
    assert _differ(group)


@given(st.lists(st.sampled_from([999.999, 1000.0]), min_size=2, max_size=9))
def test_whitening_keeps_a_small_difference_of_large_numbers(values):
    values += [999.999, 1000.0]
    value_BT = torch.tensor(values, dtype=torch.float64)[:, None]
    got_B = whitened(value_BT, torch.ones_like(value_BT, dtype=torch.bool), Distributed())[:, 0]
    exact_B = (value_BT[:, 0] - 999.999) * 1000
    wanted_B = (exact_B - exact_B.mean()) / exact_B.std(correction=0)
    torch.testing.assert_close(got_B, wanted_B.float(), rtol=1e-4, atol=1e-4)


@named("dtype", [torch.float32, torch.float64])
@named("estimate", [group_centred, leave_one_out])
def test_a_thousandth_is_a_difference_of_hundreds_in_either_precision(estimate, dtype):
    for values in ([100.0, 100.001, 100.0], [-100.0, -100.001, -100.0]):
        return_B = torch.tensor(values, dtype=dtype)
        assert estimate(return_B, torch.zeros(3, dtype=torch.int64)).all()
        some_BT = torch.ones(3, 1, dtype=torch.bool)
        assert whitened(return_B[:, None], some_BT, Distributed()).all()


def test_returns_that_are_not_finite_stay_visible():
    """The trainer stops at them; an advantage of 0 would hide them."""
    for value in (float("inf"), -float("inf"), float("nan")):
        return_B = torch.tensor([value, 1.0, 1.0], dtype=torch.float64)
        assert group_centred(return_B, torch.zeros(3, dtype=torch.int64)).isnan().any()
