import json
import subprocess
import sys

import pytest
import tomli_w

from agentgym_train import plugins
from agentgym_train.errors import ConfigError


def make(**options):
    return plugins.make_curriculum({"name": "linear", "start": 3, "limit": 8, **options})


def test_the_schedule():
    assert [make(delta=2, every=2).horizon(s) for s in range(8)] == [3, 3, 5, 5, 7, 7, 8, 8]


@pytest.mark.parametrize("options", [{"start": 0}, {"every": 0}, {"limit": 2}, {"delta": -1}, {"delta": 0.5}])
def test_schedules_that_cannot_be_are_refused(options):
    with pytest.raises(ConfigError):
        make(**options)


def test_the_trainer_follows_it(tmp_path):
    config = {
        "run": {"folder": str(tmp_path / "run"), "steps": 3},
        "env": {"id": "agentgym/Maze-v0", "kwargs": {"rooms": [4]}, "groups": 1, "group_size": 2},
        "model": {"max_context": 256},
        "scratch": {"hidden": 16, "episodes": 20, "steps": 2, "turns": 4},
        "rollout": {"max_new_tokens": 2},
        "curriculum": {"name": "linear", "start": 1, "limit": 2},
        "eval": {"episodes": 1, "horizon": 2},
    }
    (tmp_path / "run.toml").write_text(tomli_w.dumps(config))
    command = [sys.executable, "-m", "agentgym_train.cli", "run", str(tmp_path / "run.toml")]
    subprocess.run(command, check=True, capture_output=True)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["horizon"] for line in lines] == [1, 2, 2]
