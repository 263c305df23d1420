import torch
from hypothesis import given
from hypothesis import strategies as st

from agentgym_train.batching import pack
from agentgym_train.types import Group, Trajectory, Turn

turns = st.builds(
    lambda p, a, r, v: Turn("", p, a, [-0.5] * len(a), v, reward=r),
    st.lists(st.integers(4, 99), max_size=6),
    st.lists(st.integers(4, 99), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.integers(0, 9),
)
groups = st.lists(
    st.lists(st.lists(turns, min_size=1, max_size=4), min_size=1, max_size=4).map(
        lambda rows: Group(0, [Trajectory("", 0, row) for row in rows])
    ),
    min_size=1,
    max_size=4,
)


def test_the_documented_example():
    t = Trajectory("", 0, [Turn("", [1, 2, 3], [4, 5], [-1, -2], 7, reward=0.5), Turn("", [6, 7], [8], [-3], 8, reward=1.0)])
    batch = pack([Group(0, [t])])
    assert batch.id_BT.tolist() == [[1, 2, 3, 4, 5, 6, 7, 8]]
    assert batch.action_BT.int().tolist() == [[0, 0, 0, 1, 1, 0, 0, 1]]
    assert batch.turn_BT.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1]]
    assert batch.logp_BT.tolist() == [[0, 0, 0, -1, -2, 0, 0, -3]]
    assert batch.reward_BT.tolist() == [[0, 0, 0, 0, 0.5, 0, 0, 1.0]]
    assert batch.version_BT.tolist() == [[7] * 5 + [8] * 3]


@given(groups)
def test_the_reward_reaches_action_tokens_and_nothing_is_lost(groups):
    batch = pack(groups)
    everything = [t for g in groups for t in g.trajectories]
    assert batch.reward_BT[~batch.action_BT].abs().sum() == 0
    torch.testing.assert_close(batch.return_B(), torch.tensor([t.total_reward for t in everything]))
    assert batch.action_tokens == sum(len(turn.action_ids) for t in everything for turn in t.turns)
    for row, t in enumerate(everything):
        ids = [i for turn in t.turns for i in turn.prompt_ids + turn.action_ids]
        assert batch.id_BT[row, batch.token_BT[row]].tolist() == ids
        assert batch.action_BT.shape == batch.id_BT.shape


@given(groups, st.integers(1, 60), st.integers(1, 3))
def test_splitting_keeps_every_trajectory_once_and_the_bound(groups, bound, parts):
    batch = pack(groups)
    minis = batch.mini_batches(parts)
    micros = [m for mini in minis for m in mini.micro_batches(bound)]
    key = lambda b: sorted(tuple(b.id_BT[r, b.token_BT[r]].tolist()) for r in range(len(b.id_BT)))  # noqa: E731
    assert sorted(k for m in micros for k in key(m)) == key(batch)
    for micro in micros:
        assert micro.id_BT.numel() <= bound or len(micro.id_BT) == 1
    owners = [set(m.group_B.tolist()) for m in minis]
    assert sum(map(len, owners)) == len(set().union(*owners)), "a group was split between optimizer steps"


def test_an_idle_batch_carries_no_loss():
    idle = pack([Group(0, [Trajectory("", 0, [Turn("", [1], [2], [-1.0])])])]).idle()
    assert idle.action_tokens == 0
    assert idle.token_BT.tolist() == [[True]]
