import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from raised import raises

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.record import EPISODES, SETTINGS, EpisodeKey, RunRecord, episodes, read
from agentgym_envs.evaluate.settings import RunSettings

SAMPLE = RunSettings(agent="react", model="small", sampling={"temperature": 0.5})


def line(task="t", attempt=0, row="episode", **more):
    named = {
        "row": row,
        "suite": "",
        "scenario": "",
        "family": "F",
        "env_id": "e",
        "task_id": task,
        "difficulty": 1,
    }
    ended = {"success": True, "score": 1.0, "end": "terminated", "turns": [], "usage": {}}
    return {**named, "attempt": attempt, "settings": SAMPLE.key, **ended, **more}


def test_what_was_added_is_there_again(tmp_path):
    opened = RunRecord(tmp_path / "run", SAMPLE)
    opened.add(line(text="odd \ud800   \x00 “text”"))
    opened.close()
    again = RunRecord(tmp_path / "run", SAMPLE)
    assert again.rows == [line(text="odd \ud800   \x00 “text”")]
    again.add(line("u"))
    again.close()
    assert [EpisodeKey.of(row).task_id for row in episodes(read(tmp_path / "run")[0])] == ["t", "u"]


def test_a_line_is_on_the_disk_before_the_next_episode(tmp_path, monkeypatch):
    """Not only in the system's memory, which a power cut empties."""
    synced = []
    opened = RunRecord(tmp_path / "run", SAMPLE)
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.pread(file, 9999, 0)))
    opened.add(line("a"))
    opened.close()
    assert synced == [(tmp_path / "run" / EPISODES).read_bytes()]


def test_half_a_last_line_is_dropped_and_nothing_else(tmp_path):
    opened = RunRecord(tmp_path, SAMPLE) if not list(tmp_path.iterdir()) else None
    opened.add(line("a"))
    opened.close()
    with (tmp_path / EPISODES).open("a") as file:
        file.write('{"row": "epis')
    assert read(tmp_path) == ([line("a")], 13)
    again = RunRecord(tmp_path, SAMPLE)
    assert (again.rows, again.cut) == ([line("a")], 13)
    again.add(line("b"))
    again.close()
    assert [row["task_id"] for row in read(tmp_path)[0]] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "large"}, r"other settings: model is 'small' there and 'large' here"),
        ({"sampling": {"temperature": 1.0}}, r"sampling is \{'temperature': 0.5\} there"),
        ({"horizon": 3}, "horizon is None there and 3 here"),
    ],
)
def test_results_of_other_settings_are_not_mixed(tmp_path, change, message):
    opened = RunRecord(tmp_path, SAMPLE)
    opened.add(line())
    opened.close()
    before = (tmp_path / SETTINGS).read_bytes()
    with pytest.raises(ArgumentError, match=message):
        RunRecord(
            tmp_path,
            RunSettings(
                **{"agent": "react", "model": "small", "sampling": {"temperature": 0.5}, **change}
            ),
        )
    assert (tmp_path / SETTINGS).read_bytes() == before


def test_settings_without_a_line_claim_nothing(tmp_path):
    """A command that failed after making the folder does not block the corrected command."""
    RunRecord(tmp_path, SAMPLE).close()
    RunRecord(tmp_path, replace(SAMPLE, model="large")).close()
    assert json.loads((tmp_path / SETTINGS).read_text())["model"] == "large"


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with raises(ArgumentError, "not empty"):
        RunRecord(tmp_path, SAMPLE)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "text", ["no json", "[1]", '{"row": "episode"}', json.dumps(line(row="poem"))]
)
def test_a_line_that_is_none_is_named_and_kept(tmp_path, text):
    RunRecord(tmp_path, SAMPLE).close()
    written = json.dumps(line()) + "\n" + text + "\n"
    (tmp_path / EPISODES).write_text(written)
    with raises(ArgumentError, "line 2", EPISODES):
        RunRecord(tmp_path, SAMPLE)
    assert (tmp_path / EPISODES).read_text() == written


def test_one_run_at_a_time_until_it_is_killed(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from agentgym_envs.evaluate.record import"
        " RunRecord; from agentgym_envs.evaluate.settings import RunSettings;"
        " r = RunRecord(Path(sys.argv[1]), RunSettings(agent='react', model='small',"
        " sampling={'temperature': 0.5})); print('open',"
        " flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "open\n"
        with raises(ArgumentError, "another run"):
            RunRecord(tmp_path, SAMPLE)
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        RunRecord(tmp_path, SAMPLE).close()


def test_the_key_depends_on_everything_in_the_settings_and_on_nothing_else():
    assert (
        SAMPLE.key == RunSettings(sampling={"temperature": 0.5}, model="small", agent="react").key
    )
    others = [
        {"agent": "chat"},
        {"options": {"window": 1}},
        {"model": "x"},
        {"format": None},
        {"horizon": 1},
        {"kwargs": {"a": 1}},
    ]
    base = {"agent": "react", "model": "small", "sampling": {"temperature": 0.5}}
    assert (
        len({RunSettings(**{**base, **other}).key for other in others} | {SAMPLE.key})
        == len(others) + 1
    )
