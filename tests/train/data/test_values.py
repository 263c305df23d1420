"""Values arrive at other processes as pickled ones do, and no bytes run code."""

import math
import os
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from agentgym_envs.errors import MissingExtra
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Call, EpisodeFailure, EpisodeStatus, Group, Trajectory, Turn
from agentgym_train.data.values import pack, unpack
from agentgym_train.errors import CheckpointError, TrainingError

TURN = Turn(
    "a\ud800\n",
    [Call([1, 2], [3], [-0.1, -math.inf], version=2, cut=True)],
    action="go",
    reward=0.1 + 0.2,
    invalid=True,
)
TRAJECTORY = Trajectory(
    "task", 2**70, [TURN], EpisodeStatus.TRUNCATED_HORIZON, np.float64(0.1), next_call=Call([])
)
VALUES = [
    None,
    [True, 1, 1.0, -0.0, 5e-324, 1.7976931348623157e308, math.inf, "é\x00", None],
    {1: "a", "1": ("b", [()]), None: {2}, (1, 2): frozenset({"c"})},
    {"dict": {"tensor": []}, "tuple": ["list"]},
    [b"", b"\x00\xff", [b"between"], np.bool_(True), np.float32(0.1), np.int64(-1), np.float16(2)],
    [Path("/a/b"), EpisodeStatus.COMPLETED, [EpisodeFailure("t", 1, 2, "late", given_up=True)]],
    (Group(3, [TRAJECTORY], [TRAJECTORY]), [[1.5], []]),
]

KINDS = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16),
    torch.complex64,
]


def same(found, wanted):
    """Types and bits are equal; pickles of equal values can differ in shared parts."""
    assert type(found) is type(wanted)
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for pair in zip(found, wanted, strict=True):
            same(*pair)
    elif isinstance(wanted, dict):
        same(list(found.items()), list(wanted.items()))
    elif hasattr(wanted, "__dataclass_fields__"):
        same(vars(found), vars(wanted))
    elif isinstance(wanted, torch.Tensor):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        bits = [
            each.contiguous().reshape(-1).view(torch.uint8).tolist() for each in (found, wanted)
        ]
        assert bits[0] == bits[1]
    elif isinstance(wanted, np.ndarray):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tobytes() == wanted.tobytes()
    else:
        assert repr(found) == repr(wanted)  # tells -0.0 from 0.0


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_values_arrive_as_pickled_ones_do(value):
    same(unpack(pack(value)), pickle.loads(pickle.dumps(value)))


def test_numbers_of_all_kinds_arrive_bit_for_bit():
    bits = np.random.default_rng(0).integers(0, 256, (3, 16), dtype=np.uint8)
    numbers = [
        np.ascontiguousarray(bits).view(letter) for letter in ("<f4", "<f8", ">i2", "<c8", "u1")
    ]
    values = [*numbers, numbers[1].T, np.array(1.5), np.zeros((0, 2))]
    same(unpack(pack(values)), values)
    floats = numbers[1].ravel().tolist()
    same(unpack(pack(floats)), floats)
    assert all(map(math.isnan, unpack(pack([math.nan, np.float32("nan")]))))
    whole = torch.tensor(bits[0])
    tensors = [whole.view(each) for each in KINDS] + [
        torch.tensor(2.5, dtype=torch.bfloat16, requires_grad=True),
        torch.zeros(2, 0, 3, dtype=torch.int64),
        torch.arange(6).reshape(2, 3).T,
        torch.tensor([[True, False]]),
    ]
    same(unpack(pack(tensors)), [each.detach() for each in tensors])
    batch = Batch(
        *[torch.ones(1, 2)] * 8, *[torch.zeros(1)] * 3, streams={"value": torch.ones(1, 2)}
    )
    same(unpack(pack([batch])), [batch])


@pytest.mark.parametrize(
    ("raised", "kind", "text"),
    [
        (CheckpointError("damaged"), CheckpointError, "damaged"),
        (MissingExtra("Shop", "shop"), MissingExtra, str(MissingExtra("Shop", "shop"))),
        (
            FileNotFoundError(2, "none", "a"),
            TrainingError,
            "FileNotFoundError: [Errno 2] none: 'a'",
        ),
    ],
)
def test_errors_arrive_with_their_message(raised, kind, text):
    found = unpack(pack(raised))
    assert (type(found), str(found)) == (kind, text)


class Unknown:
    pass


@pytest.mark.parametrize("value", [Unknown(), [{"a": (Unknown(),)}], len, np.array([Unknown()])])
def test_a_value_of_another_type_is_refused_by_its_sender(value):
    with pytest.raises(TypeError, match="cannot go to another process"):
        pack(value)


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_bytes_of_a_stranger_are_an_error_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random_ = random.Random(0)
    good = pack([TRAJECTORY, torch.ones(3), np.ones(2), {"a": b"bytes"}, CheckpointError("x")])
    names = [b'{"Popen": ["true"]}', b'{"error": ["system", "true"]}', b'{"Path": 1}', b"[" * 10**5]
    names += [b'{"array": ["O", [1], 8]}', b'{"tensor": ["torch.load", [1], 0]}', b'{"dict": 1}']
    strange = [pickle.dumps(Bomb()), b"", b"\xff" * 20]
    strange += [len(each).to_bytes(8) + each + bytes(8) for each in names]
    for _ in range(2000):
        flipped = bytearray(good)
        flipped[random_.randrange(len(good))] ^= 1 << random_.randrange(8)
        strange.append(bytes(flipped[: random_.choice([len(good), random_.randrange(len(good))])]))
    outcomes = set()
    for each in strange:
        try:
            found = unpack(each)
        except TrainingError as error:
            found = error
        outcomes.add(type(found))
    assert outcomes <= {TrainingError, list}, "a value of the types that can be sent"
    assert not list(tmp_path.iterdir())
    with pytest.raises(TrainingError, match="cannot be read"):
        unpack(strange[0])
