import json

import pytest
import tomli_w
from warm import Warm

from agentgym_train import plugins
from agentgym_train.errors import ConfigError
from agentgym_train.testing import check_curriculum


def make(**options):
    return plugins.make(plugins.CURRICULUM, {"name": "linear", "start": 3, "limit": 8, **options})


def test_the_schedule():
    assert [make(delta=2, every=2).horizon(s) for s in range(8)] == [3, 3, 5, 5, 7, 7, 8, 8]


def test_it_is_what_the_trainer_relies_on():
    assert check_curriculum({"name": "linear", "start": 3, "limit": 8, "delta": 2, "every": 2})


@pytest.mark.parametrize(
    "options", [{"start": 0}, {"every": 0}, {"limit": 2}, {"delta": -1}, {"delta": 0.5}]
)
def test_schedules_that_cannot_be_are_refused(options):
    with pytest.raises(ConfigError):
        make(**options)


ENVIRONMENT = """
import gymnasium
from agentgym_envs.spaces import Unicode

class Lengths(gymnasium.Env):
    '''Longer actions earn more, so that there is something to learn.'''

    def __init__(self, admissible=False):
        self.observation_space = self.action_space = Unicode()

    def reset(self, *, seed=None, options=None):
        return "say", {"admissible_actions": ["a", "bc", "def"]}

    def step(self, action):
        return "more", float(len(action)), False, False, {"admissible_actions": ["a", "bc", "def"]}

gymnasium.register("linear/Lengths-v0", entry_point="lengths:Lengths", max_episode_steps=9)
"""


def test_the_trainer_follows_it(tmp_path, tmp_path_factory):
    (tmp_path / "lengths.py").write_text(ENVIRONMENT)
    config = {
        "run": {"folder": str(tmp_path / "run"), "steps": 3},
        "env": {"id": "lengths:linear/Lengths-v0", "groups": 1, "group_size": 4, "workers": 1},
        "model": {"max_context": 256},
        "scratch": {"hidden": 16, "episodes": 20, "steps": 2, "turns": 4},
        "rollout": {"max_new_tokens": 2},
        "curriculum": {"name": "linear", "start": 1, "limit": 2},
        "eval": {"episodes": 1, "horizon": 2},
    }
    (tmp_path / "run.toml").write_text(tomli_w.dumps(config))
    script = tmp_path / "train.py"  # its folder has the environment
    script.write_text("from agentgym_train.cli import app\n\napp(['run', 'run.toml'])\n")
    with Warm.of(tmp_path_factory) as warm:
        warm.play(script, tmp_path, cwd=tmp_path)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["horizon"] for line in lines] == [1, 2, 2]
