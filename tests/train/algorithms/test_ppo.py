"""PPO's advantages and loss against recursions in NumPy and numbers worked out by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train.algorithms.ppo import PPO
from agentgym_train.data.batching import ForwardOutput, pack
from agentgym_train.data.types import Call, EpisodeStatus, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.learning.advantages import gae, returns_to_go
from agentgym_train.learning.losses import clipped_value_loss


def turn(tokens, reward, prompt=2):
    return Turn("", [Call([5] * prompt, [7] * tokens, [-1.0] * tokens)], reward=reward)


def credited(groups, values, **options):
    """Advantages with ``values`` on the action tokens, in order, and 1000 on all other tokens."""
    batch = pack(groups)
    value_BT = torch.full(batch.logp_BT.shape, 1e3)
    value_BT[batch.action_BT] = torch.tensor(values)
    value_BT = value_BT.where(batch.action_BT, 0.0)
    return PPO(**{"normalise": False} | options).compute_advantages(
        batch.with_streams(value=value_BT), groups, Distributed()
    )


def on_actions(batch, name):
    stream_BT = batch.streams[name]
    assert not stream_BT[~batch.action_BT].any()
    return stream_BT[batch.action_BT].tolist()


TWO = [Group(0, [Trajectory("t", 0, [turn(2, 0.0), turn(1, 1.0)])])]


def test_tokens_by_hand():
    """Values ½, ¼ and ¾; γ = ½ per turn, λ = 0.8 per token.

    The errors are, from the last to the first: 1 − ¾ = ¼, 0 + ½·¾ − ¼ = ⅛, and ¼ − ½ = −¼.
    """
    batch = credited(TWO, [0.5, 0.25, 0.75], gamma=0.5, lam=0.8)
    middle = 0.125 + 0.5 * 0.8 * 0.25
    assert on_actions(batch, "advantage") == pytest.approx([-0.25 + 0.8 * middle, middle, 0.25])
    assert on_actions(batch, "return") == pytest.approx([0.25 + 0.8 * middle, 0.25 + middle, 1.0])
    assert on_actions(batch, "value_weight") == [1, 1, 1]


def test_turns_by_hand():
    """The same values per turn; the value ¼ inside a turn is ignored.

    The errors are 1 − ¾ = ¼ and 0 + ½·¾ − ½ = −⅛.
    """
    batch = credited(TWO, [0.5, 0.25, 0.75], gamma=0.5, lam=0.8, per="turn")
    first = -0.125 + 0.5 * 0.8 * 0.25
    assert on_actions(batch, "advantage") == pytest.approx([first, first, 0.25])
    assert on_actions(batch, "return") == pytest.approx([0.5 + first, 0, 1.0])
    assert on_actions(batch, "value_weight") == [2, 0, 1], (
        "a turn's value is learned once, for each of its tokens"
    )


tokens = st.tuples(st.integers(1, 4), st.floats(-2, 2, width=32), st.integers(1, 3))
episodes = st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=3)


def recursion(rewards, values, discounts, lam):
    """Equation 16 of the paper for one episode: the sum of decayed errors, written out."""
    nexts = np.append(values[1:], 0.0)
    errors = rewards + np.append(discounts, 0.0) * nexts - values
    return [
        sum(
            errors[j] * np.prod([discounts[k] * lam for k in range(i, j)])
            for j in range(i, len(errors))
        )
        for i in range(len(errors))
    ]


@given(
    episodes,
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(["token", "turn"]),
    st.integers(0, 99),
)
def test_it_is_the_papers_sum(lengths, gamma, lam, per, seed):
    rng = np.random.default_rng(seed)
    groups = [
        Group(n, [Trajectory("", n, [turn(*t) for t in turns])]) for n, turns in enumerate(lengths)
    ]
    values, expected = [], []
    for turns in lengths:
        counts = [count for count, _, _ in turns]
        value = rng.normal(size=sum(counts))
        values += value.tolist()
        ends = np.cumsum(counts) - 1
        if per == "token":
            rewards = np.zeros(sum(counts))
            rewards[ends] = [reward for _, reward, _ in turns]
            discounts = np.ones(sum(counts) - 1)
            discounts[ends[:-1]] = gamma
            expected += recursion(rewards, value, discounts, lam)
        else:
            starts = ends - np.array(counts) + 1
            of_turns = recursion(
                np.array([r for _, r, _ in turns]),
                value[starts],
                np.full(len(turns) - 1, gamma),
                lam,
            )
            expected += np.repeat(of_turns, counts).tolist()
    batch = credited(groups, values, gamma=gamma, lam=lam, per=per)
    assert on_actions(batch, "advantage") == pytest.approx(expected, abs=1e-4)
    learned = batch.streams["value_weight"] > 0
    torch.testing.assert_close(
        batch.streams["return"][learned],
        (batch.streams["advantage"] + batch.streams["value"])[learned],
        atol=1e-5,
        rtol=0,
    )
    assert batch.streams["value_weight"].sum() == batch.action_tokens


def test_without_decay_it_is_the_return_to_go_less_the_value():
    batch = pack(
        [
            Group(
                0,
                [
                    Trajectory("", 0, [turn(3, 0.3), turn(2, -0.5), turn(1, 2.0)]),
                    Trajectory("", 1, [turn(4, 1.0)]),
                ],
            )
        ]
    )
    value_BT = torch.randn(batch.logp_BT.shape)
    got = gae(batch.reward_BT, value_BT, batch.turn_BT, batch.action_BT, gamma=0.7, lam=1.0)
    wanted = (returns_to_go(batch.reward_BT, batch.turn_BT, 0.7).float() - value_BT).where(
        batch.action_BT, 0.0
    )
    torch.testing.assert_close(got, wanted)


def test_a_turn_without_a_step_is_discounted_too():
    reward_BT, step_BT = torch.tensor([[0.0, 0.0, 1.0]]), torch.tensor([[True, False, True]])
    got = gae(reward_BT, torch.zeros(1, 3), torch.tensor([[0, 1, 2]]), step_BT, gamma=0.5, lam=1.0)
    assert got.tolist() == [[0.25, 0.0, 1.0]]


def test_an_episode_that_was_cut_off_ends_like_any_other():
    whole, cut = (
        [Group(0, [Trajectory("t", 0, [turn(2, 0.0), turn(1, 0.5)], status=status)])]
        for status in (EpisodeStatus.COMPLETED, EpisodeStatus.TRUNCATED_HORIZON)
    )
    one, other = (
        credited(groups, [0.5, 0.25, 0.75], lam=0.9).streams["advantage"] for groups in (whole, cut)
    )
    assert torch.equal(one, other)


def test_advantages_are_whitened_and_targets_are_not():
    values = [0.5, 0.25, 0.75]
    plain, white = (credited(TWO, values, normalise=normalise) for normalise in (False, True))
    raw = np.array(on_actions(plain, "advantage"))
    assert on_actions(white, "advantage") == pytest.approx(
        ((raw - raw.mean()) / raw.std()).tolist(), abs=1e-5
    )
    assert on_actions(white, "return") == on_actions(plain, "return") == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("per", ["token", "turn"])
def test_a_divergence_in_the_reward_counts_at_its_token(per):
    """At the first turn's last token, policy and reference differ by 2 nats; the penalty is ½."""
    groups = [Group(0, [Trajectory("t", 0, [turn(2, 0.0), turn(1, 1.0)])])]
    batch = pack(groups)
    reference = batch.logp_BT.clone()
    reference[0, 3] -= 2.0
    algorithm = PPO(per=per, normalise=False, kl_coef=0.25, kl_in="reward", kl_estimator="k1")
    got = algorithm.compute_advantages(
        batch.with_streams(reference=reference, value=torch.zeros_like(reference)),
        groups,
        Distributed(),
    )
    assert on_actions(got, "advantage") == pytest.approx([0.5, 0.5, 1.0])


def test_values_are_clipped_by_hand():
    """The old value is 0 and the range 0.2: the larger error counts.

    A clipped error has no gradient.
    """
    value = torch.tensor([[0.5, 0.1, -0.5, 1.0]], requires_grad=True)
    old, target = torch.zeros(1, 4), torch.tensor([[1.0, 1.0, 1.0, 0.9]])
    loss, clipped = clipped_value_loss(value, old, target, clip=0.2)
    loss.sum().backward()
    assert loss[0].tolist() == pytest.approx([0.8**2 / 2, 0.9**2 / 2, 1.5**2 / 2, 0.7**2 / 2])
    assert clipped.tolist() == [[True, False, False, True]]
    assert value.grad[0].tolist() == pytest.approx([0, -0.9, -1.5, 0])
    loss, clipped = clipped_value_loss(value, old, target, clip=0.0)
    assert loss[0].tolist() == pytest.approx([0.5**2 / 2, 0.9**2 / 2, 1.5**2 / 2, 0.1**2 / 2])
    assert not clipped.any()


@pytest.mark.parametrize(
    ("per", "loss_reduction"), [("token", "token"), ("turn", "token"), ("token", "sequence")]
)
def test_the_loss_is_the_policys_and_that_of_the_values(per, loss_reduction):
    groups = [
        Group(
            0,
            [Trajectory("t", 0, [turn(2, 0.0), turn(1, 1.0)]), Trajectory("t", 1, [turn(1, 0.0)])],
        )
    ]
    options = {"per": per, "loss_reduction": loss_reduction, "value_clip": 0.2}
    batch = credited(groups, [0.5, 0.25, 0.75, 0.5], **options)
    value_BT = (batch.streams["value"] + 0.1).requires_grad_()
    losses = [
        PPO(**options, value_coef=coef).loss(
            ForwardOutput(batch.logp_BT, batch.logp_BT, None, value_BT), batch
        )
        for coef in (0.0, 0.3)
    ]
    # All returns are 1 in the first episode and 0 in the second.
    halves = [(0.6 - 1) ** 2 / 2, (0.35 - 1) ** 2 / 2, (0.85 - 1) ** 2 / 2, (0.6 - 0) ** 2 / 2]
    counts = [1, 1, 1, 1] if per == "token" else [2, 0, 1, 1]
    shares = [1 / 3] * 3 + [1] if loss_reduction == "sequence" else [1] * 4
    wanted = sum(
        half * count * share for half, count, share in zip(halves, counts, shares, strict=True)
    )
    assert (losses[1][0] - losses[0][0]).item() == pytest.approx(0.3 * wanted, abs=1e-6)
    sums = losses[1][1]
    assert sums["value_loss"].item() == pytest.approx(
        sum(h * c for h, c in zip(halves, counts, strict=True))
    )
    assert sums["value_target"].item() == pytest.approx(3)
    assert sums["value"].item() == pytest.approx(
        0.1 * 4 + sum(v * c for v, c in zip([0.5, 0.25, 0.75, 0.5], counts, strict=True))
    )
    losses[1][0].backward()
    errors = [-0.4, -0.65, -0.15, 0.6]
    slopes = [
        0.3 * error * count * share
        for error, count, share in zip(errors, counts, shares, strict=True)
    ]
    assert value_BT.grad[batch.action_BT].tolist() == pytest.approx(slopes)
    assert not value_BT.grad[~batch.action_BT].any()


@pytest.mark.parametrize(
    ("clip", "errors", "clipped"),
    [(0.2, (0.3, 0.55, 0.05, 0.75), 3), (0.0, (0.25, 0.5, 0.0, 0.75), 0)],
)
def test_values_that_have_moved_far_are_clipped(clip, errors, clipped):
    """Values move by 0.25, and the range is 0.2: three towards a target of 1, one away from 0."""
    groups = [
        Group(
            0,
            [Trajectory("t", 0, [turn(2, 0.0), turn(1, 1.0)]), Trajectory("t", 1, [turn(1, 0.0)])],
        )
    ]
    batch = credited(groups, [0.5, 0.25, 0.75, 0.5])
    forward = ForwardOutput(batch.logp_BT, batch.logp_BT, None, batch.streams["value"] + 0.25)
    _, sums = PPO(value_clip=clip).loss(forward, batch)
    assert sums["value_loss"].item() == pytest.approx(sum(error**2 / 2 for error in errors))
    assert sums["value_clip_fraction"] == clipped


def test_it_needs_values_and_what_the_others_need():
    assert PPO().required_streams == {"value"}
    assert PPO(kl_coef=0.1, entropy_coef=0.1).required_streams == {"value", "reference", "entropy"}


def test_a_turn_without_an_observation_is_a_turn():
    groups = [Group(0, [Trajectory("t", 0, [turn(2, 0.0), turn(3, 1.0, prompt=0)])])]
    assert on_actions(credited(groups, [0.0] * 5, per="turn"), "value_weight") == [2, 0, 3, 0, 0]


def test_nothing_played():
    empty = [Group(0, [])]
    for per in ("token", "turn"):
        assert credited(empty, [], per=per).action_tokens == 0
