import json

from gymnasium.utils.env_checker import check_space_limit
from gymnasium.vector.utils import batch_space
from raised import raises

from agentgym_envs.spaces import Unicode


def test_every_string_and_nothing_else_is_contained():
    space = Unicode()
    for text in ("", "go north", "漢字\n\x00", "\ud800", "x" * 10**6):
        assert text in space
    for other in (b"bytes", 1, None, ["a"]):
        assert other not in space


def test_samples_are_reproducible_and_round_trip_through_json():
    a, b = Unicode(seed=3), Unicode(seed=3)
    samples = [a.sample() for _ in range(50)]
    assert samples == [b.sample() for _ in range(50)]
    assert len(set(samples)) > 40
    assert a.from_jsonable(json.loads(json.dumps(a.to_jsonable(samples)))) == samples


def test_it_batches_and_has_no_flat_form():
    assert Unicode().is_np_flattenable is False
    assert len(batch_space(Unicode(), 3).sample()) == 3
    check_space_limit(Unicode(), "observation")


def test_equality_and_bad_arguments():
    assert Unicode() == Unicode()
    assert Unicode(sample_length=3) != Unicode()
    with raises(ValueError, "not 0"):
        Unicode(sample_length=0)
    with raises(ValueError, "mask"):
        Unicode().sample(mask=1)
