"""Every shipped configuration passes the checks before a run."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import judged
import pytest
import tiny
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from agentgym_envs.evaluate import record
from agentgym_train import config as configuration
from agentgym_train import plugins
from agentgym_train.reward import config as reward
from agentgym_train.run.prepare import check, check_reward

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "benchmarks").rglob("*.toml"))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny model with as many positions as a real one, and some of its layers."""
    folder = Path(tiny.save(tmp_path_factory.mktemp("model"), template=tiny.CHATML, layers=8))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 32768}))
    return str(folder)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """An oracle's episode."""
    out = str(tmp_path_factory.mktemp("results") / "teacher")
    options = ["--agent", "oracle", "--split", "train", "--episodes", "1", "--out", out]
    command = [sys.executable, "-m", "agentgym_envs.cli", "eval", "agentgym/TextCraft-v2", *options]
    subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Comparisons."""
    return str(
        judged.write(tmp_path_factory.mktemp("said") / "comparisons.jsonl", judged.lines(20))
    )


@pytest.fixture(scope="module")
def judge(model, tmp_path_factory):
    """A reward model with as many positions."""
    folder = tmp_path_factory.mktemp("judge")
    AutoModelForSequenceClassification.from_pretrained(model, num_labels=1).save_pretrained(folder)
    AutoTokenizer.from_pretrained(model).save_pretrained(folder)
    return str(folder)


def taught(folder, teacher, env):
    """A folder with the teacher's episode, as if played in each of the environments."""
    (row,) = record.read(Path(teacher))[0]
    tables = env if isinstance(env, list) else [env]
    record.write(
        folder, {}, [row | {"env_id": table["id"], "family": table["id"]} for table in tables]
    )
    return str(folder)


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(
            file,
            id=file.relative_to(ROOT).as_posix(),
            marks=[pytest.mark.full] * (file.parent.name == "compare"),
        )
        for file in FILES
    ],
)
def test_it_passes_every_check(file, model, teacher, said, judge, tmp_path):
    raw = tomllib.loads(file.read_text())
    for own in ("title", "test_horizon", "points", "reference", "sets"):  # of benchmarks/compare.py
        raw.pop(own, None)
    if raw.get("model", {}).get("path", "scratch") != "scratch":
        raw["model"]["path"] = model
    for section in ("source", "scratch"):
        if "folders" in raw.get(section, {}):
            raw[section]["folders"] = [taught(tmp_path / section, teacher, raw["env"])]
    if "comparisons" in raw:
        raw["comparisons"]["files"] = [said]
    for table in raw.get("scorer", []):
        if "path" in table:
            table["path"] = judge
    if raw.get("generator") == {"name": "vllm"}:
        del raw["generator"]  # vLLM is not installed in this environment
    first, *others = (
        reward.of(raw | sections) for sections in raw.pop("methods", {"": {}}).values()
    )
    (check if isinstance(first, configuration.Config) else check_reward)(first, processes=1)
    for config in others:
        plugins.resolved(config)


def test_the_files_are_found():
    names = {file.name for file in FILES}
    assert {
        "quickstart.toml",
        "qwen2.5-0.5b.toml",
        "scaling_inter_maze.toml",
        "reward_model.toml",
        "learned_reward.toml",
    } <= names


def test_the_one_for_pretrained_models_does_not_have_the_small_models_settings():
    small, large = (
        configuration.load(ROOT / "benchmarks" / name)
        for name in ("quickstart.toml", "configs/qwen2.5-0.5b.toml")
    )
    assert large.engine.lr <= 1e-5 < small.engine.lr
    assert large.rollout.max_new_tokens >= 200 > small.rollout.max_new_tokens
    assert large.engine.micro_batch_tokens >= large.model.max_context
    assert large.env.action_format == "react"
