"""The number of groups of a step follows the measured tokens per group."""

import random

import pytest

from agentgym_train.rollout.environments import TokenBudget


def test_an_example_by_hand():
    budget = TokenBudget(1000, [1, 3, 5, 7])
    assert budget.playing() == [1, 3, 5, 7], "nothing is measured"
    budget.observe(groups=4, tokens=2000)  # 500 a group; the first step leaves no debt
    assert budget.playing() == [1, 5]
    budget.observe(groups=2, tokens=1600)  # 800 a group, and a debt of 600: (1000 - 600) / 800
    assert budget.playing() == []
    budget.observe(groups=0, tokens=0)  # a credit of 400: 1400 / 800
    assert budget.playing() == [1, 5]
    budget.observe(groups=2, tokens=200)  # 100 a group, and a credit of 1200, limited to 1000
    assert budget.playing() == [1, 3, 5, 7]
    assert budget.state_dict() == {"per_group": 100.0, "credit": 1000}


def test_without_a_number_of_tokens_all_groups_are_played():
    budget = TokenBudget(0, [0, 1])
    budget.observe(groups=2, tokens=900)
    assert budget.playing() == [0, 1]


@pytest.mark.parametrize("length", [30, 400, 2500])
def test_over_many_steps_the_tokens_are_the_wanted_ones(length):
    """Groups of up to 2.5 steps' tokens, whose length drifts and varies."""
    rng, budget, total = random.Random(length), TokenBudget(1000, range(64)), 0.0
    for step in range(400):
        groups = len(budget.playing())
        tokens = sum(length * (1 + step / 400) * rng.uniform(0.5, 1.5) for _ in range(groups))
        budget.observe(groups=groups, tokens=tokens)
        total += tokens if step else 0
    assert total == pytest.approx(399 * 1000, rel=0.02)


def test_a_step_whose_episodes_all_failed_changes_no_measure():
    budget = TokenBudget(1000, range(4))
    budget.observe(groups=4, tokens=0)
    assert len(budget.playing()) == 4
    budget.observe(groups=4, tokens=2000)
    budget.observe(groups=2, tokens=0)
    assert budget.state_dict() == {"per_group": 500.0, "credit": 1000}


def test_a_restored_budget_continues_like_the_saved_one():
    budget, other = (TokenBudget(1000, range(9)) for _ in range(2))
    for groups, tokens in ((9, 1800), (5, 1300)):
        budget.observe(groups=groups, tokens=tokens)
    other.load_state_dict(budget.state_dict())
    assert other.playing() == budget.playing() == [0, 3, 6]
