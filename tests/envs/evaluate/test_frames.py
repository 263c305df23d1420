"""Result folders as tables of runs, episodes, turns and faults."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from compared import result, turn
from raised import raises

from agentgym_envs.errors import ArgumentError, MissingExtra
from agentgym_envs.evaluate import frames, metrics, read, read_rows, record

USAGE = {"calls": 2, "prompt_tokens": 100, "completion_tokens": 7, "cost": 0.25}
LOST = {"row": "fault", "fault": "provider", "try": 1, "turns": 1, "error": "no answer"}


def played():
    """Three episodes of two tasks, of which the first is played again, and a fault."""
    rows = [
        result("a", 2, success=False, score=0.5, usage=USAGE),
        result("b", [turn(1, invalid=True)], usage=USAGE),
        result("a", 3, attempt=1, usage=USAGE),
        result("a", [turn(1), turn(2, reward=1.0, seat="player_0")], usage=USAGE),
    ]
    fault = {key: rows[0][key] for key in (*frames.PLACE, "settings")}
    return [*rows, fault | LOST | {"usage": {}}]


@pytest.fixture
def folder(tmp_path):
    record.write(tmp_path / "results" / "one", {"model": "m", "agent": "chat"}, played())
    return tmp_path / "results" / "one"


def test_a_folder_has_runs_episodes_turns_and_faults(folder):
    found = read_rows(folder)
    assert {name: [*rows[0]] for name, rows in vars(found).items() if name != "runs"} == {
        name: [*columns] for name, columns in frames.COLUMNS.items() if name != "runs"
    }
    episodes = [(e["episode"], e["task_id"], e["attempt"], e["turns"]) for e in found.episodes]
    assert episodes == [(0, "a", 0, 2), (1, "b", 0, 1), (2, "a", 1, 3)]
    assert [e["invalid"] for e in found.episodes] == [0, 1, 0]
    assert {e["prompt_tokens"] for e in found.episodes} == {100}
    assert [(t["episode"], t["turn"], t["action"]) for t in found.turns][:3] == [
        (0, 1, "go 1"),
        (0, 2, "go 2"),
        (1, 1, "go 1"),
    ]
    assert [t["seat"] for t in found.turns] == [None, "player_0", None, None, None, None]
    assert [(f["task_id"], f["fault"], f["error"]) for f in found.faults] == [
        ("a", "provider", "no answer")
    ]


def test_a_run_has_its_settings_and_sums(folder):
    (run,) = read_rows(str(folder)).runs
    assert {key: run[key] for key in ("run", "model", "agent", "tasks", "episodes", "faults")} == {
        "run": "one",
        "model": "m",
        "agent": "chat",
        "tasks": 2,
        "episodes": 3,
        "faults": 1,
    }
    assert (run["success"], run["score"], run["cost"], run["calls"]) == (1.0, 1.0, 0.75, 6)
    assert (run["low"], run["high"]) == metrics.mean_interval([[1.0, 1.0]])


def test_a_folder_of_results_has_a_row_for_each(folder):
    record.write(folder.parent / "two", {"model": "n"}, [])
    (folder.parent / "notes").mkdir()
    found = read_rows(folder.parent)
    assert [(run["run"], run["tasks"], run["success"]) for run in found.runs] == [
        ("one", 2, 1.0),
        ("two", 0, None),
    ]
    assert {e["run"] for e in found.episodes} == {"one"}


def test_what_is_no_results_folder_is_one_clear_line(tmp_path, folder):
    with raises(ArgumentError, "settings.json"):
        read_rows(tmp_path / "none")
    with pytest.raises(ArgumentError, match="holds no results"):
        read_rows(folder.parent.parent)
    with (folder / record.EPISODES).open("a") as file:
        file.write('{"row": "episode"}\n')
    with raises(ArgumentError, "line 6"):
        read_rows(folder)


def test_data_frames_have_the_rows(folder, tmp_path):
    pandas = pytest.importorskip("pandas")
    found, rows = read(folder), read_rows(folder)
    for name, table in vars(found).items():
        assert [*table.columns] == [*vars(rows)[name][0]]
        written = table.to_json(orient="records", double_precision=15)
        assert json.loads(written) == [pytest.approx(row) for row in vars(rows)[name]]
    joined = found.turns.merge(found.episodes, on=["run", "episode"])
    assert joined.groupby("task_id").size().to_dict() == {"a": 5, "b": 1}
    record.write(tmp_path / "empty", {}, [])
    assert [*read(tmp_path / "empty").turns.columns] == [*frames.COLUMNS["turns"]]
    assert isinstance(found.runs, pandas.DataFrame)


def test_without_pandas_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with raises(MissingExtra, "agentgym-envs[pandas]"):
        read(folder)


def test_the_documentation_lists_every_column():
    page = (Path(__file__).parents[3] / "docs/reading_results.md").read_text(encoding="utf-8")
    for name, columns in frames.COLUMNS.items():
        (line,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert [word for word in re.findall(r"`(\w+)`", line)[1:] if word in columns] == [*columns]


def test_rows_need_no_pandas():
    code = "import sys, agentgym_envs.evaluate; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
