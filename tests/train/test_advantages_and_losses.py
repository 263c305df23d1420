import math
import statistics

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train.advantages import group_normalised
from agentgym_train.algorithms.grpo import GRPO
from agentgym_train.batching import pack
from agentgym_train.losses import RATIO_LIMIT, clipped_policy_loss, kl_k3
from agentgym_train.types import Group, Trajectory, Turn


@given(st.lists(st.lists(st.floats(-5, 5, width=32), min_size=2, max_size=6), min_size=1, max_size=5))
def test_group_normalisation_is_the_textbooks(groups):
    returns = torch.tensor([r for g in groups for r in g])
    numbers = torch.tensor([n for n, g in enumerate(groups) for _ in g])
    got = group_normalised(returns, numbers).tolist()
    expected = []
    for g in groups:
        spread = statistics.stdev(g)
        expected += [0.0 if len(set(g)) == 1 else (r - statistics.fmean(g)) / (spread + 1e-6) for r in g]
    assert got == pytest.approx(expected, abs=2e-3, rel=2e-3)


@given(st.floats(-100, 100, width=32), st.integers(1, 9))
def test_groups_of_equal_returns_give_exactly_nothing(value, count):
    assert group_normalised(torch.full((count,), value), torch.zeros(count, dtype=torch.int64)).tolist() == [0.0] * count


def test_the_clipped_loss_by_hand():
    ratio = torch.tensor([[1.5, 0.5, 1.5, 0.5, 9.0]])
    advantage = torch.tensor([[1.0, 1.0, -1.0, -1.0, 5.0]])
    action = torch.tensor([[True, True, True, True, False]])
    loss, clipped = clipped_policy_loss(ratio.log(), torch.zeros(1, 5), advantage, action, clip_low=0.2, clip_high=0.3)
    # min(1.5, 1.3), min(0.5, 0.8), min(-1.5, -1.3), min(-0.5, -0.8); the last token is an observation.
    assert loss.item() == pytest.approx(-(1.3 + 0.5 - 1.5 - 0.8))
    assert clipped.item() == 2


def test_k3_by_hand_and_never_negative():
    logp, reference = torch.tensor([[-1.0, -2.0, -3.0]]), torch.tensor([[-1.5, -2.0, -1.0]])
    action = torch.tensor([[True, True, False]])
    assert kl_k3(logp, reference, action).item() == pytest.approx(math.exp(-0.5) + 0.5 - 1)
    assert kl_k3(torch.randn(4, 9), torch.randn(4, 9), torch.ones(4, 9, dtype=torch.bool)) >= 0


def batch():
    def trajectory(rewards):
        return Trajectory("t", 0, [Turn("", [5, 6], [7, 8, 3], [-1.0, -0.5, -0.1], reward=r) for r in rewards])

    return pack([Group(0, [trajectory([0.0, 1.0]), trajectory([0.0, 0.0])]), Group(1, [trajectory([1.0]), trajectory([0.0, 1.0])])])


def test_grpo_spreads_the_return_over_action_tokens_alone():
    done = GRPO().advantages(batch())
    high = 1 / math.sqrt(2)
    assert done.advantage_BT[0, done.action_BT[0]].tolist() == pytest.approx([high] * 6, abs=1e-4)
    assert done.advantage_BT[1, done.action_BT[1]].tolist() == pytest.approx([-high] * 6, abs=1e-4)
    assert not done.advantage_BT[~done.action_BT].any()
    assert not done.advantage_BT[2:].any(), "both succeeded: nothing to learn without a discount"


def test_a_discount_prefers_the_faster_success():
    done = GRPO(gamma=0.9).advantages(batch())
    assert done.return_B(0.9).tolist() == pytest.approx([0.9, 0.0, 1.0, 0.9])
    assert done.advantage_BT[2].max() > 0 > done.advantage_BT[3].min()


def test_the_gradient_flows_through_action_tokens_alone():
    done = GRPO(kl_coef=0.1).advantages(batch())
    logp = torch.randn(done.id_BT.shape, requires_grad=True)
    loss, sums = GRPO(kl_coef=0.1).loss(logp, done)
    loss.backward()
    assert logp.grad[~done.action_BT].abs().sum() == 0
    assert (logp.grad[done.action_BT] != 0).any()
    assert sums["kl"] > 0


def test_groups_without_spread_give_no_gradient():
    done = GRPO().advantages(batch())
    logp = torch.randn(done.id_BT.shape, requires_grad=True)
    GRPO().loss(logp, done)[0].backward()
    assert logp.grad[2:].abs().sum() == 0
    assert logp.grad[:2].abs().sum() > 0


ONE = torch.tensor([[True]])


@pytest.mark.parametrize("advantage", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("log_ratio", [-200.0, 5.0, 200.0])
def test_no_ratio_overflows(log_ratio, advantage):
    """exp(200) is infinite in float32, and infinite times an advantage of 0 would be no number."""
    logp = torch.tensor([[log_ratio]], requires_grad=True)
    loss, _ = clipped_policy_loss(logp, torch.zeros(1, 1), torch.tensor([[advantage]]), ONE, clip_low=0.2, clip_high=0.2)
    loss.backward()
    assert loss.isfinite()
    assert logp.grad.isfinite()
    assert abs(loss.item()) <= RATIO_LIMIT


def test_k3_pulls_a_token_that_is_far_away_with_a_bounded_force():
    at = lambda x: torch.tensor([[-x]], requires_grad=True)  # noqa: E731  log r = x
    for x, slope in ((0.5, math.exp(0.5) - 1), (math.log(10) - 1e-3, 9.0), (18.0, 9.0), (-30.0, -1.0)):
        logp = at(x)
        value = kl_k3(logp, torch.zeros(1, 1), ONE)
        value.backward()
        assert -logp.grad.item() == pytest.approx(slope, abs=0.02)
        exact = math.exp(x) - x - 1
        assert value.item() == pytest.approx(
            exact if x < math.log(10) else 10 - math.log(10) - 1 + 9 * (x - math.log(10)), rel=1e-3
        )
