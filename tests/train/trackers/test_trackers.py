import json
import os
import sqlite3
import struct
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest
import tracked
from raised import raises

from agentgym_envs.errors import MissingExtra
from agentgym_train import plugins
from agentgym_train.config import Config, EnvConfig, RunConfig
from agentgym_train.errors import ConfigError
from agentgym_train.files import checksum_file, write_sealed
from agentgym_train.reporting import report
from agentgym_train.trackers import trackio

ELSEWHERE = "not installed here; `tox run -e full` installs it and runs this test"
NUMBERS = {"horizon": 4, "episodes": 64, "time/collect": 1.5}


def play(tmp_path, options, steps, *, part=1, dies=False, folder="mine", warm=None, **env):
    """Plays a part of a run in another process, without a network.

    The process is a fork of the warm one, or a new one with other environment variables.
    """
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    arguments = json.dumps([options, str(tmp_path / folder), steps, part, dies])
    if warm is None:
        env = {**os.environ, "HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", **env}
        done = subprocess.run(
            [sys.executable, tracked.__file__, arguments],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        status, output = done.returncode, done.stderr
    else:
        warm.start(tmp_path / "output", arguments, script=tracked.__file__)
        status, output = warm.status(), (tmp_path / "output").read_text()
    assert status == (9 if dies else 0), output
    return tmp_path / folder


def tensorboard_shows(folder):
    """Returns (step, value) pairs by tag, from the reader of TensorBoard's pages."""
    from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    reader = EventAccumulator(
        str(folder / "tensorboard"), tensor_size_guidance={"scalars": 0, "text": 0}
    ).Reload()
    return {
        tag: [(e.step, make_ndarray(e.tensor_proto).item()) for e in reader.Tensors(tag)]
        for tag in reader.Tags()["tensors"]
    }


@pytest.mark.slow
def test_tensorboard_goes_on_after_a_crash(warm, tmp_path):
    pytest.importorskip(
        "tensorboard", reason="the tox environments install it; a run without it tests the rest"
    )
    folder = play(tmp_path, {"name": "tensorboard"}, [1, 2, 3, 4, 5], dies=True, warm=warm)
    steps = [step for step, _ in tensorboard_shows(folder)["success"]]
    assert steps == [1, 2, 3, 4, 5], "all are on the disk"
    play(tmp_path, {"name": "tensorboard"}, [4, 5, 6, 7], part=2, warm=warm)
    shown = tensorboard_shows(folder)
    configs, texts = shown.pop("config/text_summary"), shown.pop("samples/text_summary")
    assert shown == {
        "success": [(step, step / 8) for step in range(1, 8)],
        "part": [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 2)],
        **{key: [(step, value) for step in range(1, 8)] for key, value in NUMBERS.items()},
    }
    text = "\n".join(report.as_text(t) for t in tracked.EPISODES)
    assert [(step, value.decode()) for step, value in texts] == [
        (step, text) for step in (1, 3, 5, 7)
    ]
    assert [step for step, _ in configs] == [1, 4]
    assert json.loads(configs[0][1])["run"]["steps"] == 9


def test_a_text_is_what_the_report_shows(tmp_path):
    report.write_trajectories(tmp_path / "shown.md", {"Maze": tracked.EPISODES})
    head, *parts = (tmp_path / "shown.md").read_text().split("\n## ")
    assert head == "# Episodes on held-out tasks after training\n"
    assert ["## " + part for part in parts] == [report.as_text(t) for t in tracked.EPISODES]
    assert report.as_text(tracked.EPISODES[0]) == (
        "## maze 7: completed, no success, score 0.50, 1 turns\n\n"
        "    You see a door.\n    It is shut.\n\n**1.** `open <door>`  (reward +0.25)\n"
    )


def wandb_records(path):
    """Reads wandb's offline file: a LevelDB log after a header of seven bytes."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, part = path.read_bytes(), 7, b""
    while at < len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        part += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield Record.FromString(part)
            part = b""


@pytest.mark.slow
def test_wandb_offline_has_it_all_in_one_run(tmp_path):
    pytest.importorskip("wandb", reason=ELSEWHERE)
    options, offline = {"name": "wandb", "project": "doors"}, {"WANDB_MODE": "offline"}
    folder = play(tmp_path, options, [1, 2, 3], **offline)
    play(tmp_path, options, [3, 4], part=2, **offline)
    ids, logged = set(), []
    for path in sorted(
        folder.glob("wandb/offline-run-*/*.wandb"), key=lambda path: path.stat().st_mtime
    ):
        for record in wandb_records(path):
            if record.HasField("run"):
                config = {
                    item.key: json.loads(item.value_json) for item in record.run.config.update
                }
                ids.add(
                    (
                        record.run.run_id,
                        record.run.project,
                        record.run.display_name,
                        config["run"]["steps"],
                    )
                )
            if record.HasField("history"):
                logged.append(
                    {
                        i.key or "/".join(i.nested_key): json.loads(i.value_json)
                        for i in record.history.item
                    }
                )
    assert ids == {((folder / "wandb-id").read_text(), "doors", "mine", 9)}
    assert [(row["_step"], row["success"]) for row in logged] == [
        (s, s / 8) for s in (1, 2, 3, 3, 4)
    ]
    assert all({key: row[key] for key in NUMBERS} == NUMBERS for row in logged)
    assert ["samples/path" in row for row in logged] == [True, False, True, True, False]
    table = json.loads(
        next(folder.glob(f"wandb/offline-run-*/files/{logged[0]['samples/path']}")).read_text()
    )
    assert table["columns"] == ["step", "task", "return", "text"]
    texts = [report.as_text(t) for t in tracked.EPISODES]
    assert table["data"] == [[1, "maze 7", 0.25, texts[0]], [1, "seed 4", 0.5, texts[1]]]


def test_wandb_without_an_account_is_one_line(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason=ELSEWHERE)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("WANDB_MODE", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        ConfigError, match=r"^tracker wandb: [^\n]*API key[^\n]*WANDB_MODE=offline[^\n]*$"
    ):
        plugins.make_object(plugins.TRACKER, {"name": "wandb"}, {}, tmp_path)


@pytest.mark.slow
def test_trackio_goes_on_with_the_run_of_its_folder(tmp_path):
    pytest.importorskip("trackio", reason=ELSEWHERE)
    options, store = (
        {"name": "trackio", "project": "doors"},
        {"TRACKIO_DIR": str(tmp_path / "store")},
    )
    folder = play(tmp_path, options, [1, 2, 3], **store)
    play(tmp_path, options, [1], folder="other/mine", **store)
    play(tmp_path, options, [2, 3, 4], part=2, **store)
    name = json.loads((folder / "trackio.json").read_text())["name"]
    play(tmp_path, {**options, "run": name}, [1, 5], part=3, folder="third", **store)
    with sqlite3.connect(tmp_path / "store" / "doors.db") as store:
        rows = store.execute(
            "SELECT run_id, run_name, step, metrics FROM metrics ORDER BY id"
        ).fetchall()
        configs = store.execute("SELECT run_name, config FROM configs").fetchall()
    store.close()
    names = {run_id: run for run_id, run, *_ in rows}
    first = next(iter(names))
    assert [run == name for run in names.values()] == [True, False, True]
    mine = [(step, json.loads(metrics)) for run_id, _, step, metrics in rows if run_id == first]
    assert [(step, row["success"] * 8, row["part"]) for step, row in mine] == [
        (1, 1, 1),
        (2, 2, 1),
        (3, 3, 1),
        (4, 4, 2),
    ]
    assert all({key: row[key] for key in NUMBERS} == NUMBERS for _, row in mine)
    assert json.loads(dict(configs)[name])["run"]["steps"] == 9
    assert ["samples" in row for _, row in mine] == [True, False, True, False]
    text = report.as_text(tracked.EPISODES[1])
    assert mine[0][1]["samples"]["_value"][1] == {
        "step": 1,
        "task": "seed 4",
        "return": 0.5,
        "text": text,
    }


def test_trackio_refuses_in_one_line(tmp_path, monkeypatch):
    pytest.importorskip("trackio", reason=ELSEWHERE)
    with pytest.raises(
        ConfigError, match=r"^tracker trackio: [^\n]*'registry-mine' is not allowed[^\n]*$"
    ):
        plugins.make_object(
            plugins.TRACKER, {"name": "trackio", "project": "registry-mine"}, {}, tmp_path
        )


@pytest.mark.parametrize(
    "found", [None, ModuleSpec("wandb", None)], ids=["nothing", "a mere folder"]
)
@pytest.mark.parametrize("name", ["tensorboard", "wandb", "trackio"])
def test_a_missing_library_is_the_pip_command(name, found, monkeypatch):
    monkeypatch.setattr("agentgym_train.trackers.data.find_spec", lambda library: found)
    with raises(MissingExtra, f"tracker {name}", f"agentgym-train[{name}]"):
        plugins.make(plugins.TRACKER, {"name": name})


@pytest.mark.parametrize(
    ("options", "full"),
    [
        ({"name": "tensorboard"}, {"name": "tensorboard"}),
        ({"name": "wandb", "run": "long"}, {"name": "wandb", "project": "agentgym", "run": "long"}),
        ({"name": "trackio", "project": "doors"}, {"name": "trackio", "project": "doors"}),
    ],
)
def test_options_are_written_out(options, full, monkeypatch):
    monkeypatch.setattr(
        "agentgym_train.trackers.data.find_spec",
        lambda library: ModuleSpec(library, None, origin="there"),
    )
    config = Config(
        run=RunConfig(folder="x", steps=1),
        envs=(EnvConfig(id="m:e"),),
        curriculum={"name": "fixed", "turns": 1},
        tracker=[options],
    )
    assert plugins.resolved(config).tracker == [full]
    with raises(ConfigError, "tracker.state"):
        plugins.make(plugins.TRACKER, {**options, "state": {}})
    if "project" in full:
        with raises(ConfigError, "tracker.project"):
            plugins.make(plugins.TRACKER, {**options, "project": ""})


@pytest.mark.parametrize(
    "content",
    ["", "[]", "null", "7", '{"name"', "\xff", "[" * 99_999, '{"name": "mine", "step": 4}'],
)
def test_a_damaged_file_of_the_tracked_run_is_one_warning(tmp_path, caplog, content):
    """Another run begins, since the name can be wrong."""
    kept = tmp_path / trackio.KEPT
    assert trackio._read(kept) == {}
    write_sealed(kept, '{"name": "mine", "step": 3}')
    assert trackio._read(kept) == {"name": "mine", "step": 3}
    kept.write_text(content)
    assert trackio._read(kept) == {}
    (said,) = [record.getMessage() for record in caplog.records]
    assert str(kept) in said
    assert "is another one" in said
    checksum_file(kept).unlink()
    assert trackio._read(kept).get("step") == (4 if "step" in content else None)
