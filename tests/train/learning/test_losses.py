"""Losses per token against numbers worked out by hand."""

import math

import pytest
import torch

from agentgym_train.learning.losses import (
    RATIO_LIMIT,
    cispo_surrogate,
    clipped_surrogate,
    kl_divergence,
    log_ratios,
    token_weights,
)
from agentgym_train.models.chunked_head import MATTERS, entropy_that_matters

ACTIONS = torch.tensor([[False, True, True, False, True]])


def test_the_clipped_surrogate():
    ratio = torch.tensor([[1.5, 0.5, 1.5, 0.5]])
    advantage = torch.tensor([[1.0, 1.0, -1.0, -1.0]])
    loss, clipped = clipped_surrogate(ratio.log(), advantage, low=0.2, high=0.3)
    # min(1.5, 1.3), min(0.5, 0.8), min(-1.5, -1.3), min(-0.5, -0.8)
    assert loss[0].tolist() == pytest.approx([-1.3, -0.5, 1.5, 0.8])
    assert clipped.tolist() == [[True, False, False, True]]


def test_ratios_per_token_and_per_sequence():
    logp = torch.tensor([[9.0, -1.0, -2.0, 9.0, -0.5]])
    old = torch.tensor([[0.0, -1.5, -1.0, 0.0, -0.9]])
    assert log_ratios(logp, old, ACTIONS)[0].tolist() == pytest.approx([0, 0.5, -1.0, 0, 0.4])
    mean = (0.5 - 1.0 + 0.4) / 3
    assert log_ratios(logp, old, ACTIONS, member_B=torch.arange(len(logp)))[
        0
    ].tolist() == pytest.approx([0, mean, mean, 0, mean])


def test_cispo_bounds_the_weight_and_keeps_the_gradient():
    logp = torch.tensor([[-1.0, -2.0]], requires_grad=True)
    old = torch.tensor([[-3.0, -2.1]])
    ratios = log_ratios(logp, old, torch.ones(1, 2, dtype=torch.bool))
    loss, bounded = cispo_surrogate(logp, ratios, torch.tensor([[2.0, 3.0]]), high=0.2)
    loss.sum().backward()
    # exp(2) is bounded to 1.2; exp(0.1) is not
    assert loss[0].tolist() == pytest.approx([-1.2 * 2 * -1.0, -math.exp(0.1) * 3 * -2.0])
    assert logp.grad[0].tolist() == pytest.approx([-1.2 * 2, -math.exp(0.1) * 3])
    assert bounded.tolist() == [[True, False]]


@pytest.mark.parametrize("advantage", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("log_ratio", [-200.0, 5.0, 200.0])
def test_no_ratio_overflows(log_ratio, advantage):
    """exp(200) is infinite in float32, and infinity times an advantage of 0 would be NaN."""
    one = torch.tensor([[True]])
    logp = torch.tensor([[log_ratio]], requires_grad=True)
    ratios = log_ratios(logp, torch.zeros(1, 1), one)
    loss, _ = clipped_surrogate(ratios, torch.tensor([[advantage]]), low=0.2, high=0.2)
    loss.sum().backward()
    assert loss.isfinite().all()
    assert logp.grad.isfinite().all()
    assert abs(loss.item()) <= RATIO_LIMIT


@pytest.mark.parametrize(
    ("estimator", "value", "slope"),
    [("k1", 0.5, 1.0), ("k2", 0.125, 0.5), ("k3", math.exp(-0.5) + 0.5 - 1, 1 - math.exp(-0.5))],
)
def test_the_divergence(estimator, value, slope):
    """A token's log-probability is half a nat higher under the policy than under the reference."""
    logp = torch.tensor([[-1.0]], requires_grad=True)
    got = kl_divergence(logp, torch.tensor([[-1.5]]), estimator)
    got.sum().backward()
    assert got.item() == pytest.approx(value)
    assert logp.grad.item() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("estimator", ["k1", "k3"])
def test_the_divergence_is_estimated_without_bias(estimator):
    policy, reference = torch.tensor([0.7, 0.2, 0.1]), torch.tensor([0.2, 0.3, 0.5])
    exact = (policy * (policy / reference).log()).sum()
    assert (
        policy * kl_divergence(policy.log(), reference.log(), estimator)
    ).sum().item() == pytest.approx(exact.item())


def test_k3_pulls_a_token_that_is_far_away_with_a_bounded_force():
    for x, slope in (
        (0.5, math.exp(0.5) - 1),
        (math.log(10) - 1e-3, 9.0),
        (18.0, 9.0),
        (-30.0, -1.0),
    ):
        logp = torch.tensor([[-x]], requires_grad=True)  # log r = x
        value = kl_divergence(logp, torch.zeros(1, 1), "k3")
        value.sum().backward()
        assert -logp.grad.item() == pytest.approx(slope, abs=0.02)
        exact = math.exp(x) - x - 1
        line = 10 - math.log(10) - 1 + 9 * (x - math.log(10))
        assert value.item() == pytest.approx(exact if x < math.log(10) else line, rel=1e-3)


def test_what_a_token_counts():
    rows = torch.cat([ACTIONS, torch.zeros_like(ACTIONS)])
    assert token_weights(rows, rows.sum(1), "token").tolist() == [[0, 1, 1, 0, 1], [0] * 5]
    third = pytest.approx(1 / 3)
    assert token_weights(rows, rows.sum(1), "sequence").tolist() == [
        [0, third, third, 0, third],
        [0] * 5,
    ]


def test_entropy_of_the_tokens_that_matter():
    """Three of five tokens are probable enough; the bonus does not change the others."""
    probability = torch.tensor([0.5, 0.25, 0.2, 0.5 * MATTERS * 0.9, 1e-6])
    logits = (probability / probability.sum()).log().requires_grad_()
    among = [0.5 / 0.95, 0.25 / 0.95, 0.2 / 0.95]
    entropy = entropy_that_matters(logits.log_softmax(-1)[None, None])
    assert entropy.item() == pytest.approx(-sum(p * math.log(p) for p in among), rel=1e-5)
    entropy.sum().backward()
    assert logits.grad[3:].abs().max() < 1e-6
    assert logits.grad[:3].abs().max() > 0.01
