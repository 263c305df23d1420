"""The separate policies and the page of `benchmarks/suite.py`."""

import json
from pathlib import Path

import pytest
import suite
import suite_report

from agentgym_envs.evaluate.metrics import wilson
from agentgym_train import config as configuration
from agentgym_train.models import scratch

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def test_a_separate_policy_clones_as_many_episodes_as_its_family_has_in_common_cloning(
    monkeypatch,
):
    """An episode of the n-th family has 100 · n characters."""
    config = configuration.load(BENCHMARKS / "configs" / "suite.toml")
    names = [env.name for env in config.envs]
    plays = {
        name: [[{"role": "user", "content": "x" * 100 * number}]] * 60
        for number, name in enumerate(names, start=1)
    }
    monkeypatch.setattr(scratch, "recorded_play", lambda env, folders: plays[env.name])
    mixed = [len(episode[0]["content"]) for episode in scratch._even(list(plays.values()))]
    for number, name in enumerate(names, start=1):
        own = suite.alone(config, name)
        share = mixed.count(100 * number) / len(mixed)
        assert own.scratch.steps == pytest.approx(config.scratch.steps * share, abs=1)
        assert [env.name for env in own.envs] == [name]
        assert [Path(folder).name for folder in own.scratch.folders] == [name]


def test_the_record_of_the_common_policy_is_that_of_its_runs():
    rows = json.loads((BENCHMARKS / "results" / "suite_common.json").read_text())
    page = (BENCHMARKS / "results" / "suite_experiments.md").read_text()
    table = [line for line in page.splitlines() if line.startswith("| ")]
    shown = {cells[1]: cells[2:-1] for cells in map(_cells, table)}
    families = list(dict.fromkeys(row["family"] for row in rows))
    gains = dict.fromkeys(families, 0.0)
    for row in rows:
        low, high = wilson(round(row["success"] * row["episodes"]), row["episodes"])
        cell = f"{row['success']:.2f}, {100 * row['invalid']:.0f} % ({low:.2f}–{high:.2f})"
        own = shown[f"seed {row['seed']}, {row['model']}"]
        assert own[families.index(row["family"])] == cell
        gains[row["family"]] += row["success"] * (1 if row["model"] == "trained" else -1) / 3
    means = [f"{gain:+.3f}".replace("-", "−") for gain in gains.values()]
    assert shown["mean difference"] == means


def _cells(line):
    """Returns the cells of a line, with an empty one at each end of a row of a table."""
    return [cell.strip() for cell in line.split("|")]


def test_the_page_has_paired_differences():
    """The differences 0.1, 0.2 and 0.3 have the mean 0.2 ± 4.303 · 0.1 / √3."""
    rows = [
        {
            **{"policy": policy, "family": "Maze", "seed": seed, "model": model},
            **{"success": 0.5 + gain, "invalid": 0.25, "episodes": 100, "training_tokens": 1000},
        }
        for policy, gains in (("all", (0.1, 0.2, 0.3)), ("Maze", (0.0, 0.0, 0.0)))
        for seed, gain in enumerate(gains)
        for model, gain in (("cloned", 0.0), ("trained", gain))
    ]
    page = suite_report.page(rows, "the command")
    cells = "0.50 | 0.70 | +0.20 ± 0.25 | 0.50 | 0.50 | +0.20 ± 0.25 | 1,000, 1,000 |"
    assert f"| Maze | 100 | {cells}" in page
    assert "| Maze | common, trained | 0.60 (0.50–0.69), 25% | 0.70 (0.60–0.78), 25% |" in page
