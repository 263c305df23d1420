import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs.errors import UnknownName
from agentgym_train import plugins
from agentgym_train.errors import ConfigError


def test_the_published_schedule():
    """Steps 1-80 → 8, 81-160 → 12, 161 and on → 15; the trainer counts from 0."""
    curriculum = plugins.make(plugins.CURRICULUM, {"name": "scaling_inter", "rounds": [8, 12, 15], "every": 80})
    assert [curriculum.horizon(s - 1) for s in (1, 80, 81, 160, 161, 10_000)] == [8, 8, 12, 12, 15, 15]


@given(rounds=st.lists(st.integers(1, 99), min_size=1, max_size=6), every=st.integers(1, 50))
def test_every_stage_but_the_last_lasts_exactly_every_steps(rounds, every):
    curriculum = plugins.make(plugins.CURRICULUM, {"name": "scaling_inter", "rounds": rounds, "every": every})
    horizons = [curriculum.horizon(s) for s in range(every * (len(rounds) + 2))]
    expected = [h for h in rounds[:-1] for _ in range(every)]
    assert horizons[: len(expected)] == expected
    assert set(horizons[len(expected) :]) == {rounds[-1]}


def test_fixed_is_fixed():
    curriculum = plugins.make(plugins.CURRICULUM, {"name": "fixed", "turns": 7})
    assert {curriculum.horizon(s) for s in (0, 5, 10**9)} == {7}
    assert curriculum.state_dict() == {}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"name": "scaling_inter", "rounds": [8, 0], "every": 5}, ConfigError, r"curriculum\.rounds\.1.*not 0"),
        ({"name": "scaling_inter", "rounds": [], "every": 5}, ConfigError, r"curriculum\.rounds.*at least 1 item"),
        ({"name": "scaling_inter", "rounds": [8], "every": 0}, ConfigError, r"curriculum\.every.*not 0"),
        ({"name": "scaling_inter", "round": [8], "every": 5}, ConfigError, "Did you mean 'curriculum.rounds'"),
        ({"name": "scaling_inter", "rounds": "long", "every": 5}, ConfigError, r"curriculum\.rounds.*'long'"),
        ({"name": "fixed", "turns": -1}, ConfigError, r"curriculum\.turns.*not -1"),
        ({"name": "fixed", "turns": 1.5}, ConfigError, r"curriculum\.turns.*not 1.5"),
        ({"name": "fixed", "turns": True}, ConfigError, r"curriculum\.turns.*not True"),
        ({"name": "fixd", "turns": 1}, UnknownName, "unknown curriculum 'fixd'. Did you mean 'fixed'"),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        plugins.make(plugins.CURRICULUM, options)
