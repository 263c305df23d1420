"""Every online algorithm finds the known best policy of a small environment."""

import pytest
import two_states

from agentgym_train import plugins

ONLINE = {
    "grpo": {"name": "grpo"},
    "dr.grpo": {"name": "grpo", "normalise": False, "loss_reduction": "constant", "constant": 4},
    "dapo": {"name": "grpo", "clip_high": 0.28},
    "gspo": {"name": "grpo", "ratio": "sequence", "loss_reduction": "sequence"},
    "cispo": {"name": "grpo", "surrogate": "cispo"},
    "rloo": {"name": "rloo"},
    "reinforce_pp": {"name": "reinforce_pp"},
    "gigpo": {"name": "gigpo"},
    "with a divergence in the loss": {"name": "grpo", "kl_coef": 0.02},
    "with a divergence in the reward": {
        "name": "reinforce_pp",
        "kl_coef": 0.02,
        "kl_in": "reward",
        "kl_estimator": "k1",
    },
    "with an entropy bonus": {"name": "grpo", "entropy_coef": 0.01},
    "with truncated importance sampling": {"name": "grpo", "importance_cap": 2.0},
}


SEEDS = 3
FEW = ("grpo", "gigpo", "with a divergence in the reward")
# Options of an algorithm that is tested with all seeds; they are tested with one seed.
FIRST = ("with a", "dr.grpo", "dapo", "gspo")
MORE = [(c, s) for c in ONLINE for s in range(1 if c.startswith(FIRST) else SEEDS)]


@pytest.mark.parametrize(
    ("case", "seed"),
    [pytest.param(c, s, marks=[pytest.mark.full] * (s > 0 or c not in FEW)) for c, s in MORE],
)
def test_it_finds_the_best_policy(case, seed):
    best = two_states.learn(plugins.make_algorithm(ONLINE[case]), seed=seed)
    assert min(best) > 0.9, best


@pytest.mark.parametrize(
    ("critic", "options"),
    [
        ("model", {}),
        pytest.param("head", {"lam": 0.5, "gamma": 0.9}, marks=pytest.mark.full),
        pytest.param("model", {"per": "turn", "lam": 0.95}, marks=pytest.mark.full),
        pytest.param("head", {"gamma": 0.9, "bootstrap": True}, marks=pytest.mark.full),
    ],
)
def test_an_actor_and_its_critic_find_it_too(critic, options):
    best = two_states.learn(
        plugins.make_algorithm({"name": "ppo", **options}), seed=0, critic=critic
    )
    assert min(best) > 0.9, best


def test_without_credit_nothing_is_found():
    """The check can fail."""
    best = two_states.learn(plugins.make_algorithm({"name": "grpo", "gamma": 0.0}), seed=0, steps=0)
    assert max(best) == 0.25
