"""The plan of a results folder, its missing episodes, and the bounds of its success."""

import itertools
import json
from types import SimpleNamespace

import pytest
from compared import result
from raised import raises
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import planned, read_rows, record, several, tables
from agentgym_envs.evaluate.metrics import summarise
from agentgym_envs.evaluate.play_job import INTERRUPTED, JobOutcome
from agentgym_envs.evaluate.settings import RunSettings

SAMPLE = RunSettings(agent="chat")
MAZE = "agentgym/Maze-v1"


def episode(task, success=True, **changes):
    return result(task, 2, success=success, **changes)


def fault(task, **changes):
    head = {key: value for key, value in episode(task, **changes).items() if key != "turns"}
    return head | {"row": "fault", "fault": "agent", "try": 1, "turns": 0, "error": "no"}


def plan(*tasks, attempts=1, **changes):
    return [episode(t, attempt=n, **changes) for t in tasks for n in range(attempts)]


def table(rows, entries):
    return tables.results([*rows, *planned.missing(rows, entries)])


def test_the_bounds_are_those_of_all_ways_in_which_the_run_can_end():
    """Two families; tasks with two attempts and with one; an extra task that was not planned."""
    wanted = [*plan("a", "b", attempts=2), *plan("c"), *plan("x", "y", family="G")]
    rows = [episode("a"), episode("b", False, attempt=1), episode("b"), episode("e", False)]
    rows += [episode("x", family="G")]
    entries = planned.extended([], wanted)
    absent = planned.missing(rows, entries)
    assert {(r["family"], r["task_id"], r["attempt"]) for r in absent} == {
        *[("Maze", "a", 1), ("Maze", "c", 0), ("G", "y", 0)]
    }
    ends = []
    for successes in itertools.product((False, True), repeat=len(absent)):
        more = [
            episode(row["task_id"], success, attempt=row["attempt"], family=row["family"])
            for row, success in zip(absent, successes, strict=True)
        ]
        ends.append({line["name"]: line["success"] for line in tables.results(rows + more).lines})
    lines = {line["name"]: line for line in table(rows, entries).lines}
    assert lines.keys() == ends[0].keys() == {"Maze", "G", "mean of 2 families"}
    for name, line in lines.items():
        each = [end[name] for end in ends]
        assert (line["least"], line["most"]) == pytest.approx((min(each), max(each)))
        assert line["least"] < line["most"]
    assert (lines["Maze"]["tasks"], lines["G"]["tasks"]) == ("3×1–2 of 4×2", "1 of 2")


def test_two_solved_of_forty_are_no_whole_run():
    tasks = [f"t{n}" for n in range(40)]
    entries = planned.extended([], plan(*tasks))
    found = table([episode("t3"), episode("t9")], entries)
    line = found.lines[-1]
    assert (line["tasks"], line["success"]) == ("2 of 40", 1.0)
    assert (line["least"], line["most"]) == (2 / 40, 1.0)
    assert found.warning.startswith("2 of 40 episodes, incomplete: finished episodes are the short")
    whole = table([episode(task) for task in tasks], entries)
    assert whole.warning == ""
    assert not {"least", "unplayed", "failed"} & {key for key, _ in whole.columns}


def test_failed_episodes_are_no_unplayed_ones():
    """The tries of b failed, of c one failed and one ended, and nothing is known of d."""
    entries = planned.extended([], plan("a", "b", "c", "d"))
    rows = [episode("a"), fault("b"), fault("b"), fault("c"), episode("c", False)]
    found = table(rows, entries)
    assert {key: found.lines[-1][key] for key in ("tasks", "unplayed", "failed", "faults")} == {
        **{"tasks": "2 of 4", "unplayed": 1, "failed": 1, "faults": 3}
    }
    assert "1 not played yet, 1 failed in each try" in found.warning
    failed = table([*rows, episode("d")], entries)
    assert "3 of 4 episodes, incomplete: 1 failed" in failed.warning
    assert "short" not in failed.warning, "nothing was left out because it takes long"
    lost = table([fault("a")], entries).lines[-1]
    assert (lost["tasks"], lost["least"], lost["most"]) == ("0 of 4", 0.0, 1.0)


def test_a_family_without_an_episode_counts_in_the_mean():
    entries = planned.extended([], [*plan("a"), *plan("b", family="G")])
    lines = {line["name"]: line for line in table([episode("a")], entries).lines}
    assert lines["G"]["tasks"] == "0 of 1"
    mean = lines["mean of 1 of 2 families"]
    assert (mean["success"], mean["least"], mean["most"]) == (1.0, 0.5, 1.0)


def test_comparisons_name_the_runs_that_are_incomplete():
    rows = [episode("a", scenario="babyai"), episode("b", scenario="babyai")]
    entries = planned.extended([], plan("a", "b", "c", scenario="babyai"))
    half = [*rows, *planned.missing(rows, entries)]
    runs = [("whole", [*rows, episode("c", scenario="babyai")]), ("half", half)]
    for found in (tables.pairings(runs), tables.published(runs)):
        assert "half (2 of 3 episodes)" in found.warning
        assert "whole" not in found.warning
    assert tables.pairings(runs[:1] * 2).warning == ""


def filled(folder, *plans, rows=()):
    for one in plans:
        opened = record.RunRecord(folder, SAMPLE)
        try:
            opened.plan(one)
            for row in rows:
                opened.add(row)
        finally:
            opened.close()
    return record.read_settings(folder).get("planned")


def test_a_later_plan_removes_nothing(tmp_path):
    """A second command with fewer tasks does not make the folder complete."""
    rows = [episode("a"), episode("c")]
    entries = filled(tmp_path, plan("a", "b", "c"), plan("a"), plan("c", attempts=2), rows=rows)
    assert sum(entry["episodes"] for entry in entries) == 4
    absent = planned.missing(record.read(tmp_path)[0], entries)
    assert [(row["task_id"], row["attempt"]) for row in absent] == [("b", 0), ("c", 1)]
    assert filled(tmp_path, plan("b")) == entries
    (run,) = read_rows(tmp_path).runs
    assert (run["episodes"], run["planned"], run["least"]) == (2, 4, pytest.approx(1.5 / 3))
    assert run["most"] == 1.0


def test_the_plan_of_a_folder_without_a_line_is_replaced(tmp_path):
    filled(tmp_path, plan(*"abcdef"))
    (entry,) = filled(tmp_path, plan("x"))
    assert entry["tasks"] == {"x": 1}


@pytest.mark.parametrize("damage", [{}, [1], [{}], [{"tasks": {"a": "b"}}], "poem"])
def test_a_damaged_plan_is_one_line(tmp_path, damage):
    (entry,) = filled(tmp_path, plan("a"), rows=[episode("a")])
    if isinstance(damage, list) and damage and isinstance(damage[0], dict) and damage[0]:
        damage = [entry | damage[0]]
    settings = record.read_settings(tmp_path) | {"planned": damage}
    (tmp_path / record.SETTINGS).write_text(json.dumps(settings))
    with raises(ArgumentError, "'planned'"):
        record.read_settings(tmp_path)
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--html", str(tmp_path / "r.html")])
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)


def call(*arguments, status=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == status, done.output
    return " ".join(done.output.split())


def test_an_interrupted_evaluation_is_reported_as_one(tmp_path, monkeypatch):
    """Ctrl-C at the third episode of six; then the report, the rest, and the report again."""
    monkeypatch.chdir(tmp_path)
    command = ["eval", MAZE, "--agent", "oracle", "--episodes", 6, "--out", "run"]
    command += ["--workers", 1, "--concurrency", 1]
    real = record.RunRecord.add

    def add(self, row):
        if len(self.rows) == 2:
            raise KeyboardInterrupt
        real(self, row)

    with monkeypatch.context() as patched:
        patched.setattr(record.RunRecord, "add", add)
        shown = call(*command, status=1)
    assert "2 of 6 episodes, incomplete" in shown
    assert "2 of 6 1.000 " in shown
    assert "0.33–1.00" in shown
    shown = call("report", "run")
    assert "2 of 6 episodes, incomplete: finished episodes are the short ones" in shown
    assert "bounds: the success if all missing episodes fail" in shown
    settings, (rows, _) = record.read_settings(tmp_path / "run"), record.read(tmp_path / "run")
    (entry,) = settings["planned"]
    with (tmp_path / "run" / record.EPISODES).open("a") as file:
        for task in entry["tasks"].keys() - {row["task_id"] for row in rows}:
            file.write(json.dumps(rows[0] | {"task_id": task}) + "\n")
    shown = call("report", "run")
    assert "incomplete" not in shown
    assert "bounds" not in shown
    assert (entry["episodes"], entry["attempts"], len(entry["tasks"])) == (6, 1, 6)
    del settings["planned"]
    (tmp_path / "run" / record.SETTINGS).write_text(json.dumps(settings))
    assert "the plan is unknown" in call("report", "run")
    call(*command)
    assert "unknown" not in call("report", "run"), "the command names the plan again"


def test_summaries_do_not_depend_on_the_plan():
    rows = [episode("a"), episode("b", False)]
    line = table(rows, planned.extended([], plan("a", "b", "c"))).lines[-1]
    found = summarise(rows)
    assert (line["success"], line["low"], line["high"]) == (found.success, *found.interval)


def test_a_comparison_of_targets_marks_those_that_an_interrupt_left(monkeypatch, capsys):
    """Ctrl-C in the first of two targets, after one of two episodes."""
    rows = [episode("a")]
    rows += planned.missing(rows, planned.extended([], plan("a", "b")))
    job = SimpleNamespace(skipped=())
    monkeypatch.setattr(several, "carry_out", lambda job: JobOutcome(rows, 1, INTERRUPTED))
    assert not several.carry_out_all(
        [several.PlayerOnTarget("m", name, job) for name in ("one", "two")]
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "one two" in shown
    assert "1.000 (0.05–1.00)* [0.50–1.00] none*" in shown
    assert "*: episodes are missing" in shown
