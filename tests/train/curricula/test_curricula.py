import json
import math
import tomllib
from itertools import pairwise

import numpy as np
import pytest
import shipped
from hypothesis import given
from hypothesis import strategies as st
from raised import raises

from agentgym_envs import plugins as discovery
from agentgym_envs.errors import UnknownName
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.curricula import adaptive
from agentgym_train.errors import ConfigError
from agentgym_train.rollout import tasks
from agentgym_train.run import prepare


def test_the_published_schedule():
    """Steps 1-80 → 8, 81-160 → 12, 161 and on → 15; the trainer counts from 0."""
    curriculum = plugins.make_object(
        plugins.CURRICULUM, {"name": "scaling_inter", "rounds": [8, 12, 15], "every": 80}
    )
    assert [curriculum.horizon(s - 1) for s in (1, 80, 81, 160, 161, 10_000)] == [
        8,
        8,
        12,
        12,
        15,
        15,
    ]


@given(rounds=st.lists(st.integers(1, 99), min_size=1, max_size=6), every=st.integers(1, 50))
def test_every_stage_but_the_last_lasts_exactly_every_steps(rounds, every):
    curriculum = plugins.make_object(
        plugins.CURRICULUM, {"name": "scaling_inter", "rounds": rounds, "every": every}
    )
    horizons = [curriculum.horizon(s) for s in range(every * (len(rounds) + 2))]
    expected = [h for h in rounds[:-1] for _ in range(every)]
    assert horizons[: len(expected)] == expected
    assert set(horizons[len(expected) :]) == {rounds[-1]}


def test_fixed_is_fixed():
    curriculum = plugins.make_object(plugins.CURRICULUM, {"name": "fixed", "turns": 7})
    assert {curriculum.horizon(s) for s in (0, 5, 10**9)} == {7}
    assert curriculum.state_dict() == {}


def make(name, **options):
    return plugins.make_object(plugins.CURRICULUM, {"name": name, **options})


def test_a_start_an_increment_and_an_interval_are_the_stages_8_12_16():
    listed = make("scaling_inter", rounds=[8, 12, 16], every=80)
    grown = make("scaling_inter", start=8, delta=4, every=80, limit=16)
    assert [grown.horizon(s) for s in range(500)] == [listed.horizon(s) for s in range(500)]
    endless = make("scaling_inter", start=8, delta=4, every=80)
    assert [endless.horizon(s) for s in (0, 79, 80, 240, 799)] == [8, 8, 12, 20, 44]
    assert make("scaling_inter", start=8, delta=4, every=80, limit=14).horizon(10**6) == 14


def watch(curriculum, *steps):
    """Shows success, truncated share, and perhaps invalid share and KL of steps.

    Returns the horizon after each step.
    """
    horizons = []
    for success, truncated, *more in steps:
        metrics = {"success": success, "truncated_horizon": truncated, "invalid": 0.0, "loss": 3.0}
        curriculum.observe(metrics | dict(zip(("invalid", "kl"), more, strict=False)))
        horizons.append(curriculum.horizon(0))
    return horizons


ADAPTIVE = {
    "start": 4,
    "limit": 16,
    "growth": 2.0,
    "window": 2,
    "rise": 2.5,
    "truncated": 0.25,
    "collapse": 0.25,
    "max_kl": 0.5,
}


def test_more_turns_once_the_rise_is_small_against_its_standard_error():
    """The slope of the last four steps is 4.2 standard errors at first, then 2.8 or 1.3.

    By hand for 0, 1, 1, 2: slope 0.6, residuals 0.1, -0.3, 0.3, -0.1, error (0.2 / 2 / 5)^0.5.
    """
    rising = [(0.0, 1.0), (0.25, 1.0), (0.25, 1.0), (0.5, 1.0)]
    assert watch(make("adaptive", **ADAPTIVE), *rising) == [4] * 4
    assert watch(make("adaptive", **ADAPTIVE | {"rise": 4.3}), *rising) == [4, 4, 4, 8]
    assert watch(make("adaptive", **ADAPTIVE), *rising, (0.5, 1.0)) == [4] * 5
    assert watch(make("adaptive", **ADAPTIVE), *rising, (0.375, 1.0)) == [4] * 4 + [8]


@given(st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=4, max_size=40))
def test_the_rise_is_that_of_numpy(values):
    (slope, _), covariance = np.polyfit(np.arange(len(values)), values, 1, cov=True)
    error = covariance[0, 0] ** 0.5
    if error > 1e-6:
        assert adaptive.rise(values) == pytest.approx(slope / error, rel=1e-4, abs=1e-6)


def test_a_rise_without_scatter_is_certain():
    assert adaptive.rise([0.25, 0.25]) == 0.0
    assert adaptive.rise([0.0, 0.5, 1.0]) == math.inf
    assert adaptive.rise([1.0, 0.5]) == -math.inf


def test_each_stage_is_judged_by_its_own_steps_and_the_last_one_stays():
    assert watch(make("adaptive", **ADAPTIVE), *[(0.5, 1.0)] * 20) == [4] * 3 + [8] * 4 + [16] * 13


def test_where_episodes_no_longer_reach_the_horizon_more_turns_would_change_nothing():
    assert watch(make("adaptive", **ADAPTIVE), *[(0.5, 0.25)] * 4)[-1] == 8
    cut = [(0.5, 0.5), (0.5, 0.5), (0.5, 0.25), (0.5, 0.125)]
    assert watch(make("adaptive", **ADAPTIVE), *cut)[-1] == 4
    assert watch(make("adaptive", **ADAPTIVE), *[(0.5, 0.125)] * 20)[-1] == 4


def test_a_fall_below_the_best_window_of_the_stage_steps_back():
    """On 8 turns the best window is 0.875. A window of 0.5625 is a collapse, 0.625 is not."""
    on_eight = [*[(0.5, 1.0)] * 4, (0.875, 0.0), (0.875, 0.0), (0.625, 0.0), (0.625, 0.0)]
    assert watch(make("adaptive", **ADAPTIVE), *on_eight)[-1] == 8
    assert watch(make("adaptive", **ADAPTIVE), *on_eight, (0.5, 0.0))[-1] == 4
    fallen = watch(make("adaptive", **ADAPTIVE), *on_eight, (0.5, 0.0), *[(0.5, 1.0)] * 4)
    assert fallen[-5:] == [4, 4, 4, 4, 8], "the stage is judged anew"


def test_invalid_actions_and_divergence_step_back_too():
    """The lowest window has 0.125 invalid actions, so 0.375 is not a collapse."""
    on_eight = [*[(0.5, 1.0)] * 4, (0.5, 0.0, 0.125), (0.5, 0.0, 0.125)]
    more = [(0.5, 0.0, 0.25), (0.5, 0.0, 0.5)]
    assert watch(make("adaptive", **ADAPTIVE), *on_eight, *more)[-1] == 8
    assert watch(make("adaptive", **ADAPTIVE), *on_eight, *more, (0.5, 0.0, 0.5))[-1] == 4
    far = [(0.5, 0.0, 0.125, 0.5), (0.5, 0.0, 0.125, 0.5)]
    assert watch(make("adaptive", **ADAPTIVE), *on_eight, *far)[-1] == 8
    assert watch(make("adaptive", **ADAPTIVE), *on_eight, *far, (0.5, 0.0, 0.125, 0.75))[-1] == 4


def test_one_good_step_is_no_window():
    """On 8 turns the first window is 0.75, so 0.5 is not a collapse.

    Compared with the 1.0 of a single step it would be one.
    """
    steps = [*[(0.5, 1.0)] * 4, (1.0, 0.0), (0.5, 0.0), (0.5, 0.0)]
    assert watch(make("adaptive", **ADAPTIVE), *steps)[-1] == 8


def test_a_collapse_on_the_first_stage_is_no_plateau():
    falling = [(1.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]
    assert watch(make("adaptive", **ADAPTIVE), *falling) == [4] * 5


def test_a_collapse_on_the_last_stage_is_remembered_however_long_it_lasted():
    steps = [*[(0.5, 1.0)] * 8, *[(0.75, 1.0)] * 9, (0.0, 1.0)]
    assert watch(make("adaptive", **ADAPTIVE), *steps)[-2:] == [16, 8]


@given(
    steps=st.lists(st.tuples(*[st.floats(0, 1)] * 4), max_size=60),
    window=st.integers(1, 5),
)
def test_the_adaptive_horizon_moves_one_stage_at_a_time_and_never_before_a_window(steps, window):
    curriculum = make("adaptive", start=2, limit=9, window=window, truncated=0.0)
    turns = [2, 3, 4, 6, 8, 9]
    stages = [0, *(turns.index(h) for h in watch(curriculum, *steps))]
    moves = [number for number, (a, b) in enumerate(pairwise(stages)) if a != b]
    assert all(abs(a - b) <= 1 for a, b in pairwise(stages))
    assert all(b - a >= window for a, b in pairwise([-1, *moves]))
    assert all(n + 1 >= 2 * window for n in moves[:1])


def test_difficulties_by_stage():
    curriculum = make("task_difficulty", stages=[[1, 1], [1, 2], [1, 4]], every=50, turns=9)
    ranges = [tasks.checked_difficulties(curriculum, s) for s in (0, 49, 50, 99, 100, 10**6)]
    assert ranges == [(1, 1), (1, 1), (1, 2), (1, 2), (1, 4), (1, 4)]
    assert {curriculum.horizon(s) for s in (0, 50, 100)} == {9}


def test_tasks_alone_need_a_horizon():
    with raises(ConfigError, "task_difficulty"):
        prepare.rehearse({"name": "task_difficulty", "stages": [[1, 1]], "every": 5}, steps=3)


TASKS = shipped.TASKS | {"turns": 7}
OTHER_TASKS = shipped.TASKS | {"stages": [[9, 9]]}


def test_of_the_composed_the_first_sets_the_horizon_and_the_first_that_chooses_tasks_chooses():
    both = make("composed", parts=[shipped.STAGES, TASKS, OTHER_TASKS])
    assert [both.horizon(s) for s in range(5)] == [3, 3, 5, 5, 5]
    assert [both.difficulties(s) for s in range(5)] == [(1, 1), (1, 1), (1, 1), (2, 4), (2, 4)]
    swapped = make("composed", parts=[TASKS, shipped.STAGES])
    assert {swapped.horizon(s) for s in range(5)} == {7}
    assert make("composed", parts=[shipped.STAGES]).difficulties(0) is None


def test_all_parts_see_the_metrics_and_keep_their_state():
    responsive = {"name": "responsive", "bar": 0.5}
    growing = {"name": "adaptive", "start": 1, "limit": 2, "window": 1}
    both = make("composed", parts=[responsive, growing])
    both.observe({"return": 0.75, "success": 0.5, "truncated_horizon": 1.0, "invalid": 0.25})
    own = {"stage": 0, "success": 0.5, "invalid": 0.25, "recent": [[0.5, 1.0, 0.25, 0.0]]}
    assert both.state_dict() == {"parts": [{"turns": 2}, own]}
    again = make("composed", parts=[responsive, growing])
    again.load_state_dict(both.state_dict())
    assert again.horizon(1) == 2
    assert again.state_dict() == both.state_dict()


def test_defaults_of_the_parts_are_written_out():
    raw = {"run": {"folder": "x", "steps": 3}, "env": {"id": "agentgym/Maze-v1"}}
    short = [{"name": "adaptive", "start": 1, "limit": 2}, TASKS, OTHER_TASKS]
    config = configuration.of(raw | {"curriculum": {"name": "composed", "parts": short}})
    resolved = plugins.resolved(config)
    assert resolved.curriculum["parts"][0] == {
        **{
            "name": "adaptive",
            "start": 1,
            "limit": 2,
            "growth": 1.4,
            "window": 40,
            "rise": 1.0,
            "truncated": 0.1,
            "collapse": 0.2,
            "max_kl": 1.0,
        }
    }
    assert "turns" not in resolved.curriculum["parts"][2]
    written = configuration.of(tomllib.loads(configuration.dumps(resolved)))
    assert configuration.difference(written, plugins.resolved(written)) is None


@pytest.mark.parametrize(
    "options", [shipped.STAGES, {"name": "scaling_inter", "start": 3, "delta": 2, "every": 2}]
)
def test_options_that_are_not_set_are_no_change(options):
    raw = {
        "run": {"folder": "x", "steps": 3},
        "env": {"id": "agentgym/Maze-v1"},
        "curriculum": options,
    }
    resolved = plugins.resolved(configuration.of(raw))
    assert resolved.curriculum == options
    written = configuration.of(tomllib.loads(configuration.dumps(resolved)))
    assert configuration.difference(written, resolved) is None


def test_every_shipped_curriculum_is_tried():
    ours = [
        name
        for name, found in discovery.discover(plugins.CURRICULUM.group).items()
        if discovery.distribution(found) == plugins.OURS
    ]
    assert sorted(shipped.CURRICULA) == ours


SHARES = st.sampled_from([0.0, 0.1, 0.3, 1.0]) | st.floats(0, 1)


@pytest.mark.parametrize("name", shipped.CURRICULA)
@given(steps=st.lists(st.tuples(SHARES, SHARES, st.booleans()), max_size=40))
def test_interrupted_at_any_step_it_goes_on_as_if_it_never_had_been(name, steps):
    undisturbed = interrupted = make(name, **shipped.CURRICULA[name])
    for step, (success, truncated, stop) in enumerate(steps):
        if stop:
            state = json.loads(json.dumps(interrupted.state_dict(), allow_nan=False))
            interrupted = make(name, **shipped.CURRICULA[name])
            interrupted.load_state_dict(state)
        for ask in (tasks.checked_horizon, tasks.checked_difficulties):
            assert ask(interrupted, step) == ask(undisturbed, step)
        for curriculum in {id(c): c for c in (undisturbed, interrupted)}.values():
            curriculum.observe({"success": success, "truncated_horizon": truncated, "invalid": 0.0})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"name": "scaling_inter", "rounds": [8, 0], "every": 5},
            ConfigError,
            r"curriculum\.rounds\.1.*not 0",
        ),
        (
            {"name": "scaling_inter", "rounds": [], "every": 5},
            ConfigError,
            r"curriculum\.rounds.*at least 1 item",
        ),
        (
            {"name": "scaling_inter", "rounds": [8], "every": 0},
            ConfigError,
            r"curriculum\.every.*not 0",
        ),
        (
            {"name": "scaling_inter", "round": [8], "every": 5},
            ConfigError,
            "Did you mean 'curriculum.rounds'",
        ),
        (
            {"name": "scaling_inter", "rounds": "long", "every": 5},
            ConfigError,
            r"curriculum\.rounds.*'long'",
        ),
        (
            {"name": "scaling_inter", "every": 5},
            ConfigError,
            "set either rounds, or start and delta.*, not none of them",
        ),
        (
            {"name": "scaling_inter", "rounds": [8], "start": 4, "delta": 2, "every": 5},
            ConfigError,
            (
                r"set either rounds, or start and delta and perhaps limit, not rounds=\[8\],"
                r" start=4, delta=2"
            ),
        ),
        ({"name": "scaling_inter", "start": 4, "every": 5}, ConfigError, "not start=4"),
        (
            {"name": "scaling_inter", "delta": 4, "limit": 5, "every": 5},
            ConfigError,
            "not delta=4, limit=5",
        ),
        (
            {"name": "scaling_inter", "rounds": [8], "limit": 4, "every": 5},
            ConfigError,
            r"not rounds=\[8\], limit=4",
        ),
        (
            {"name": "scaling_inter", "start": 8, "delta": 1, "limit": 4, "every": 5},
            ConfigError,
            "limit=4 is below start=8",
        ),
        (
            {"name": "adaptive", "start": 8, "limit": 7},
            ConfigError,
            "limit=7 is below start=8",
        ),
        (
            {"name": "adaptive", "start": 8, "limit": 16, "growth": 1.0},
            ConfigError,
            "growth=1.0: must be above 1",
        ),
        (
            {"name": "adaptive", "start": 8, "limit": 16, "collapse": 1.5},
            ConfigError,
            r"curriculum\.collapse.*not 1.5",
        ),
        (
            {"name": "task_difficulty", "stages": [[1, 2], [3, 2]], "every": 5},
            ConfigError,
            r"stages\.1: the least.*3.*greatest, 2",
        ),
        (
            {"name": "task_difficulty", "stages": [[1]], "every": 5},
            ConfigError,
            r"curriculum\.stages\.0\.1",
        ),
        ({"name": "composed", "parts": []}, ConfigError, r"curriculum\.parts.*at least 1 item"),
        (
            {"name": "composed", "parts": [{"turns": 1}]},
            ConfigError,
            r"'curriculum\.parts\.0\.name' must be one of",
        ),
        (
            {"name": "composed", "parts": [{"name": "fixd"}]},
            ConfigError,
            "unknown curriculum 'fixd'. Did you mean 'fixed'",
        ),
        (
            {"name": "composed", "parts": [shipped.STAGES, {"name": "fixed", "turn": 1}]},
            ConfigError,
            r"mean 'curriculum\.parts\.1\.turns'",
        ),
        (
            {"name": "composed", "parts": [shipped.STAGES, {"name": "fixed", "turns": 0}]},
            ConfigError,
            r"curriculum\.parts\.1\.turns.*not 0",
        ),
        (
            {"name": "composed", "parts": [{"name": "composed", "parts": [shipped.STAGES]}]},
            ConfigError,
            "a part is composed itself",
        ),
        ({"name": "fixed", "turns": -1}, ConfigError, r"curriculum\.turns.*not -1"),
        ({"name": "fixed", "turns": 1.5}, ConfigError, r"curriculum\.turns.*not 1.5"),
        ({"name": "fixed", "turns": True}, ConfigError, r"curriculum\.turns.*not True"),
        (
            {"name": "fixd", "turns": 1},
            UnknownName,
            "unknown curriculum 'fixd'. Did you mean 'fixed'",
        ),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message) as caught:
        plugins.make(plugins.CURRICULUM, options)
    assert "\n" not in str(caught.value)


def test_rounding_is_no_rise_and_no_collapse():
    """0.7 is 0.9 − 0.2, which rounds to more; 0.1 three times has a mean below 0.1."""
    noisy = [0.7, 0.1 + 0.2 + 0.4, 0.7, 0.7]
    assert len(set(noisy)) == 2
    assert adaptive.rise(noisy) == 0.0
    options = ADAPTIVE | {"window": 1, "collapse": 0.2, "truncated": 0.3, "rise": 0.0}
    fallen = make("adaptive", **options)
    fallen.stage = 1
    assert watch(fallen, (0.9, 0.0), (0.9 - 0.2 - 1e-16, 0.0)) == [8, 8]
    ended = make("adaptive", **options | {"rise": 1.0})
    assert watch(ended, (0.5, 0.1 + 0.2 - 1e-16), (0.5, 0.3 - 1e-16)) == [4, 8]
