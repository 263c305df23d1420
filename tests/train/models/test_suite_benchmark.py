"""The separate policies and the page of `benchmarks/suite.py`."""

import json
from itertools import takewhile
from pathlib import Path
from statistics import fmean, stdev

import long_tables
import pytest
import suite
import suite_report

from agentgym_train import config as configuration
from agentgym_train.models import scratch

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
RESULTS = BENCHMARKS / "results"


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


def test_the_page_is_that_of_its_data(tmp_path):
    rows = json.loads((RESULTS / "suite.json").read_text())
    page = suite_report.page(rows, "python benchmarks/suite.py run --seeds 3 --jobs 2")
    long_tables.write(tmp_path / "suite.md", page, suite_report.shown)
    for name in ("suite.md", "suite.csv"):
        assert (tmp_path / name).read_text() == (RESULTS / name).read_text()
    assert min(row["episodes"] for row in rows) > 150
    runs = {(row["policy"], row["seed"]) for row in rows}
    families = {row["family"] for row in rows}
    assert runs == {(policy, seed) for policy in {"all", *families} for seed in range(3)}


def test_what_the_summary_says_of_the_differences_is_so():
    rows = json.loads((RESULTS / "suite.json").read_text())
    success = {
        (row["policy"] == "all", row["family"], row["model"], row["seed"]): row["success"]
        for row in rows
    }

    def gains(family, first, second):
        """Returns the differences by seed, and the end of their interval that is nearer to 0."""
        found = [
            success[first[0], family, first[1], seed] - success[second[0], family, second[1], seed]
            for seed in range(3)
        ]
        return found, abs(fmean(found)) - 4.303 * stdev(found) / 3**0.5

    common, separate, cloned = (True, "trained"), (False, "trained"), (True, "cloned")
    families = {row["family"] for row in rows}
    trained = {family: gains(family, common, cloned) for family in families}
    shared = {family: gains(family, common, separate) for family in families}
    assert {f for f, (_, nearer) in trained.items() if nearer > 0} == {"BabyAI", "LockedMaze"}
    assert {f for f, (_, nearer) in shared.items() if nearer > 0} == {"Household"}
    leads = {family for family, (found, _) in shared.items() if min(found) > 0}
    assert leads == {"Household", "TextCraft", "Search"}
    page = {row[0]: row[7] for row in _table((RESULTS / "suite.md").read_text(), "LockedMaze")[:5]}
    summary = (RESULTS.parent / "findings.md").read_text()
    for family in ("Household", "TextCraft"):
        assert f"{page[family].lstrip('+')} on {family}" in summary


def _table(text, first):
    """Returns the rows of the table that has a row with this first cell, from that row on."""
    lines = iter(text[text.index(f"\n| {first} |") + 1 :].splitlines())
    rows = takewhile(lambda line: line.startswith("|"), lines)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_page_has_paired_differences():
    """The differences 0.1, 0.2 and 0.3 have the mean 0.2 ± 4.303 · 0.1 / √3."""
    successes = {
        ("all", "cloned"): (0.5, 0.4, 0.3),
        ("all", "trained"): (0.6, 0.6, 0.6),
        ("Maze", "cloned"): (0.1, 0.1, 0.1),
        ("Maze", "trained"): (0.1, 0.2, 0.3),
    }
    rows = [
        {
            **{"policy": policy, "family": "Maze", "seed": seed, "model": model},
            **{"success": success, "invalid": 0.25, "episodes": 100},
            "training_tokens": 1000 if policy == "all" else 2000,
        }
        for (policy, model), by_seed in successes.items()
        for seed, success in enumerate(by_seed)
    ]
    page = suite_report.page(rows[:9] + rows[:8:-1], "the command")
    cells = "0.40 | 0.60 | +0.20 ± 0.25 | 0.10 | 0.20 | +0.30 ± 0.25 | +0.40 ± 0.25 | 1,000, 2,000"
    assert f"| Maze | 100 | {cells} |" in page
    assert "| Maze | common, cloned | 0.50 (0.40–0.60), 25% | 0.40 (0.31–0.50), 25% |" in page
    assert "| Maze | separate, trained | 0.10 (0.06–0.17), 25% | 0.20 (0.13–0.29), 25% |" in page
