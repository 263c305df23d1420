"""The tasks of a step, with and without difficulties from the curriculum."""

from collections import Counter

import gymnasium
import pytest
import small_run
from hypothesis import given
from hypothesis import strategies as st
from raised import raises
from typer.testing import CliRunner

from agentgym_envs.pool import EnvDescription
from agentgym_train import cli
from agentgym_train import config as configuration
from agentgym_train.errors import ConfigError
from agentgym_train.rollout import tasks
from agentgym_train.run import prepare

LEVELS = {"a": 1, "b": 3, "c": 1, "d": 2}


@given(
    known=st.dictionaries(st.text(max_size=3), st.integers(-3, 3), min_size=1),
    bounds=st.tuples(st.integers(-4, 4), st.integers(-4, 4)).map(sorted),
)
def test_the_tasks_of_a_range_are_those_that_lie_in_it(known, bounds):
    least, greatest = bounds
    inside = [d for d in known.values() if d in range(least, greatest + 1)]
    if inside:
        ids = tasks.within(known, (least, greatest), 0)
        assert [known[i] for i in ids] == inside
    else:
        with pytest.raises(ConfigError, match="no training task lies there"):
            tasks.within(known, (least, greatest), 0)


def test_what_is_not_there_is_named():
    assert tasks.within(LEVELS, (1, 2), 0) == ["a", "c", "d"]
    with raises(ConfigError, "4 to 9", "step 12", "1 to 3"):
        tasks.within(LEVELS, (4, 9), 11)
    with raises(ConfigError, "4 to 9", "step 12", "no tasks"):
        tasks.within(None, (4, 9), 11)


def test_an_environment_that_lists_no_tasks_has_no_levels():
    assert tasks.task_difficulty(EnvDescription("", None, None, {}, False)) is None
    assert tasks.task_difficulty(EnvDescription("", ["a"], None, {}, False)) is None
    assert list(
        tasks.task_difficulty(EnvDescription("", ["z", "a"], [2, 1], {}, True)).items()
    ) == [
        ("z", 2),
        ("a", 1),
    ]


def test_a_task_is_a_function_of_seed_step_and_group_and_of_each_of_them():
    ids = [str(n) for n in range(1000)]
    drawn = {
        (s, t, g): tasks.start(s, t, g, ids) for s in range(3) for t in range(3) for g in range(3)
    }
    assert drawn == {key: tasks.start(*key, ids) for key in drawn}
    assert len({start.task_id for start in drawn.values()}) > 20
    assert len({start.seed for start in drawn.values()}) == 27
    assert all(
        start.group == g and start == tasks.start(s, t, g)._replace(task_id=start.task_id)
        for (s, t, g), start in drawn.items()
    )


def test_every_task_of_a_range_is_drawn_about_as_often():
    """4000 draws of 4 tasks: 1000 each, with a standard deviation of 27."""
    counts = Counter(
        tasks.start(0, step, group, list(LEVELS)).task_id
        for step in range(500)
        for group in range(8)
    )
    assert counts.keys() == LEVELS.keys()
    assert all(abs(count - 1000) < 110 for count in counts.values())


@given(st.integers(1, 12), st.integers(0, 99), st.integers(1, 30))
def test_the_groups_of_a_step_spread_evenly_over_the_difficulties(groups, step, difficulties):
    """Each group draws from another of as many equal ranges as there are groups."""
    known = {str(n): n % difficulties for n in range(100)}
    drawn = sorted(known[tasks.evenly(0, step, place, groups, known)] for place in range(groups))
    for part, difficulty in enumerate(drawn):
        assert part * difficulties // groups <= difficulty
        assert difficulty <= (part + 1) * difficulties / groups


def test_all_difficulties_and_all_tasks_of_one_are_drawn_equally_often():
    """4000 draws: three times 1333 with a standard deviation of 30, and 667 of each easy task."""
    counts = Counter(tasks.evenly(0, step, 0, 8, LEVELS) for step in range(4000))
    assert counts.keys() == LEVELS.keys()
    expected = {"a": 667, "b": 1333, "c": 667, "d": 1333}
    assert all(abs(counts[task] - expected[task]) < 120 for task in LEVELS)


def test_a_replaced_group_draws_again():
    known = {str(n): n for n in range(1000)}
    assert len({tasks.evenly(0, 0, 0, 8, known, attempt=n) for n in range(9)}) > 1


CHOOSING = {"name": "task_difficulty", "stages": [[3, 3], [5, 6]], "every": 2, "turns": 2}
MAZE = {
    "env": {
        "id": "agentgym/Maze-v1",
        "kwargs": {"rooms": [3, 5]},
        "groups": 4,
        "group_size": 4,
        "workers": 1,
    }
}
HASH = {
    "env": {
        "id": "hash_env:support/Hash-v0",
        "kwargs": {"length": 4},
        "groups": 3,
        "group_size": 3,
        "workers": 1,
    }
}


def refusal(tmp_path, **sections):
    result = CliRunner().invoke(cli.app, ["run", str(small_run.write(tmp_path, **sections))])
    assert result.exit_code == 2, result.output
    assert result.output.strip().count("\n") == 0, "one line"
    assert not (tmp_path / "run").exists()
    return result.output


@pytest.mark.parametrize(
    ("curriculum", "message"),
    [
        (
            CHOOSING | {"stages": [[3, 3], [6, 9], [5, 5]], "every": 1},
            "difficulty 6 to 9 at step 2, and no training task lies there",
        ),
        (
            {
                "name": "composed",
                "parts": [{"name": "fixed", "turns": 2}, CHOOSING | {"stages": [[4, 4]]}],
            },
            "4 to 4 at step 1, and no",
        ),
        (
            {k: v for k, v in CHOOSING.items() if k != "turns"},
            "task_difficulty sets no horizon: set its turns",
        ),
        ({"name": "composed", "parts": [CHOOSING, {"name": "fixd"}]}, "unknown curriculum 'fixd'"),
    ],
)
def test_tasks_that_are_not_there_are_refused_before_any_work(tmp_path, curriculum, message):
    assert message in refusal(tmp_path, **MAZE, curriculum=curriculum)


def test_an_environment_without_tasks_is_refused_before_any_work(tmp_path):
    sections = HASH | {"model": {"path": "unused"}, "eval": {"kwargs": {}, "horizon": 2}}
    output = refusal(tmp_path, **sections, curriculum=CHOOSING)
    assert (
        "difficulty 3 to 3 at step 1, and the environment lists no tasks with difficulties"
        in output
    )


def test_difficulties_that_are_not_listed_cannot_be_spread(tmp_path):
    sections = HASH | {"model": {"path": "unused"}, "eval": {"kwargs": {}, "horizon": 2}}
    source = {"name": "rollout", "even_difficulties": True}
    assert (
        "source.even_difficulties=true, and hash_env:support/Hash-v0 lists no tasks with"
        " difficulties: set it to false" in refusal(tmp_path, **sections, source=source)
    )


def test_a_stage_that_the_run_does_not_reach_may_be_empty(tmp_path):
    config = configuration.load(
        small_run.write(
            tmp_path, **MAZE, curriculum=CHOOSING | {"stages": [[3, 3], [5, 5], [9, 9]]}
        )
    )
    prepare.check(config)
    with raises(ConfigError, "9 to 9", "step 5"):
        prepare.check(configuration.load(tmp_path / "run.toml", ["run.steps=5"]))


def test_the_trainer_knows_every_training_task_and_how_difficult_it_is(tmp_path):
    config = configuration.load(small_run.write(tmp_path, **MAZE))
    known = tasks.task_difficulty(prepare.describe(config)[0])
    distributed = gymnasium.make("agentgym/Maze-v1", split="train", rooms=[3, 5]).unwrapped
    assert list(known) == list(distributed.task_ids)
    assert all(known[i] == distributed.task_set.get(i).difficulty for i in distributed.task_ids)
    assert set(known.values()) == {3, 5}
