"""PPO that bootstraps episodes which were truncated at the horizon.

The references are numbers worked out by hand and mixtures of n-step returns over lists.
"""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train.algorithms.ppo import PPO
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed

PER = pytest.mark.parametrize("per", ["token", "turn"])


def turn(tokens, reward):
    return Turn("", [Call([5, 5], [7] * tokens, [-1.0] * tokens)], reward=reward)


def credited(episodes, values, next_values, **options):
    """Returns the batch with advantages.

    Args:
        episodes: lists of turns.
        values: the value at each action token of each episode.
        next_values: the value after each episode; 0: the environment ended it.
        options: those of PPO.
    """
    groups = [Group(n, [Trajectory("", n, turns)]) for n, turns in enumerate(episodes)]
    batch = pack(groups)
    value_BT, next_BT = torch.zeros_like(batch.logp_BT), torch.zeros_like(batch.logp_BT)
    value_BT[batch.action_BT] = torch.tensor([v for row in values for v in row])
    for row, number in enumerate(next_values):
        next_BT[row, batch.action_BT[row].nonzero()[-1]] = number
    return PPO(**{"normalise": False, "bootstrap": True} | options).compute_advantages(
        batch.with_streams(value=value_BT, next_value=next_BT), groups, Distributed()
    )


def rows(batch, name):
    """Returns a stream's numbers at the action tokens of each trajectory."""
    assert not batch.streams[name][~batch.action_BT].any()
    pairs = zip(batch.streams[name], batch.action_BT, strict=True)
    return [stream[action].tolist() for stream, action in pairs]


CUT_AND_COMPLETED = [[turn(2, 0.0), turn(2, 1.0)], [turn(2, 0.0), turn(2, 1.0)]]
VALUES = [[0.5, 0.25, 0.75, 0.5]] * 2


def test_tokens_by_hand():
    """Values ½, ¼, ¾ and ½; γ = ½ per turn, λ = 0.8 per token; the value after the cut is 2.

    The last error is 1 + ½·2 − ½ = 1½ in the cut episode, and 1 − ½ = ½ in the completed one. The
    others are the same: ½ − ¾ = −¼ without a discount inside a turn, ½·¾ − ¼ = ⅛, and ¼ − ½ = −¼.
    """
    batch = credited(CUT_AND_COMPLETED, VALUES, [2.0, 0.0], gamma=0.5, lam=0.8)
    expected = []
    for last in (1.5, 0.5):
        third = -0.25 + 0.8 * last
        second = 0.125 + 0.5 * 0.8 * third
        expected.append([-0.25 + 0.8 * second, second, third, last])
    for got, wanted in zip(rows(batch, "advantage"), expected, strict=True):
        assert got == pytest.approx(wanted)
    for got, wanted, value in zip(rows(batch, "return"), expected, VALUES, strict=True):
        assert got == pytest.approx([a + v for a, v in zip(wanted, value, strict=True)])


def test_turns_by_hand():
    """The values before the turns are ½ and ¾.

    The last error is 1 + ½·2 − ¾ = 1¼ in the cut episode, and 1 − ¾ = ¼ in the completed one. The
    first error is ½·¾ − ½ = −⅛ in both.
    """
    batch = credited(CUT_AND_COMPLETED, VALUES, [2.0, 0.0], gamma=0.5, lam=0.8, per="turn")
    for got, last in zip(rows(batch, "advantage"), (1.25, 0.25), strict=True):
        first = -0.125 + 0.5 * 0.8 * last
        assert got == pytest.approx([first, first, last, last])
    assert rows(batch, "return")[0] == pytest.approx([0.5 - 0.125 + 0.5, 0, 2.0, 0])


@PER
def test_gamma_0_sees_nothing_after_a_turn(per):
    batch = credited(CUT_AND_COMPLETED, VALUES, [2.0, 0.0], gamma=0.0, lam=0.8, per=per)
    cut, completed = rows(batch, "advantage")
    assert cut == completed
    assert cut[-1] == pytest.approx(0.5 if per == "token" else 0.25)


def n_step_mixture(steps, next_value, end, *, gamma, lam):
    """Returns the advantages of one episode: Σ (1 − λ) λⁿ⁻¹ (n-step return), less the value.

    Args:
        steps: (reward, value, turn) of each step.
        next_value: the value after the last step.
        end: the turn of the state after the last step.
    """
    values = [value for _, value, _ in steps] + [next_value]
    turns = [number for *_, number in steps] + [end]
    advantages = []
    for i in range(len(steps)):
        total, returns = 0.0, []
        for j in range(i, len(steps)):
            total += gamma ** (turns[j] - turns[i]) * steps[j][0]
            returns.append(total + gamma ** (turns[j + 1] - turns[i]) * values[j + 1])
        mixed = sum((1 - lam) * lam**n * one for n, one in enumerate(returns[:-1]))
        advantages.append(mixed + lam ** (len(returns) - 1) * returns[-1] - values[i])
    return advantages


number = st.floats(-2, 2, width=32)
played = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(1, 4), number), min_size=1, max_size=4),
        st.one_of(st.just(0.0), number),
    ),
    min_size=1,
    max_size=3,
)


@given(played, st.floats(0, 1), st.floats(0, 1), st.sampled_from(["token", "turn"]), st.data())
def test_it_is_the_mixture_of_n_step_returns(episodes, gamma, lam, per, data):
    turns = [[turn(count, reward) for count, reward in each] for each, _ in episodes]
    lengths = [sum(count for count, _ in each) for each, _ in episodes]
    values = [data.draw(st.lists(number, min_size=n, max_size=n)) for n in lengths]
    batch = credited(turns, values, [last for _, last in episodes], gamma=gamma, lam=lam, per=per)
    for (each, last), value, got in zip(episodes, values, rows(batch, "advantage"), strict=True):
        steps, start = [], 0
        for n, (count, reward) in enumerate(each):
            inner = 0 if per == "turn" else count - 1
            steps += [(0.0, value[start + k], n) for k in range(inner)]
            steps.append((reward, value[start + inner], n))
            start += count
        wanted = n_step_mixture(steps, last, len(each), gamma=gamma, lam=lam)
        if per == "turn":
            counts = [count for count, _ in each]
            wanted = [a for a, c in zip(wanted, counts, strict=True) for _ in range(c)]
        assert got == pytest.approx(wanted, abs=1e-4)


HORIZON, GAMMA, REWARD = 10, 0.95, 0.1
TRUE_VALUE = REWARD / (1 - GAMMA)  # 2.0: the task goes on for ever


def at_every_distance(value, *, bootstrap, lam=1.0, per="token"):
    """Returns the advantages of ten equal actions; the critic gives all states one value."""
    batch = credited(
        [[turn(1, REWARD) for _ in range(HORIZON)]],
        [[value] * HORIZON],
        [value],
        gamma=GAMMA,
        lam=lam,
        per=per,
        bootstrap=bootstrap,
    )
    return rows(batch, "advantage")[0]


def test_without_it_the_distance_to_the_cut_decides():
    """The critic has learned 0.475, the mean of the returns that the horizon leaves."""
    cut = at_every_distance(0.475, bootstrap=False)
    assert (cut[0], cut[-1]) == (pytest.approx(0.328, abs=5e-4), pytest.approx(-0.375))


@PER
@pytest.mark.parametrize("lam", [0.0, 0.9, 1.0])
def test_equal_actions_have_equal_advantages_if_the_value_is_right(per, lam):
    assert at_every_distance(TRUE_VALUE, bootstrap=True, lam=lam, per=per) == pytest.approx(
        [0.0] * HORIZON, abs=1e-5
    )


def test_it_asks_for_the_value_of_the_next_state():
    assert PPO(bootstrap=True).required_streams == {"value", "next_value"}
    assert "next_value" not in PPO().required_streams
