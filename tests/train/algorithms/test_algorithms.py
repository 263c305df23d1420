"""Advantages and loss of each algorithm on small trajectories, worked out by hand."""

import math

import pytest
import tiny
import torch
from raised import raises

from agentgym_train.algorithms.gigpo import GiGPO
from agentgym_train.algorithms.offline import DPO, SFT
from agentgym_train.algorithms.policy_gradient import GRPO, RLOO, ReinforcePP
from agentgym_train.algorithms.ppo import PPO
from agentgym_train.data.batching import ForwardOutput, pack
from agentgym_train.data.load_balancing import share_out
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.errors import ConfigError
from agentgym_train.learning.episodes import unit
from agentgym_train.models.policy import token_logps
from agentgym_train.scorers.rewards import rewarded

ALL = [GRPO, RLOO, ReinforcePP, GiGPO]


def trajectory(*turns):
    """Turns are (observation, reward); each has two prompt tokens and three sampled ones."""
    return Trajectory(
        "t",
        0,
        [Turn(seen, [Call([5, 6], [7, 8, 3], [-1.0, -0.5, -0.1])], reward=r) for seen, r in turns],
    )


GROUPS = [
    Group(0, [trajectory(("a", 0.0), ("b", 1.0)), trajectory(("a", 0.0), ("c", 0.0))]),
    Group(4, [trajectory(("a", 1.0)), trajectory(("a", 0.0), ("a", 1.0))]),
]


def credited(algorithm, groups=GROUPS, **streams):
    return algorithm.compute_advantages(pack(groups).with_streams(**streams), groups, Distributed())


def by_turn(batch):
    """The advantages of each trajectory's turns, which are the same on each of a turn's tokens."""
    advantage = batch.streams["advantage"]
    assert not advantage[~batch.action_BT].any()
    found = []
    for row, action in enumerate(batch.action_BT):
        values = advantage[row, action].reshape(-1, 3)
        assert (values == values[:, :1]).all()
        found.append(values[:, 0].tolist())
    return found


HIGH = 1 / math.sqrt(2)


def test_grpo():
    assert by_turn(credited(GRPO()))[:2] == [
        pytest.approx([HIGH] * 2, abs=1e-4),
        pytest.approx([-HIGH] * 2, abs=1e-4),
    ]
    assert by_turn(credited(GRPO()))[2:] == [
        [0],
        [0, 0],
    ], "both succeeded: nothing to learn without a discount"
    assert by_turn(credited(GRPO(normalise=False)))[:2] == [[0.5] * 2, [-0.5] * 2]


def test_a_discount_prefers_the_faster_success():
    assert by_turn(credited(GRPO(gamma=0.9)))[2:] == [
        pytest.approx([HIGH], abs=1e-4),
        pytest.approx([-HIGH] * 2, abs=1e-4),
    ]


def test_rloo():
    three = [Group(0, [trajectory(("a", r)) for r in (1.0, 0.0, 0.5)])]
    assert by_turn(credited(RLOO(), three)) == [pytest.approx([x]) for x in (0.75, -0.75, 0.0)]


def test_reinforce_plus_plus():
    """Returns-to-go at γ = 1/2, three tokens each: ½ 1 | 0 0 | 1 | ½ 1.

    Their mean is 4/7 and their variance is 3.5/7 − 16/49.
    """
    spread = math.sqrt(3.5 / 7 - (4 / 7) ** 2)
    expected = [[0.5, 1.0], [0.0, 0.0], [1.0], [0.5, 1.0]]
    got = by_turn(credited(ReinforcePP(gamma=0.5)))
    assert got == [pytest.approx([(x - 4 / 7) / spread for x in row], abs=1e-5) for row in expected]


def test_gigpo():
    """Two turns of group 0 saw "a": one led to 1 a turn later, the other to 0.

    Three turns of group 4 saw it: they led to 1, ½ and 1.
    """
    got = by_turn(credited(GiGPO(gamma=0.5, normalise=False, step_coef=2.0)))
    mean = 2.5 / 3
    assert got == [
        pytest.approx([0.25 + 2 * 0.25, 0.25]),  # discounted returns ½ and 0; "b" was seen once
        pytest.approx([-0.25 - 2 * 0.25, -0.25]),
        pytest.approx([0.25 + 2 * (1 - mean)]),
        pytest.approx([-0.25 + 2 * (0.5 - mean), -0.25 + 2 * (1 - mean)]),
    ]


def test_gigpo_compares_lessons_with_lessons():
    """All four turns saw "a": the actions led to 1 and 0, and so did the lessons."""
    group = Group(0, [trajectory(("a", 0.0), ("a", r)) for r in (1.0, 0.0)])
    for t in group.trajectories:
        t.turns[0].lesson = True
    got = by_turn(credited(GiGPO(gamma=0.5, normalise=False), [group]))
    assert got == [pytest.approx([x * (0.25 + 0.25), x * (0.25 + 0.5)]) for x in (1, -1)]


def test_gigpo_of_nothing():
    empty = [Group(0, [])]
    assert credited(GiGPO(), empty).action_tokens == 0


@pytest.mark.parametrize(
    "algorithm", [GRPO(gamma=0.5), RLOO(gamma=0.5), ReinforcePP(gamma=0.5), GiGPO(gamma=0.5)]
)
def test_a_divergence_in_the_reward_lowers_what_went_far(algorithm):
    """Two equal trajectories; at one token of the second, the reference differs by two nats."""
    groups = [Group(0, [trajectory(("a", 1.0)), trajectory(("a", 1.0))])]
    batch = pack(groups)
    reference = batch.logp_BT.clone()
    reference[1, 2] -= 2.0
    options = {"kl_coef": 0.25, "kl_in": "reward", "kl_estimator": "k1", "gamma": 0.5}
    got = credited(type(algorithm)(**options), groups, reference=reference).streams["advantage"]
    assert got[0, 2] > 0 > got[1, 2]
    assert credited(algorithm, groups).streams["advantage"].abs().max() == 0


def test_trajectories_without_advantage_need_no_pass_if_the_loss_is_the_surrogate():
    """Both trajectories of group 4 succeeded. Turns of the same state still differ for GiGPO."""
    reference = pack(GROUPS).logp_BT - 0.3
    for algorithm, wanted in [
        (GRPO(), [False, False, True, True]),
        (RLOO(surrogate="cispo", loss_reduction="sequence"), [False, False, True, True]),
        (GRPO(gamma=0.9), [False] * 4),
        (GiGPO(gamma=1.0), [False, False, True, True]),
        (GiGPO(), [False] * 4),
        (GRPO(kl_coef=0.1), [False] * 4),
        (GRPO(entropy_coef=0.1), [False] * 4),
        (RLOO(kl_coef=0.1, kl_in="reward"), [False] * 4),
        (SFT(), [False] * 4),
        (DPO(), [False] * 4),
    ]:
        batch = credited(algorithm, reference=reference)
        assert algorithm.zero_loss_B(batch).tolist() == wanted, algorithm
    nan = credited(GRPO()).with_streams(advantage=torch.full((4, 10), torch.nan))
    assert not GRPO().zero_loss_B(nan).any(), "an advantage that is not finite must be reported"


def test_a_loss_with_other_terms_needs_all_passes():
    class Longer(GRPO):
        def loss(self, forward, micro):
            loss, sums = super().loss(forward, micro)
            return loss - forward.logp_BT.where(micro.action_BT, 0.0).sum(), sums

    for algorithm in (Longer(), PPO()):
        batch = pack(GROUPS)
        batch = batch.with_streams(advantage=torch.zeros_like(batch.logp_BT))
        assert not algorithm.zero_loss_B(batch).any()


def test_what_is_needed():
    assert GRPO().required_streams == frozenset()
    assert GRPO(kl_coef=0.1, entropy_coef=0.1, importance_cap=2.0).required_streams == {
        "reference",
        "entropy",
        "old",
    }


@pytest.mark.parametrize(
    ("loss_reduction", "weight"), [("token", 21.0), ("sequence", 4.0), ("constant", 400.0)]
)
def test_what_the_loss_is_divided_by(loss_reduction, weight):
    algorithm = GRPO(loss_reduction=loss_reduction, constant=100)
    batch = credited(algorithm)
    assert algorithm.weight(batch) == weight
    # On-policy every ratio is 1, and a token's loss is its advantage: ±HIGH on six tokens each.
    loss, _ = algorithm.loss(ForwardOutput(batch.logp_BT, batch.logp_BT), batch)
    assert loss.item() == pytest.approx(0.0, abs=1e-5)
    first, _ = algorithm.loss(
        ForwardOutput(batch.take([0]).logp_BT, batch.take([0]).logp_BT), batch.take([0])
    )
    assert first.item() == pytest.approx(
        -HIGH * (1 if loss_reduction == "sequence" else 6), abs=1e-3
    )
    assert algorithm.weight(batch.idle()) == 0


@pytest.mark.parametrize("cls", ALL)
def test_gradients_flow_through_action_tokens_alone(cls):
    algorithm = cls(kl_coef=0.1, entropy_coef=0.01, gamma=0.5)
    batch = pack(GROUPS)
    batch = algorithm.compute_advantages(
        batch.with_streams(reference=batch.logp_BT - 0.3), GROUPS, Distributed()
    )
    logp, bonus = (torch.randn(batch.id_BT.shape, requires_grad=True) for _ in range(2))
    loss, sums = algorithm.loss(ForwardOutput(logp, logp, bonus), batch)
    loss.backward()
    assert logp.grad[~batch.action_BT].abs().sum() == 0
    assert (logp.grad[batch.action_BT] != 0).any()
    assert bonus.grad[batch.action_BT].tolist() == pytest.approx([-0.01] * 21)
    assert not bonus.grad[~batch.action_BT].any()
    assert sums.keys() == {"clip_fraction", "ratio", "advantage_size", "kl"}
    torch.testing.assert_close(sums["advantage_size"], batch.streams["advantage"].abs().sum())


def test_truncated_importance_sampling():
    """A token is e² times as probable for the trainer as for the sampler; another is 1/e times."""
    groups = [Group(0, [Trajectory("t", 0, [Turn("a", [Call([5], [7, 8], [-3.0, -1.0])])])])]
    batch = pack(groups).with_streams(
        old=torch.tensor([[0.0, -1.0, -2.0]]), advantage=torch.ones(1, 3)
    )
    algorithm = GRPO(importance_cap=1.5)
    loss, sums = algorithm.loss(ForwardOutput(batch.streams["old"], batch.logp_BT), batch)
    assert loss.item() == pytest.approx(-(1.5 + math.exp(-1)))
    assert sums["ratio"].item() == pytest.approx(2.0), "ratios are against the trainer's own"


def test_gspo_clips_whole_trajectories():
    """Token ratios e^0.5 and e^−0.1 become e^0.2 for both, which is clipped at 0.1.

    Per token, the second ratio would not be clipped.
    """
    groups = [Group(0, [Trajectory("t", 0, [Turn("a", [Call([5], [7, 8], [-1.0, -1.0])])])])]
    batch = pack(groups).with_streams(advantage=torch.ones(1, 3))
    logp = torch.tensor([[0.0, -0.5, -1.1]], requires_grad=True)
    algorithm = GRPO(ratio="sequence", loss_reduction="sequence", clip_high=0.1)
    loss, sums = algorithm.loss(ForwardOutput(logp, logp), batch)
    assert loss.item() == pytest.approx(-1.1)
    assert sums["clip_fraction"] == 2
    loss.backward()
    assert not logp.grad.any()


def test_sft_is_the_models_own_cross_entropy():
    """The reference is the loss that transformers computes from labels."""
    model = tiny.model()
    batch = pack(GROUPS)
    labels = batch.id_BT.masked_fill(~batch.action_BT, -100)
    with torch.no_grad():
        theirs = model(
            input_ids=batch.id_BT, attention_mask=batch.valid_BT.long(), labels=labels
        ).loss
        ours, _ = SFT().loss(token_logps(model, batch, 1.0), batch)
    assert ours.item() / SFT().weight(batch) == pytest.approx(theirs.item(), rel=1e-5)


def test_sft_looks_at_no_rewards():
    others = rewarded(
        GROUPS, lambda t: [2.5 * place - turn.reward for place, turn in enumerate(t.turns)]
    )
    assert not torch.equal(pack(others).return_B(), pack(GROUPS).return_B())
    logp = torch.linspace(-3.0, -0.5, 40).reshape(4, 10)
    seen = []
    for groups in (GROUPS, others):
        batch, own = credited(SFT(), groups), logp.clone().requires_grad_()
        loss, _ = SFT().loss(ForwardOutput(own, own), batch)
        loss.backward()
        seen.append(
            [loss.detach(), own.grad, torch.tensor(SFT().weight(batch)), *batch.streams.values()]
        )
    torch.testing.assert_close(*seen, rtol=0, atol=0)


def test_dpo_by_hand():
    """Log-ratios to the reference: +0.5 for three tokens (better), −0.2 for six tokens (worse)."""
    groups = [Group(2, [trajectory(("a", 1.0)), trajectory(("a", 0.0), ("b", 0.0))]), Group(5, [])]
    batch = pack(groups)
    reference = batch.logp_BT.clone()
    reference[0] -= 0.5
    reference[1] += 0.2
    algorithm = DPO(beta=0.3)
    batch = algorithm.compute_advantages(
        batch.with_streams(reference=reference), groups, Distributed()
    )
    logp = batch.logp_BT.clone().requires_grad_()
    loss, sums = algorithm.loss(ForwardOutput(logp, logp), batch)
    loss.backward()
    margin = 3 * 0.5 + 6 * 0.2
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-0.3 * margin)))
    slope = 0.3 / (1 + math.exp(0.3 * margin))
    assert logp.grad[0, batch.action_BT[0]].tolist() == pytest.approx([-slope] * 3)
    assert logp.grad[1, batch.action_BT[1]].tolist() == pytest.approx([slope] * 6)
    assert not logp.grad[~batch.action_BT].any()
    assert sums["pairs_right"] == 1
    assert (algorithm.weight(batch), algorithm.weight(batch.idle())) == (1, 0)
    assert algorithm.per_weight == {"pairs_right"}
    (share,) = share_out(batch, Distributed(), 1, unit=unit(algorithm))
    assert len(share.micro.group_B) == 2, "a pair stays together"
    idle = batch.idle()
    zero, _ = algorithm.loss(ForwardOutput(*[torch.zeros(1, 1, requires_grad=True)] * 2), idle)
    zero.backward()
    assert zero == 0


def test_dpo_prefers_the_larger_return_and_ignores_ties_and_single_episodes():
    ties = Group(0, [trajectory(("a", 1.0)), trajectory(("a", 0.5), ("b", 0.5))])
    late = Group(1, [trajectory(("a", 0.5)), trajectory(("a", 0.5), ("b", 0.25))])
    groups = [ties, late, Group(2, [trajectory(("a", 1.0))]), Group(3, [])]
    batch = pack(groups)
    batch = DPO().compute_advantages(
        batch.with_streams(reference=batch.logp_BT - 0.5), groups, Distributed()
    )
    assert batch.streams["side"][:, 0].tolist() == [0, 0, -1, 1, 0]
    assert DPO().weight(batch) == 1
    logp = batch.logp_BT.clone().requires_grad_()
    loss, _ = DPO().loss(ForwardOutput(logp, logp), batch)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-0.1 * (6 - 3) * 0.5)))
    assert logp.grad.abs().sum(1).bool().tolist() == [False, False, True, True, False]


def test_dpo_refuses_what_is_larger_than_a_pair():
    with raises(ConfigError, "'t'", "3 episodes", "env.group_size=2"):
        credited(DPO(), [Group(0, [trajectory(("a", 1.0))] * 3)])
