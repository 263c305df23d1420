import json
import os
import subprocess
import sys

import pytest
import tomli_w
from transformers import AutoTokenizer

from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import Stage
from agentgym_train.rollout.chat import Chat
from agentgym_train.run.prepare import check_group_size
from agentgym_train.testing import check_source
from agentgym_train.world import World

TALKS = [
    [("user", "Here: lamp"), ("assistant", "take lamp")],
    [("user", "Exits: north"), ("assistant", "go north"), ("user", "Exits: east"), ("assistant", "go east")],
    [("user", "Exits: south"), ("assistant", "go south")],
]


def write(folder, talks=TALKS):
    lines = [json.dumps({"messages": [{"role": role, "content": text} for role, text in talk]}) for talk in talks]
    (folder / "talks.jsonl").write_text("\n".join(lines) + "\n")
    return str(folder / "talks.jsonl")


def configured(folder, **sections):
    raw = {
        "run": {"folder": str(folder / "run"), "steps": 2},
        "env": {"id": "agentgym/Maze-v0", "kwargs": {"rooms": [3]}, "groups": 3, "group_size": 1, "workers": 1},
        "model": {"max_context": 256},
        "scratch": {"hidden": 16, "episodes": 20, "steps": 2, "turns": 4},
        "rollout": {"max_new_tokens": 4},
        "algorithm": {"name": "sft"},
        "source": {"name": "messages", "file": write(folder)},
        "engine": {"lr": 1e-3},
        "curriculum": {"name": "fixed", "turns": 2},
        "eval": {"episodes": 2, "horizon": 2},
    } | sections
    path = folder / "run.toml"
    path.write_text(tomli_w.dumps(raw))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that learns from the conversations."""
    home = tmp_path_factory.mktemp("run")
    command = [sys.executable, "-m", "agentgym_train.cli", "run", str(configured(home))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return home


def test_the_trainer_learns_from_it(run):
    rows = [json.loads(line) for line in (run / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["episodes"] for row in rows] == [3, 3]
    assert rows[1]["loss"] < rows[0]["loss"]


def test_the_tokens_are_the_templates_and_each_process_has_its_share(run):
    tokenizer = AutoTokenizer.from_pretrained(run / "run" / "model")
    config, chat = configuration.load(run / "run.toml"), Chat(tokenizer)
    plugin = plugins.make(plugins.SOURCE, config.source)
    made = lambda world: plugin.build(Stage(config, world, None, chat, None, range(config.groups), lambda step: None))  # noqa: E731
    assert check_source(made, groups=3)
    for group, talk in zip(made(World()).next(0, 1), TALKS, strict=True):
        ids = [i for turn in group.trajectories[0].turns for i in turn.prompt_ids + turn.action_ids]
        whole = tokenizer.apply_chat_template([{"role": role, "content": text} for role, text in talk], tokenize=False)
        assert tokenizer.decode(ids) == whole


def test_there_are_no_pairs_in_it(tmp_path):
    with pytest.raises(ConfigError, match="'dpo' learns from groups of 2 episodes, and source 'messages' gives groups of 1:"):
        check_group_size(configuration.load(configured(tmp_path, algorithm={"name": "dpo"})))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no conversation"),
        ("no json\n", "line 1 of .* has no messages"),
        ('{"messages": [{"role": "user"}]}\n', "line 1 of .* has no messages"),
        ('{"messages": [{"role": "user", "content": "a"}]}\n', r"must alternate and end with the assistant, not \['user'\]"),
        ('{"messages": []}\n', "must alternate"),
    ],
)
def test_what_is_no_conversation_is_refused_before_any_work(tmp_path, text, message):
    (tmp_path / "x.jsonl").write_text(text)
    source = plugins.make(plugins.SOURCE, {"name": "messages", "file": str(tmp_path / "x.jsonl")})
    with pytest.raises(ConfigError, match=message):
        source.check(None, None)


def test_a_file_that_is_not_there():
    with pytest.raises(ConfigError, match=r"source\.file='nowhere' cannot be read"):
        plugins.make(plugins.SOURCE, {"name": "messages", "file": "nowhere"}).check(None, None)
