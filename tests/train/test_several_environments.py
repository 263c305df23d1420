"""Several environments in one run.

Each has separate rules, action format, group size, curriculum, metrics and failures.
"""

import json
import tomllib
from contextlib import closing

import pytest
import small_run
import tiny
import tomli_w
import trainers
from typer.testing import CliRunner

from agentgym_envs.evaluate import record
from agentgym_envs.pool import EnvDescription
from agentgym_train import cli
from agentgym_train import config as configuration
from agentgym_train.data.types import EpisodeFailure
from agentgym_train.errors import ConfigError, FaultBudgetError
from agentgym_train.reporting import metrics
from agentgym_train.rollout.pipeline import make_training_envs

MAZE = {
    "id": "agentgym/Maze-v1",
    "kwargs": {"rooms": [3]},
    "groups": 3,
    "group_size": 4,
    "workers": 1,
}
COUNT = {
    "id": "hash_env:support/Hash-v0",
    "name": "count",
    "kwargs": {"length": 4},
    "groups": 2,
    "group_size": 3,
    "workers": 1,
    "action_format": "plain",
    "curriculum": {"name": "fixed", "turns": 2},
}


def write(home, *envs, **sections):
    """Writes a configuration of several environments; returns its path."""
    path = small_run.write(home, **sections)
    raw = tomllib.loads(path.read_text())
    path.write_text(tomli_w.dumps(raw | {"env": list(envs)}))
    return path


def invoke(*args):
    return CliRunner().invoke(cli.app, [*map(str, args)])


def test_a_file_has_one_table_or_several(tmp_path):
    one = configuration.load(small_run.write(tmp_path))
    assert [env.name for env in one.envs] == ["Maze"]
    assert tomllib.loads(configuration.dumps(one))["env"]["id"] == "agentgym/Maze-v1", (
        "one is written as one table"
    )
    path = write(tmp_path, MAZE, COUNT)
    both = configuration.load(path, ["env.1.groups=5"])
    assert [(env.name, env.groups) for env in both.envs] == [("Maze", 3), ("count", 5)]
    assert both.groups == 8
    (tmp_path / "again.toml").write_text(configuration.dumps(both))
    assert configuration.load(tmp_path / "again.toml") == both
    assert [one.curriculum["name"] for one in both.each()] == ["scaling_inter", "fixed"]
    assert configuration.difference(both, configuration.load(path), ignore={"env.groups"}) is None
    assert configuration.difference(both, configuration.load(path)) is not None


@pytest.mark.parametrize(
    ("envs", "override", "message"),
    [
        (
            [MAZE, MAZE],
            "run.seed=0",
            "two environments have the name 'Maze': set env.name of one of them",
        ),
        (
            [MAZE, COUNT],
            "env.groups=3",
            "there are 2 such tables: name one by its number, such as env.0.groups",
        ),
        ([MAZE, COUNT], "env.2.groups=3", "there are tables 0 to 1, and no '2'"),
        ([MAZE, COUNT], "env.1.group=3", "'env.1.group'. Did you mean 'env.1.group"),
        (
            [MAZE, COUNT],
            "env.1.groups=-3",
            "'env.1.groups': input should be greater than or equal to 1, not -3",
        ),
        ([MAZE, COUNT], "env.1.name=a b", "'env.1': the name 'a b' has characters other than"),
        ([MAZE, 3], "run.seed=0", "'env.1' is a section, not 3"),
        (
            [MAZE, COUNT],
            "env.1.kwargs.length=inf",
            "'env.1.kwargs.length': a number must be finite",
        ),
        ([], "run.seed=0", "'env'"),
        ([MAZE | {"groups": -1}], "run.seed=0", "'env.0.groups'"),
    ],
)
def test_bad_tables_are_named_as_the_file_has_them(tmp_path, envs, override, message):
    with pytest.raises(ConfigError) as caught:
        configuration.load(write(tmp_path, *envs), [override])
    assert message in str(caught.value)
    assert "envs" not in str(caught.value)


def test_a_refusal_says_of_which_table_it_speaks(tmp_path):
    fixed = {"curriculum": {"name": "fixed", "turns": 0}}
    penalties = [{"name": "penalty", "turn": 0.1}, {"name": "penalty", "turn": -1.0}]
    for envs, sections, message in (
        ([MAZE, COUNT | fixed], {}, "'env.1.curriculum.turns': "),
        ([MAZE, COUNT], {"scorer": penalties}, "'scorer.1.turn': "),
        (
            [COUNT, MAZE | {"kwargs": {"workers": 2}}],
            {"model": {"path": "x"}, "eval": {"kwargs": {}}},
            "environment 'Maze': configuration key 'env.kw",
        ),
    ):
        refused = invoke("run", write(tmp_path, *envs, **sections))
        assert refused.exit_code == 2
        assert message in refused.output


def test_a_run_refuses_before_any_work_what_one_of_its_environments_cannot(tmp_path):
    path = write(tmp_path, MAZE, COUNT | {"kwargs": {"lenght": 4}}, model={"path": "x"})
    refused = invoke("run", path, "--set", "model.path=scratch")
    assert refused.exit_code == 2
    assert "Hash-v0" in refused.output
    assert not (tmp_path / "run").exists()


def test_every_mini_batch_has_of_each_environment_in_proportion(tmp_path):
    config = configuration.load(write(tmp_path, MAZE | {"groups": 6}, COUNT | {"groups": 3}))
    described = EnvDescription("", None, None, {}, text_env=True)
    envs = make_training_envs(config, [described, described], tiny.tokenizer())
    for part in range(3):
        numbers = range(3 * part, 3 * part + 3)
        assert [len(set(env.groups) & set(numbers)) for env in envs] == [2, 1]


@pytest.fixture(scope="module")
def ran(tmp_path_factory, warm):
    home = tmp_path_factory.mktemp("several")
    model = tiny.save(home / "model", template=tiny.CHATML)
    sections = {
        "run": {"folder": str(home / "run"), "steps": 4, "save_every": 2},
        "model": {"path": model, "max_context": 512},
        "eval": {"kwargs": {}, "episodes": 4, "horizon": 4},
        "engine": {"lr": 1e-3, "minibatches": 2},
    }
    path = write(home, MAZE, COUNT, **sections)
    done = warm.finish(path)
    return home / "run", done


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_each_environment_has_its_share_its_horizon_and_its_metrics(ran):
    folder, _ = ran
    for row in rows(folder):
        maze, count = row["env"]["Maze"], row["env"]["count"]
        assert (maze["episodes"], count["episodes"], row["episodes"]) == (12, 6, 18)
        assert count["horizon"] == 2
        assert row["horizon"] == maze["horizon"]
        assert count["turns"] <= 2
        for key in ("tokens", "action_tokens", "env_failures"):
            assert row[key] == maze[key] + count[key]
        for key in ("success", "return", "turns"):
            assert row[key] == pytest.approx((12 * maze[key] + 6 * count[key]) / 18)
        assert row["updates"] == 2
    assert [row["env"]["Maze"]["horizon"] for row in rows(folder)] == [3, 3, 5, 5]
    assert any(row["grad_norm"] > 0 for row in rows(folder))


def test_held_out_results_are_of_each_and_of_all(ran):
    folder, output = ran
    notes = json.loads((folder / "evaluation.json").read_text())
    for key in ("before", "after"):
        assert set(notes[key]["env"]) == {"Maze", "count"}
        assert (
            notes[key]["episodes"]
            == sum(row["episodes"] for row in notes[key]["env"].values())
            == 8
        )
    played, _ = record.read(folder / "episodes" / "after")
    assert {row["family"] for row in played} == {"agentgym/Maze-v1", "support/Hash-v0"}
    assert "count" in output


def test_readable_episodes_are_of_each(ran):
    folder, _ = ran
    title, maze, count = (folder / "trajectories.md").read_text().split("\n# ")
    assert title == "# Episodes on held-out tasks after training\n"
    for name, part in (("Maze", maze), ("count", count)):
        assert part.startswith(f"{name}\n\n## ")
        assert part.count("\n## ") == 3, "six episodes are shared out"


FAILING = {
    "id": "faulty_envs:support/Faulty-v0",
    "name": "failing",
    "kwargs": {"fault": "raise", "at": 1, "length": 3},
    "groups": 1,
    "group_size": 2,
    "retries": 0,
}


@pytest.mark.full
def test_each_has_a_budget_of_failures_of_its_own(tmp_path):
    """Two episodes of the failing environment are given up at every step."""
    options = {
        "env": [COUNT | {"failure_budget": 9}, FAILING | {"failure_budget": 3}],
        "eval": {"kwargs": {}, "horizon": 2},
    }
    steps, message = (
        [],
        (
            r"4 episodes of failing were given up by step 2, more than.*=3\. Most often: 2 × seed"
            r" \d+: .*on purpose"
        ),
    )
    with closing(trainers.make(tmp_path, options)) as made:
        for evaluation in (False, True):
            made.note_failures(
                0,
                made.envs[0],
                [EpisodeFailure("", 5, 0, "elsewhere", given_up=True)] * 9,
                evaluation=evaluation,
            )
        with pytest.raises(FaultBudgetError, match=message):
            made.train(lambda row, groups: steps.append(row), lambda step: None)
    (row,) = steps
    assert (
        row["env"]["count"]["given_up"],
        row["env"]["failing"]["given_up"],
        row["given_up"],
    ) == (0, 2, 2)
    assert "success" not in row["env"]["failing"]
    with closing(trainers.make(tmp_path, options)) as again:
        assert again.given_up == {"count": 9, "failing": 2}
        with pytest.raises(FaultBudgetError, match=message):
            again.train(lambda row, groups: None, lambda step: None)


@pytest.mark.full
def test_run_again_it_goes_on_with_the_state_of_each_curriculum(tmp_path):
    adaptive = {"name": "responsive", "bar": 0.0}
    options = {
        "env": [MAZE | {"curriculum": adaptive}, COUNT | {"curriculum": adaptive}],
        "engine": {"lr": 1e-3, "minibatches": 2},
    }

    def train(home, steps):
        shown = []
        with closing(
            trainers.make(
                home, options | {"run": {"steps": steps, "save_every": 1}, "eval": {"kwargs": {}}}
            )
        ) as made:
            made.train(lambda row, groups: shown.append(row), lambda step: None)
        return [{k: v for k, v in row.items() if k not in metrics.MEASURED} for row in shown]

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert train(whole, 3) == train(cut, 1) + train(cut, 3)
    state = json.loads((cut / "run" / "checkpoints" / "step-000003" / "state.json").read_text())
    assert set(state["curricula"]) == {"Maze", "count"}
    assert state["curricula"]["Maze"]["turns"] == 1, "without a success"
    assert state["curricula"]["count"]["turns"] > 1, (
        "each sees the metrics of its environment alone"
    )


@pytest.mark.full
def test_shares_by_tokens_are_kept_and_survive_an_interruption(tmp_path):
    """Groups of "count" have fewer tokens, so more of them are played."""
    budget = {"groups": 8, "tokens_per_step": 300}
    options = {"env": [MAZE | budget, COUNT | budget], "engine": {"lr": 1e-3, "minibatches": 2}}

    def train(home, steps):
        shown = []
        more = {"run": {"steps": steps, "save_every": 1}, "eval": {"kwargs": {}}}
        with closing(trainers.make(home, options | more)) as made:
            made.train(lambda row, groups: shown.append(row), lambda step: None)
        return [{k: v for k, v in row.items() if k not in metrics.MEASURED} for row in shown]

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    rows = train(whole, 5)
    assert rows == train(cut, 2) + train(cut, 5)
    each = {name: [row["env"][name] for row in rows] for name in ("Maze", "count")}
    for name, size in (("Maze", 4), ("count", 3)):
        first, *others = each[name]
        assert first["episodes"] == 8 * size, "nothing is measured before the first step"
        group = first["tokens"] / 8
        assert others[0]["episodes"] == size * min(round(300 / group), 8)
        assert sum(row["tokens"] for row in others) == pytest.approx(4 * 300, abs=group)
    assert each["Maze"][1]["episodes"] / 4 < each["count"][1]["episodes"] / 3
