"""Families of a suite that cannot be played: in the estimate, the table, the report, the status."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.evaluate import left_out, several, suites, tables
from agentgym_envs.evaluate.play_job import JobOutcome
from agentgym_envs.evaluate.record import read, read_settings
from agentgym_envs.report.command import shown_run, shown_sections

NAMES = ("Depth 3", "Depth 4", "SynthLoc", "NQ", "PopQA")
SEARCH = '[search]: 2 families not played: NQ, PopQA; python -m pip install "agentgym-envs[search]"'
BABYAI = '[babyai]: 1 family not played: SynthLoc; python -m pip install "agentgym-envs[babyai]"'


def small(patch):
    """Makes a suite of five families, of which three need extras that are not installed."""
    kept = tuple(f for f in suites.suites["agentgym-rl"] if f.name in NAMES)
    patch.setitem(suites.suites, "small", kept)
    patch.setattr("agentgym_envs.registry._installed", lambda name: False)


@pytest.fixture(autouse=True)
def workplace(monkeypatch, tmp_path):
    small(monkeypatch)
    monkeypatch.chdir(tmp_path)


def call(*arguments):
    few = ("--workers", "1") if arguments[0] == "eval" else ()
    return CliRunner().invoke(app, [*arguments, *few])


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The result of playing what can be played, and its folder."""
    folder = tmp_path_factory.mktemp("left_out") / "out"
    with pytest.MonkeyPatch.context() as patch:
        small(patch)
        options = ("--agent", "oracle", "--episodes", "1", "--out", str(folder))
        return call("eval", "small", *options), folder


def test_the_estimate_says_which_families_it_counts():
    options = ("--model", "m", "--dry-run", "--only", "Depth 4,babyai,search")
    found = call("eval", "small", *options)
    assert found.exit_code == 1, found.output
    lines = found.output.splitlines()
    assert {SEARCH, BABYAI} < {*lines}
    for name in ("estimate", "whole horizon"):
        assert sum(line.startswith(f"{name} of 1 of 4 families: ") for line in lines) == 1


def test_an_estimate_without_a_model_names_them_too():
    found = call("eval", "small", "--agent", "oracle", "--dry-run")
    assert found.exit_code == 1
    assert {SEARCH, BABYAI} < {*found.output.splitlines()}
    whole = call("eval", "small", "--agent", "oracle", "--dry-run", "--only", "Depth 4")
    assert whole.exit_code == 0


def test_the_status_and_the_lines_before_and_below_the_table(played):
    found, folder = played
    assert found.exit_code == 1, found.output
    for line in (SEARCH, BABYAI):
        assert line in found.stderr.splitlines()
        assert line in found.stdout.splitlines()
    assert "--only textcraft plays the other families alone" in found.stderr
    assert "mean of 2 of 5 families" in found.stdout
    assert "this run, 2 of 5 families" in found.stdout
    session = json.loads((folder / "settings.json").read_text())["sessions"][-1]
    assert {one["family"] for one in session["left_out"]} == {"SynthLoc", "NQ", "PopQA"}


def test_an_explicit_choice_of_what_can_be_played_has_status_0(played, tmp_path):
    shutil.copytree(played[1], tmp_path / "out")
    options = ("--agent", "oracle", "--episodes", "1", "--out", "out")
    found = call("eval", "small", "--only", "textcraft", *options)
    assert found.exit_code == 0, found.output
    assert "mean of 2 of 5 families" in found.stdout
    assert "3 families not played: NQ, PopQA, SynthLoc" in found.stdout


def test_the_report_in_the_terminal_and_the_page(played):
    folder = played[1]
    found = call("report", str(folder))
    assert found.exit_code == 0
    assert {SEARCH, BABYAI} < {*found.output.splitlines()}
    rows = read(folder)[0]
    run = shown_run("one", folder, rows, read_settings(folder))
    assert {SEARCH, BABYAI} < {*run.notes}
    assert any(note.startswith("2 of 5 families of small have results") for note in run.notes)
    assert [line["name"] for line in run.table if line["kind"] == "mean"] == [
        "mean of 2 of 5 families"
    ]
    (section,) = shown_sections([("one", rows)])
    assert section.lines[0]["who"] == "one, 2 of 5 families"


def test_a_part_of_a_scenario_is_not_shown_as_the_scenario(played):
    rows = [row for row in read(played[1])[0] if row["family"] == "Depth 4"]
    table = tables.published([("one", rows)])
    assert table.lines[0] == {"who": "one, 1 of 5 families", "textcraft": "1.000 (1 of 2)"}
    assert tables.PARTLY in table.notes
    searched = [row | {"scenario": "search", "family": "NQ"} for row in rows]
    names = [line["name"] for line in tables.results([*rows, *searched]).lines]
    assert names == [
        *("NQ", "Depth 4", "1 of 2 of search", "1 of 2 of textcraft"),
        *("mean of 2 of 5 families", "mean of 2 of 3 scenarios"),
    ]
    pair = several.PlayerOnTarget("oracle", "small", None)
    (line,) = several.table([(pair, JobOutcome(rows, 0, ""))]).lines
    assert line["of small"].endswith("), 1 of 5 families")


def test_nothing_is_said_of_a_whole_suite_or_without_one(played, monkeypatch):
    rows = read(played[1])[0]
    assert left_out.fraction([row | {"suite": ""} for row in rows]) == ""
    whole = tuple(f for f in suites.suites["small"] if f.scenario == "textcraft")
    monkeypatch.setitem(suites.suites, "small", whole)
    assert left_out.suffix(rows) == ""
    assert left_out.remarks(rows, []) == []


def test_the_option_that_accepts_the_smaller_set():
    assert left_out.only("small", {"Depth 4", "NQ", "PopQA"}) == "--only 'search,Depth 4'"


def test_folders_of_earlier_versions_name_the_families_without_a_reason(played):
    rows = read(played[1])[0]
    assert left_out.recorded({}) == left_out.recorded({"sessions": [{"date": ""}]}) == []
    assert left_out.remarks(rows, [])[1:] == ["3 families not played: NQ, PopQA, SynthLoc"]


@pytest.mark.parametrize(("asked", "said"), [("7", True), ("6", False)])
@pytest.mark.parametrize("more", [["--dry-run"], []])
def test_more_episodes_than_tasks_are_announced(asked, said, more, tmp_path):
    options = ["--set", "tasks=['rooms14-things1-test-[0-5]']", "--out", str(tmp_path / "out")]
    found = call(
        "eval", "agentgym/Maze-v1", "--agent", "oracle", "--episodes", asked, *options, *more
    )
    assert found.exit_code == 0, found.output
    line = "--episodes 7: agentgym/Maze-v1 has 6 tasks; all are played"
    assert (line in found.output) == said, found.output
