"""Starts and pooled tests of `benchmarks/before_after.py`."""

from pathlib import Path

import before_after
import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def played(monkeypatch, tmp_path):
    """Runs an experiment without training; returns the starts, the models and the rows.

    A test whose name is a number has as many episodes and solves one of them.
    """

    def play(name, **changes):
        starts, models = [], []
        monkeypatch.setattr(
            before_after.runs,
            "train",
            lambda config, folder, values: (
                folder.mkdir(parents=True),
                starts.append(values["model.path"]),
            ),
        )

        def tested(folder, model, kwargs, key):
            models.append(str(model.relative_to(tmp_path)) if model.is_absolute() else str(model))
            share = 1 / int(key)
            return {"success": share, "score": share, "turns": float(key), "episodes": int(key)}

        monkeypatch.setattr(before_after, "tested", tested)
        experiment = before_after.EXPERIMENTS[name]._replace(tests={"2": {}, "8": {}}, **changes)
        config = BENCHMARKS / "configs" / f"{name}.toml"
        rows = before_after.one(experiment, config, 0, tmp_path)
        cleaned = [start.removeprefix(f"{tmp_path}/") for start in starts]
        return cleaned, list(dict.fromkeys(models)), rows

    return play


WAYS = {"one": {}, "two": {}}


@pytest.mark.parametrize(
    ("name", "changes", "starts", "models"),
    [
        ("two_attempts", {}, ["scratch", "0-0/init"], ["0-0/init", "0-0/model", "0-1/model"]),
        (
            "debaters",
            {},
            ["scratch", "0-0/model"],
            ["0-0/init", "0-0/model", "0-1/model"],
        ),
        (
            "smollm2",
            {"ways": WAYS, "pools": {}},
            ["runs/smollm2-cloned/model"] * 2,
            ["runs/smollm2-cloned/model", "0-0/model", "0-1/model"],
        ),
    ],
)
def test_ways_start_from_scratch_from_a_given_model_or_from_the_way_before(
    played, name, changes, starts, models
):
    assert played(name, **changes)[:2] == (starts, models)


def test_a_pool_weighs_episodes_equally(played):
    """One of 2 and one of 8 are two of 10. Episodes of 2 and of 8 turns have 6.8 on average."""
    _, _, rows = played("smollm2", pools={"both": ["2", "8"]})
    pooled = [row for row in rows if row["test"] == "both"]
    assert [row["model"] for row in pooled] == ["before", "after"]
    for row in pooled:
        assert row["success"] == pytest.approx(0.2)
        assert row["turns"] == pytest.approx(6.8)
        assert row["episodes"] == 10


def test_pools_name_tests():
    experiments = before_after.EXPERIMENTS
    assert "both seats, against random" in experiments["self_play"].pools
    for experiment in experiments.values():
        assert {test for pool in experiment.pools.values() for test in pool} <= set(
            experiment.tests
        )


@pytest.mark.parametrize(("values", "shown"), [([0.5], "0.50"), ([0.25, 0.75], "0.50 (0.25–0.75)")])
def test_one_value_has_no_spread(values, shown):
    assert before_after.spread(values) == shown
