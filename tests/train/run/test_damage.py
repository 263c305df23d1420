"""Every file of a run folder, damaged: the next command goes on exactly, or says what is damaged."""

import json
import shutil
from pathlib import Path

import pytest
import small_run

from agentgym_train.reporting.metrics import MEASURED

pytestmark = pytest.mark.slow

OPTIONS = {
    "scratch": {"hidden": 32, "episodes": 40, "steps": 60, "turns": 8},
    "env": {"kwargs": {"rooms": [3]}, "groups": 2, "group_size": 4},
    "algorithm": {"name": "grpo", "kl_coef": 0.05},
    "eval": {"episodes": 2, "horizon": 4, "every": 1},
}


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = {"flip": flip, "truncate": truncate, "delete": Path.unlink}
TOOLS = {"zero_to_fp32.py", "zero_to_torch.py"}


def write(home):
    run = {"folder": str(home / "run"), "steps": 2, "save_every": 1, "keep": 2}
    return small_run.write(home, run=run, **OPTIONS)


@pytest.fixture(scope="module")
def runs(warm, once):
    """Returns folders: of a run of two steps, and of the same run with a third step."""

    def play(home):
        path = write(home)
        warm.finish(path)
        shutil.copytree(home / "run", home / "begun")
        warm.finish(path, "--set", "run.steps=3")

    home = once("damage", play)
    return home / "begun", home / "run"


def files(folder):
    names = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in names)


def rows(folder):
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return [{k: v for k, v in row.items() if k not in MEASURED} for row in lines]


def test_list(runs, warm, tmp_path):
    for name in files(runs[0]):
        print(name)


def check(runs, warm, home, name, damage):
    """Damages a file, runs the same command again, and compares the run with the undisturbed one."""
    begun, undisturbed = runs
    folder = home / "run"
    shutil.copytree(begun, folder)
    size = (folder / name).stat().st_size
    DAMAGES[damage](folder / name)
    path = write(home)
    said = warm.finish(path, "--set", "run.steps=3")
    lines = [
        line for line in said.splitlines() if line.startswith("warning: ") and str(folder) in line
    ]
    print(name, damage, size, lines)
    assert rows(folder) == rows(undisturbed)
    for each in ("model/model.safetensors", "init/model.safetensors", "evaluation.json"):
        assert (folder / each).read_bytes() == (undisturbed / each).read_bytes()
    assert len(lines) <= 1
    return lines


def test_every(runs, warm, tmp_path):
    import time

    for name in files(runs[0]):
        for damage in DAMAGES:
            t = time.time()
            home = tmp_path / "x"
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            try:
                check(runs, warm, home, name, damage)
            except AssertionError as error:
                print("FAIL", name, damage, str(error)[:600])
            print(time.time() - t)
