"""Plugins that a configuration names by module or file."""

import shutil
import sys
import tomllib
from pathlib import Path

import pytest
import small_run
import tomli_w
from warm import Warm

from agentgym_envs import processes
from agentgym_envs.errors import AgentGymError
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.engine import checkpoint
from agentgym_train.reward import config as reward
from agentgym_train.run.folder import changed_code

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
EVERY = """
from dataclasses import dataclass
from agentgym_train import *

class Base:
    @dataclass(frozen=True, kw_only=True)
    class Options:
        size: int = 1
    @classmethod
    def build(cls, *parts): return parts[0]

class Scaled(Base, KIND): pass
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a configuration and plugins; the working folder is another one."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(processes, "_appended", [])
    monkeypatch.setattr(plugins, "_by_place", {})
    for name in ("loss", "curriculum"):
        shutil.copy(EXAMPLES / f"new_{name}.py", tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("new_", "every_"))]:
        del sys.modules[name]


@pytest.mark.parametrize("kind", plugins.KINDS[1:], ids=lambda kind: kind.section)
def test_every_kind_has_both_forms(home, kind):
    module = f"every_{kind.section}"
    (home / f"{module}.py").write_text(EVERY.replace("KIND", kind.base.__name__))
    table = {"name": f"./{module}.py:Scaled", "size": 3}
    path = small_run.write(home, **{kind.section: [table] if kind.many else table})
    shown = getattr(plugins.resolved(configuration.load(path)), kind.section)
    expected = {"name": f"{home}/{module}.py:Scaled", "size": 3}
    assert shown == ([expected] if kind.many else expected)
    assert plugins.make(kind, {"name": f"{module}:Scaled", "size": 2}).options.size == 2


def test_the_file_of_an_agent_is_noted_with_the_sections_own_keys(home):
    """``attempts`` belongs to the section and is no option of the agent."""
    (home / "every_agent.py").write_text(
        "class Learner:\n"
        "    def __init__(self, *, client, size=1): ...\n"
        "    async def act(self, observation, info): ...\n"
        "    async def end(self, ending): ...\n"
    )
    agent = {"name": "./every_agent.py:Learner", "size": 2, "attempts": 3}
    config = configuration.load(small_run.write(home, agent=agent))
    assert list(plugins.code(config)) == [f"{home}/every_agent.py:Learner"]
    assert config.attempts == 3


def test_paths_begin_at_the_file_those_of_overrides_at_the_working_folder(home):
    parts = [{"name": "./new_curriculum.py:Linear", "start": 1, "limit": 2}]
    raw = {
        "curriculum": {"name": "composed", "parts": parts},
        "algorithm": {"name": "~/new_loss.py:Best"},
        "source": {"name": "rollout"},
    }
    path = small_run.write(home, **raw)
    tables = tomllib.loads(path.read_text())
    tables["env"] = [tables["env"] | {"curriculum": parts[0], "id": "./new_loss.py:Env"}]
    path.write_text(tomli_w.dumps(tables))
    config = configuration.load(path, ["source.name=./mine.py:Mine"])
    linear = f"{home}/new_curriculum.py:Linear"
    assert config.curriculum["parts"][0]["name"] == linear
    assert config.env.curriculum["name"] == linear
    assert config.env.id == f"{home}/new_loss.py:Env"
    assert config.algorithm["name"] == f"{home}/new_loss.py:Best"
    assert config.source["name"] == f"{home}/elsewhere/mine.py:Mine"
    raw = {"run": {"folder": "x", "steps": 1}, "comparisons": {"files": ["a"]}}
    tracked = reward.of(raw | {"tracker": [{"name": "./t.py:T"}]})
    assert tracked.tracker[0]["name"] == f"{home}/elsewhere/t.py:T"


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("algorithm.name=../new_los.py:Best", ["there is no file", "'new_loss.py'"]),
        ("algorithm.name=./nowhere/x.py:Best", ["there is no file", "nowhere/x.py"]),
        ("algorithm.name=../new_loss.py:Bets", ["no attribute 'Bets'", "'Best'"]),
        ("algorithm.name=../new_loss.py", ["algorithm.name=", "./file.py:name"]),
        ("algorithm.name=../new_loss.py:on_actions", ["algorithm.name=", "is not a class"]),
        ("algorithm.name=../new_curriculum.py:Linear", ["subclass of agentgym_train.Algorithm"]),
        ("algorithm.leats=0.1", ["'algorithm.leats'", "'algorithm.least'"]),
        ("algorithm.least=-1", ["'algorithm.least'", "-1"]),
        ("algorithm.name=no_such_module:Best", ["algorithm.name=", "'no_such_module'"]),
    ],
)
def test_a_wrong_name_or_option_is_one_line(home, override, parts):
    path = small_run.write(home, algorithm={"name": "./new_loss.py:Best"})
    with pytest.raises(AgentGymError) as error:
        plugins.resolved(configuration.load(path, [override]))
    assert all(part in str(error.value) for part in parts), error.value
    assert "\n" not in str(error.value)


def test_an_error_in_the_run_names_the_file(home):
    name = f"{home}/new_curriculum.py:Linear"
    made = plugins.make_object(plugins.CURRICULUM, {"name": name, "start": 1, "limit": 2})
    assert plugins.title(made) == name
    with pytest.raises(TypeError) as error:
        made.horizon("one")
    assert plugins.culprit(error.value) == name


def test_a_run_resumes_from_any_folder_and_says_that_a_file_has_changed(home, tmp_path_factory):
    path = small_run.write(
        home,
        run={"folder": str(home / "run"), "steps": 1, "save_every": 1},
        env={"groups": 2, "group_size": 2},
        scratch={"hidden": 16, "episodes": 10, "steps": 2, "turns": 4},
        rollout={"max_new_tokens": 2},
        algorithm={"name": "./new_loss.py:Best"},
        curriculum={"name": "./new_curriculum.py:Linear", "start": 1, "limit": 2},
        eval={"episodes": 1, "horizon": 2},
    )
    with Warm.of(tmp_path_factory) as warm:
        warm.start(home / "output", "run", path)
        warm.status()
        names = {f"{home}/new_loss.py:Best", f"{home}/new_curriculum.py:Linear"}
        assert checkpoint.read_state(checkpoint.latest(home / "run")).code.keys() == names
        loss = home / "new_loss.py"
        loss.write_text(loss.read_text().replace("float(lead", "2.0 * float(lead"))
        saved = [home / "run/config.toml", "--set", "run.steps=2"]
        warm.start(home / "output", "run", *saved, cwd=home / "elsewhere")
        warm.status()
    output = " ".join((home / "output").read_text().split())
    assert "new_loss.py:Best has changed since" in output
    assert "new_curriculum.py:Linear has changed" not in output
    assert checkpoint.latest(home / "run").name == "step-000002"
    config = configuration.load(home / "run/config.toml")
    assert changed_code(config, home / "run") == [], "the newest checkpoint has the new code"
