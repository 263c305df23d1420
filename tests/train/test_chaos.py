"""``benchmarks/chaos.py``: its judgement of a run, and a small version of it."""

import random
import re
import subprocess
import sys
from pathlib import Path

import chaos
import numpy as np
import psutil
import pytest
from safetensors.numpy import save_file


@pytest.fixture
def finished(tmp_path):
    """Returns a function that makes a finished run with a weight."""

    def make(name, weight):
        folder = tmp_path / name / "run" / "model"
        folder.mkdir(parents=True)
        save_file({"w": np.array([weight])}, folder / "model.safetensors")
        return folder.parent

    return make


TRACEBACK = "Traceback (most recent call last):\nKeyError: 'bytes'"
LINE = "warning: run/checkpoints/step-000004 is corrupt: a file is missing; going back"


@pytest.mark.parametrize(
    ("stop", "weight", "damaged", "wanted"),
    [
        ({}, 1.0, None, ("exact", "")),
        ({}, 1.0, "metrics.jsonl", ("exact", "")),
        ({}, 1.0 + 2**-52, "metrics.jsonl", ("", "other weights without a line")),
        ({"output": LINE}, 1.0, "checkpoints/step-000004/state.json", ("exact, reported", "")),
        ({"output": LINE}, 2.0, "checkpoints/step-000004/state.json", ("other weights, rep", "")),
        ({"output": LINE}, 2.0, "init/config.json", ("", "other weights without a line")),
        ({"output": "error: run/config.toml: x", "status": 1}, 1.0, "config.toml", ("refused", "")),
        ({"output": "error: x", "status": 1}, 1.0, "config.toml", ("", "exit status 1")),
        ({"output": TRACEBACK + "\n" + LINE}, 1.0, "state.json", ("", "traceback")),
        ({"left": ["python"]}, 1.0, None, ("", "left python")),
        ({"status": None}, 1.0, None, ("", "did not end")),
    ],
)
def test_a_run_goes_on_exactly_or_names_the_damaged_file(finished, stop, weight, damaged, wanted):
    run, undisturbed = finished("run", weight), finished("undisturbed", 1.0)
    made = chaos.Stop(**{"status": 0, "output": "", "left": [], "struck": "", "seconds": 1} | stop)
    found = chaos.fault_of(made, run, undisturbed, damaged and run / damaged)
    for part, expected in zip(found, wanted, strict=True):
        assert expected in part
        assert bool(part) == bool(expected)


def test_a_run_without_a_model_is_not_finished(finished, tmp_path):
    stop = chaos.Stop(0, "", [], "", 1)
    assert "without a readable model" in chaos.fault_of(stop, tmp_path, finished("u", 1.0), None)[1]


@pytest.mark.parametrize("how", ["with a flipped bit", "truncated", "deleted"])
def test_one_file_is_damaged(tmp_path, how):
    for number in range(5):
        (tmp_path / str(number)).write_bytes(b"contents" * number)
    name, path = chaos.damage(random.Random(0), tmp_path, how)
    contents = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    wrong = [n for n in range(5) if contents.get(str(n)) != b"contents" * n]
    assert wrong == [int(path.name)]
    assert name == f"{path.name} {how}"
    if how == "with a flipped bit":
        pairs = zip(contents[path.name], b"contents" * wrong[0], strict=True)
        assert sum((a ^ b).bit_count() for a, b in pairs) == 1


def test_processes_that_outlive_the_command_are_found_and_ended(tmp_path, monkeypatch):
    program = tmp_path / "agentgym-train"
    child = f"{sys.executable} -c 'import time; time.sleep(60)' -m agentgym_train.cli work x"
    program.write_text(f"#!/bin/sh\n{child} &\nwait\n")
    program.chmod(0o700)
    monkeypatch.setattr(chaos, "LEAVE", 0.1)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    before = set(psutil.Process().children())
    kill = chaos.signalled(random.Random(0), "command", "KILL")

    def strike(all_):  # Before it runs its own program, the child looks like the command.
        child_runs = any("time.sleep(60)" in " ".join(p.cmdline()) for p in all_)
        return kill(all_) if child_runs else ""

    stop = chaos.Runs(tmp_path, 30).start(tmp_path, strike)
    assert (stop.status, stop.struck) == (-9, "SIGKILL to the command")
    assert any("time.sleep(60)" in each for each in stop.left)
    assert set(psutil.Process().children()) <= before


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(1800)
def test_three_random_faults(tmp_path):
    script = Path(chaos.__file__)
    options = ["--faults", "3", "--seed", "4", "--out", tmp_path / "out.md"]
    done = subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^\| \d \| .* \|$", (tmp_path / "out.md").read_text(), re.MULTILINE)
    assert len(rows) == 3
