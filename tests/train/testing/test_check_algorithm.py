"""The check for authors of algorithms: ours pass it, and it names every planted fault."""

from dataclasses import dataclass, replace

import pytest
import torch
from raised import raises

from agentgym_envs.errors import BrokenPlugin, ConformanceError
from agentgym_train import plugins
from agentgym_train.algorithms.offline import DPO
from agentgym_train.algorithms.policy_gradient import GRPO
from agentgym_train.algorithms.ppo import PPO
from agentgym_train.testing import check_algorithm

SHIPPED = [
    ({"name": "grpo"}, 3),
    ({"name": "grpo", "loss_reduction": "sequence", "ratio": "sequence"}, 3),
    ({"name": "grpo", "loss_reduction": "constant", "surrogate": "cispo", "normalise": False}, 3),
    ({"name": "grpo", "kl_coef": 0.1, "entropy_coef": 0.1, "importance_cap": 2.0}, 3),
    ({"name": "grpo", "kl_coef": 0.1}, 3),
    ({"name": "grpo", "entropy_coef": 0.1}, 3),
    ({"name": "rloo", "kl_coef": 0.1, "kl_in": "reward", "kl_estimator": "k1"}, 3),
    ({"name": "reinforce_pp", "gamma": 0.9}, 3),
    ({"name": "gigpo"}, 3),
    ({"name": "ppo", "gamma": 0.9, "lam": 0.9}, 3),
    ({"name": "ppo", "gamma": 0.9, "per": "turn", "bootstrap": True}, 3),
    (
        {
            "name": "ppo",
            "per": "turn",
            "loss_reduction": "sequence",
            "kl_coef": 0.1,
            "kl_in": "reward",
            "value_clip": 0.0,
        },
        3,
    ),
    ({"name": "sft"}, 1),
    ({"name": "dpo"}, 2),
]


@pytest.mark.parametrize(("options", "size"), SHIPPED)
def test_ours_pass(options, size):
    assert len(check_algorithm(options, group_size=size)) == 7


def test_all_that_are_shipped_are_checked():
    shipped = {
        n
        for n, p in plugins.discover(plugins.ALGORITHM.group).items()
        if plugins.distribution(p) == plugins.OURS
    }
    assert {options["name"] for options, _ in SHIPPED} == shipped


@dataclass(frozen=True, kw_only=True)
class Mean(GRPO):
    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        return loss / max(micro.action_tokens, 1), sums


@dataclass(frozen=True, kw_only=True)
class Leaking(GRPO):
    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        return loss + forward.logp_BT.sum(), sums


@dataclass(frozen=True, kw_only=True)
class Idle(GRPO):
    def loss(self, forward, micro):
        if not micro.action_tokens:
            return torch.zeros(()), {}
        return super().loss(forward, micro)


@dataclass(frozen=True, kw_only=True)
class Heavy(GRPO):
    def weight(self, batch):
        return super().weight(batch) + 1


@dataclass(frozen=True, kw_only=True)
class Shuffling(GRPO):
    def compute_advantages(self, batch, groups, distributed):
        done = super().compute_advantages(batch, groups, distributed)
        return replace(done, group_B=done.group_B.flip(0))


@dataclass(frozen=True, kw_only=True)
class Flat(GRPO):
    def compute_advantages(self, batch, groups, distributed):
        return batch.with_streams(advantage=self.returns(batch))


@dataclass(frozen=True, kw_only=True)
class Infinite(GRPO):
    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        return loss * torch.inf, sums


@dataclass(frozen=True, kw_only=True)
class Greedy(GRPO):
    def compute_advantages(self, batch, groups, distributed):
        groups[1].trajectories[0]
        return super().compute_advantages(batch, groups, distributed)


@dataclass(frozen=True, kw_only=True)
class Rows(GRPO):
    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        return loss, {**sums, "rows": micro.reward_BT}


@dataclass(frozen=True, kw_only=True)
class Hasty(GRPO):
    """Skips trajectories whose return is 0, though other returns of the group can differ."""

    def zero_loss_B(self, batch):
        return batch.return_B() < 0.5


@dataclass(frozen=True, kw_only=True)
class Forgetful(GRPO):
    """Skips equal returns, though their KL divergence has a gradient."""

    kl_coef: float = 0.1

    def zero_loss_B(self, batch):
        return (batch.streams["advantage"] == 0).all(1)


@dataclass(frozen=True, kw_only=True)
class Shapeless(GRPO):
    def zero_loss_B(self, batch):
        return batch.streams["advantage"] == 0


@dataclass(frozen=True, kw_only=True)
class Torn(DPO):
    whole_groups = False


@dataclass(frozen=True, kw_only=True)
class Careless(PPO):
    """Has a value loss on tokens of the environment."""

    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        return loss + forward.value_BT.square().sum(), sums


@dataclass(frozen=True, kw_only=True)
class Uncritical(PPO):
    """Requires values and does not learn them."""

    def loss(self, forward, micro):
        return super().loss(forward._replace(value_BT=torch.zeros_like(forward.logp_BT)), micro)


@dataclass(frozen=True, kw_only=True)
class Steep(PPO):
    def loss(self, forward, micro):
        loss, sums = super().loss(forward, micro)
        return loss + (forward.value_BT * 0.0).abs().sum().sqrt(), sums


@dataclass(frozen=True, kw_only=True)
class Surprised(PPO):
    """Fails if the stream of values is filled."""

    def compute_advantages(self, batch, groups, distributed):
        assert not batch.streams["value"].any()
        return super().compute_advantages(batch, groups, distributed)


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Mean, "its loss of a whole batch is .*, but its parts add up to"),
        (
            Leaking,
            r"its loss has a gradient for the log-probabilities of \d+ tokens that are not actions",
        ),
        (Idle, "its loss does not depend on the log-probabilities, perhaps only of an idle"),
        (Heavy, "its weight of a whole batch is .*, but its parts"),
        (Shuffling, "compute_advantages changed group_B"),
        (Flat, "compute_advantages returned a stream 'advantage' of shape"),
        (Infinite, "its loss is -?(inf|nan), or its gradient is not finite"),
        (Greedy, "compute_advantages raised IndexError"),
        (Rows, "its logged sum 'rows' is not a single number"),
        (Hasty, "zero_loss_B marks . rows, but their loss is"),
        (Forgetful, "zero_loss_B marks . rows, but their loss is"),
        (Shapeless, r"zero_loss_B returned torch.bool of shape \(4, "),
        (Torn, "its loss of a whole batch is"),
        (Careless, r"its loss has a gradient for the values of \d+ tokens that are not actions"),
        (Uncritical, "its loss does not depend on the values, perhaps only of an idle micro-batch"),
        (Steep, "its loss is .*, or its gradient is not finite"),
        (Surprised, "compute_advantages raised AssertionError"),
    ],
)
def test_a_planted_fault_is_named(cls, message, monkeypatch):
    monkeypatch.setattr(plugins, "make_algorithm", lambda options: cls())
    with pytest.raises(ConformanceError, match=f"{cls.__name__}: {message}"):
        check_algorithm("planted", group_size=2)


def test_a_next_value_without_a_critic(monkeypatch):
    monkeypatch.setattr(GRPO, "required_streams", frozenset({"next_value"}))
    with raises(BrokenPlugin, "'next_value'", "'value'"):
        check_algorithm("grpo")


def test_a_stream_that_nobody_fills(monkeypatch):
    monkeypatch.setattr(GRPO, "required_streams", frozenset({"dreams"}))
    with raises(BrokenPlugin, "grpo", "'dreams'", "ref"):
        check_algorithm("grpo")
