import torch
from hypothesis import given
from hypothesis import strategies as st
from raised import raises

from agentgym_train.data.batching import pack
from agentgym_train.data.load_balancing import share_out
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.learning.update import fill_streams

turns = st.builds(
    lambda p, a, r, v: Turn("", [Call(p, a, [-0.5] * len(a), version=v)], reward=r),
    st.lists(st.integers(4, 99), max_size=6),
    st.lists(st.integers(4, 99), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.integers(0, 9),
)
groups = st.lists(
    st.lists(st.lists(turns, min_size=1, max_size=4), max_size=4), min_size=1, max_size=6
).map(
    lambda groups: [
        Group(number, [Trajectory("", 0, row) for row in rows])
        for number, rows in enumerate(groups)
    ]
)
"""Groups of a step; some are empty, as if all their episodes had failed."""


def test_the_documented_example():
    t = Trajectory(
        "",
        0,
        [
            Turn("", [Call([1, 2, 3], [4, 5], [-1, -2], version=7)], reward=0.5),
            Turn("", [Call([6, 7], [8], [-3], version=8)], reward=1.0),
        ],
    )
    batch = pack([Group(0, [t])])
    assert batch.id_BT.tolist() == [[1, 2, 3, 4, 5, 6, 7, 8]]
    assert batch.action_BT.int().tolist() == [[0, 0, 0, 1, 1, 0, 0, 1]]
    assert batch.turn_BT.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1]]
    assert batch.logp_BT.tolist() == [[0, 0, 0, -1, -2, 0, 0, -3]]
    assert batch.reward_BT.tolist() == [[0, 0, 0, 0, 0.5, 0, 0, 1.0]]
    assert batch.version_BT.tolist() == [[7] * 5 + [8] * 3]


def by_token(groups):
    """Packs token by token: the streams of each trajectory with an action, as lists."""
    rows = []
    for t in (t for g in groups for t in g.trajectories if any(n.action_ids for n in t.calls)):
        row = []
        for number, turn in enumerate(t.turns):
            (call,) = turn.calls
            for token in call.prompt_ids:
                row.append((token, True, False, 0.0, 0.0, number, call.version))
            for place, token in enumerate(call.action_ids):
                reward = turn.reward if place == len(call.action_ids) - 1 else 0.0
                row.append((token, True, True, call.logps[place], reward, number, call.version))
        rows.append(row)
    width = max(map(len, rows), default=1)
    nothing = (0, False, False, 0.0, 0.0, 0, 0)
    padded = [row + [nothing] * (width - len(row)) for row in rows]
    return [[[token[n] for token in row] for row in padded] for n in range(7)], width


FIELDS = {
    "id_BT": torch.int64,
    "valid_BT": torch.bool,
    "action_BT": torch.bool,
    "logp_BT": torch.float32,
    "reward_BT": torch.float64,
    "turn_BT": torch.int64,
    "version_BT": torch.int64,
}
uneven_turns = st.builds(
    lambda p, a, r, v: Turn(
        "", [Call(p, [i for i, _ in a], [logp for _, logp in a], version=v)], reward=r
    ),
    st.lists(st.integers(0, 99), max_size=6),
    st.lists(st.tuples(st.integers(0, 99), st.floats(-9, 0)), max_size=4),
    st.floats(-2, 2) | st.integers(-2, 2),
    st.integers(0, 9),
)


@given(st.lists(st.lists(st.lists(uneven_turns, max_size=4), max_size=4), max_size=4))
def test_packing_by_turn_equals_packing_by_token(rows):
    """Turns can have no prompt, no action, or neither; a trajectory can have no turn."""
    groups = [Group(n, [Trajectory("", 0, turns) for turns in each]) for n, each in enumerate(rows)]
    batch = pack(groups)
    update, width = by_token(groups)
    for (name, dtype), stream in zip(FIELDS.items(), update, strict=True):
        wanted = torch.tensor(stream, dtype=dtype).reshape(len(stream), width)
        torch.testing.assert_close(getattr(batch, name), wanted, rtol=0, atol=0)


def test_each_action_token_needs_a_log_probability():
    turns = [Turn("", [Call([1], [2, 3], [-1.0])]), Turn("", [Call([1], [2], [-1.0, -2.0])])]
    with raises(ValueError, "2 action tokens", "1 log-probabilities"):
        pack([Group(0, [Trajectory("", 0, turns)])])


def test_a_stream_is_filled_in_the_batchs_order_and_at_action_tokens_alone():
    lengths = [3, 9, 1, 5]
    trajectories = [
        Trajectory("", 0, [Turn("", [Call([7, 7], [n] * length, [-1.0] * length, version=0)])])
        for n, length in enumerate(lengths, 4)
    ]
    batch = pack([Group(0, trajectories)])
    filled = fill_streams(
        batch,
        {"value", "kl"},
        {"value": lambda micro: micro.id_BT},
        distributed=Distributed(),
        max_tokens=16,
    )
    assert filled.streams["value"].tolist() == (batch.id_BT * batch.action_BT).tolist()
    assert "kl" not in filled.streams, "nothing computes it"


@given(groups)
def test_the_reward_reaches_action_tokens_and_nothing_is_lost(groups):
    batch = pack(groups)
    everything = [t for g in groups for t in g.trajectories]
    assert batch.reward_BT[~batch.action_BT].abs().sum() == 0
    returns = torch.tensor([t.total_reward for t in everything], dtype=torch.float64)
    torch.testing.assert_close(batch.return_B(), returns)
    assert batch.action_tokens == sum(len(call.action_ids) for t in everything for call in t.calls)
    for row, t in enumerate(everything):
        ids = [i for call in t.calls for i in call.prompt_ids + call.action_ids]
        assert batch.id_BT[row, batch.valid_BT[row]].tolist() == ids
        assert batch.action_BT.shape == batch.id_BT.shape


def micros_of(batch, bound):
    return [share.micro for share in share_out(batch, Distributed(), bound)]


@given(groups, st.integers(1, 60), st.integers(1, 4), st.integers(1, 3))
def test_splitting_keeps_every_trajectory_once_and_the_bound(groups, bound, parts, processes):
    key = lambda b: sorted(tuple(b.id_BT[r, b.valid_BT[r]].tolist()) for r in range(len(b.id_BT)))  # noqa: E731
    whole = pack(groups)
    minis = [
        pack(groups[rank::processes]).mini_batches(parts, len(groups)) for rank in range(processes)
    ]
    micros = [m for mine in minis for mini in mine for m in micros_of(mini, bound)]
    assert sorted(k for m in micros for k in key(m)) == key(whole)
    for micro in micros:
        assert micro.id_BT.numel() <= bound or len(micro.id_BT) == 1
    for part, alone in enumerate(whole.mini_batches(parts, len(groups))):
        together = [mine[part] for mine in minis]
        assert sorted(k for b in together for k in key(b)) == key(alone), (
            "a part is the same however many processes share it"
        )
        numbers = {n for b in together for n in b.group_B.tolist()}
        assert all(part * len(groups) <= n * parts < (part + 1) * len(groups) for n in numbers)


def test_a_process_with_one_group_shares_in_mini_batches():
    """Two processes with one group each, two parts: each part is empty on one process."""
    made = [Group(n, [Trajectory("", 0, [Turn("", [Call([1], [2], [-1.0])])])]) for n in range(2)]
    sizes = [[mini.action_tokens for mini in pack([group]).mini_batches(2, 2)] for group in made]
    assert sizes == [[1, 0], [0, 1]]


def test_rows_know_their_episode():
    done, empty = Turn("", [Call([1], [2], [-1.0])]), Turn("", [Call([1])])
    made = [
        Group(3, [Trajectory("a", 0, [done]), Trajectory("b", 0, [empty])]),
        Group(5, [Trajectory("c", 0, [done])]),
    ]
    batch = pack(made)
    assert (batch.group_B.tolist(), batch.episode_B.tolist()) == ([3, 5], [0, 2])


def test_an_idle_batch_carries_no_loss():
    idle = pack([Group(0, [Trajectory("", 0, [Turn("", [Call([1], [2], [-1.0])])])])]).idle()
    assert idle.action_tokens == 0
    assert idle.valid_BT.tolist() == [[True]]


def test_masked_cut_actions_keep_their_reward_and_leave_the_loss():
    whole = Turn("", [Call([1, 2], [3, 4], [-0.1, -0.2])], reward=0.25)
    cut = Turn("", [Call([5], [6, 7], [-0.3, -0.4], cut=True)], reward=0.5)
    groups = [Group(0, [Trajectory("a", 0, [whole, cut]), Trajectory("a", 0, [cut])])]
    masked, plain = pack(groups, mask_cut_actions=True), pack(groups)
    assert masked.action_BT.tolist() == [[0, 0, 1, 1, 0, 0, 0], [0] * 7]
    assert masked.action_tokens == 2
    assert plain.action_tokens == 6
    assert masked.return_B().tolist() == plain.return_B().tolist() == [0.75, 0.5]
    assert torch.equal(masked.id_BT, plain.id_BT)
