"""Streams against sums of token ids: the "value" before a token is the sum of the ids before it."""

import torch

from agentgym_train.data.batching import pack
from agentgym_train.data.types import Call, Group, Trajectory, Turn
from agentgym_train.distributed import Distributed
from agentgym_train.learning.update import fill_streams


def episode(*turns, next_ids=None):
    made = [Turn("", [Call(prompt, action, [-1.0] * len(action))]) for prompt, action in turns]
    next_call = None if next_ids is None else Call(next_ids)
    return Trajectory("", 0, made, next_call=next_call)


def values(micro):
    """Reads only earlier tokens, as a causal critic does; padding must not count."""
    ids = micro.id_BT.where(micro.valid_BT, torch.nan)
    return ids.cumsum(1) - ids


def filled(groups, streams=("value", "next_value"), max_tokens=16):
    return fill_streams(
        pack(groups),
        {*streams},
        {"value": values},
        distributed=Distributed(),
        max_tokens=max_tokens,
        groups=groups,
    )


CUT = episode(([1, 2], [3]), ([4], [5, 6]), next_ids=[7, 8])
COMPLETED = episode(([1], [2, 3]))
LONGER_PROMPT = episode(([10], [20]), next_ids=[30, 40, 50, 60, 70, 80, 90])
EMPTY_PROMPT = episode(([3], [4, 5]), next_ids=[])
UNPLAYED = Trajectory("", 0, [], next_call=Call([9]))
GROUPS = [
    Group(0, [UNPLAYED, CUT]),
    Group(1, []),
    Group(2, [COMPLETED, LONGER_PROMPT, EMPTY_PROMPT]),
]


def test_the_next_value_is_read_after_the_next_prompt():
    """The sums are 1 + … + 8 = 36, 10 + … + 90 = 450 and 3 + 4 + 5 = 12.

    Each is on the last action token. Micro-batches of one row and of all rows agree.
    """
    for max_tokens in (1, 16, 1000):
        batch = filled(GROUPS, max_tokens=max_tokens)
        next_BT = batch.streams["next_value"]
        assert next_BT.sum(1).tolist() == [36, 0, 450, 12]
        last = [row.nonzero()[-1].item() for row in batch.action_BT]
        assert next_BT[range(4), last].tolist() == [36, 0, 450, 12]


def test_the_tokens_of_a_critic_cross_processes_once(monkeypatch):
    plans = []
    monkeypatch.setattr(Distributed, "gather", lambda self, value: plans.append(value) or [value])
    filled(GROUPS)
    assert len(plans) == 1


def test_values_and_tokens_are_those_without_it():
    plain, ours = filled(GROUPS, streams=["value"]), filled(GROUPS)
    assert ours.streams["value"].tolist() == plain.streams["value"].tolist()
    assert set(ours.streams) - set(plain.streams) == {"next_value"}
    for name, tensor in vars(plain).items():
        if name != "streams":
            assert torch.equal(tensor, getattr(ours, name)), name


def test_a_prompt_that_was_kept_is_no_token_of_the_batch():
    kept = [Group(0, [CUT])]
    dropped = [Group(0, [episode(([1, 2], [3]), ([4], [5, 6]))])]
    for name, tensor in vars(pack(dropped)).items():
        if name != "streams":
            assert torch.equal(tensor, getattr(pack(kept), name)), name


def test_nothing_played():
    for groups in ([], [Group(0, [])], [Group(0, [UNPLAYED])]):
        assert filled(groups).streams["next_value"].tolist() == []
