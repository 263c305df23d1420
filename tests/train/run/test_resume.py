"""A run that is killed at any moment and resumed ends with the weights of an undisturbed run."""

import json
import os
import signal
import time
from functools import cache
from pathlib import Path
from statistics import fmean

import damaged
import interrupted
import pytest
import safetensors.torch
import small_run
import tiny
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.evaluate import record
from agentgym_train.reporting.metrics import MEASURED

pytestmark = pytest.mark.slow


def kill_when(warm, path, condition):
    """Starts a run and kills its whole process group with SIGKILL once the condition holds."""
    pid = warm.start(os.devnull, "run", path)
    end = time.monotonic() + 150
    while not condition():
        os.kill(pid, 0)  # it has not ended
        assert time.monotonic() < end
        time.sleep(0.01)
    os.killpg(pid, signal.SIGKILL)
    assert warm.status() == -signal.SIGKILL


def rows(folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in row.items() if k not in MEASURED} for row in lines]


def lines(folder):
    file = folder / "metrics.jsonl"
    return file.read_text().count("\n") if file.exists() else 0


@pytest.fixture
def undisturbed(played):
    return played / "run"


def test_a_run_leaves_what_was_promised(undisturbed):
    names = {p.name for p in undisturbed.iterdir()}
    assert names >= {
        "config.toml",
        "metrics.jsonl",
        "learning_curve.png",
        "trajectories.md",
        "evaluation.json",
        "model",
        "checkpoints",
    }
    assert not [n for n in names if "draft" in n or n.endswith(".tmp")]
    tokenizer = AutoTokenizer.from_pretrained(undisturbed / "model")
    model = AutoModelForCausalLM.from_pretrained(undisturbed / "model")
    ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Exits: north"}],
        add_generation_prompt=True,
        return_tensors="pt",
    )
    assert model.generate(**ids, max_new_tokens=3).shape[1] > ids["input_ids"].shape[1]
    assert (undisturbed / "learning_curve.png").read_bytes()[:4] == b"\x89PNG"
    assert "Goal: take the lamp" in (undisturbed / "trajectories.md").read_text()
    evaluations = json.loads((undisturbed / "evaluation.json").read_text())
    assert set(evaluations) == {"before", "after", "random", "oracle"}
    episodes, _ = record.read(undisturbed / "episodes" / "after")
    assert fmean(row["success"] for row in episodes) == evaluations["after"]["success"]
    assert (
        sum(len(row["turns"]) for row in episodes) / len(episodes) == evaluations["after"]["turns"]
    )
    folders = sorted((undisturbed / "episodes").iterdir())
    report = CliRunner().invoke(
        app, ["report", *map(str, folders), "--html", str(undisturbed / "episodes.html")]
    )
    assert report.exit_code == 0, report.output
    assert "the same tasks in both" in report.output
    assert [r["horizon"] for r in rows(undisturbed)] == [3, 3, 5, 5, 5, 5, 5]
    measured = [
        json.loads(line)["memory"]["process"]
        for line in (undisturbed / "metrics.jsonl").read_text().splitlines()
    ]
    assert measured == sorted(measured), "peaks, in GiB"
    methods = {row["generator_method"] for row in rows(undisturbed)}
    assert methods == {"one cache for all turns"}
    assert 0.1 < measured[0] < 64
    assert len(list((undisturbed / "checkpoints").iterdir())) == 2, "older checkpoints are dropped"


def test_kill_9_and_again_equals_an_undisturbed_run(undisturbed, warm, tmp_path):
    path = small_run.write(
        tmp_path, run={"folder": str(tmp_path / "run"), "steps": 7, "save_every": 2}
    )
    folder = tmp_path / "run"
    kill_when(warm, path, lambda: (folder / ".init-draft").exists() or (folder / "init").exists())
    kill_when(warm, path, lambda: lines(folder) >= 3)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 99, "cut off')  # as after a kill in the middle of a write
    for name in ("init/model.safetensors", "config.toml", "episodes/before/episodes.jsonl"):
        damaged.flip(folder / name)
    (folder / "evaluation.json").unlink()
    said = warm.finish(path)
    warnings = [
        line for line in said.splitlines() if line.startswith("warning: ") and str(folder) in line
    ]
    for name in ("init", "config.toml", "evaluation.json", "episodes/before", "metrics.jsonl"):
        assert any(f"{folder / name} " in line for line in warnings), name
    assert len(warnings) == 5
    assert rows(folder) == rows(undisturbed)
    assert (folder / "init/model.safetensors").read_bytes() == (
        undisturbed / "init/model.safetensors"
    ).read_bytes()
    assert sum(r["grad_norm"] > 0 for r in rows(folder)) > 2, "there was something to learn"
    ours, theirs = (json.loads((f / "evaluation.json").read_text()) for f in (folder, undisturbed))
    assert ours == theirs
    assert (folder / "model" / "model.safetensors").read_bytes() == (
        undisturbed / "model" / "model.safetensors"
    ).read_bytes()


def test_a_finished_run_is_reported_again_and_can_be_prolonged(undisturbed, warm, tmp_path):
    before = rows(undisturbed)
    path = small_run.write(tmp_path, run={"folder": str(undisturbed), "steps": 7, "save_every": 2})
    said = warm.finish(path)
    assert said.startswith("generator hf: one cache for all turns\n")
    assert "before RL" in said
    assert rows(undisturbed) == before
    warm.finish(path, "--set", "run.steps=8")
    assert rows(undisturbed)[:7] == before
    assert len(rows(undisturbed)) == 8


FEW = ("3-bfloat16-2",)
AHEAD = "2-float32-2-ahead"
LAST = ("3-float32-2-last", "2-bfloat16-1-last")
CRITICS = (
    "0-float32-1-head",
    "1-float32-2-model",
    "2-float32-1-model",
    "2-bfloat16-2-head",
    "3-float32-2-model",
)
REST = sorted(
    {f"{s}-{d}-{p}" for s in range(4) for d in ("float32", "bfloat16") for p in (1, 2)} - set(FEW)
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"), template=tiny.CHATML)


@pytest.fixture(scope="module")
def interrupt(model, warm, tmp_path_factory):
    """Runs the cases once; returns their folder."""

    @cache
    def play(*cases):
        home = tmp_path_factory.mktemp("interrupted")
        warm.play(interrupted.__file__, home, model, home, *cases)
        return home

    return play


def check_case(home, case, model):
    killed, undisturbed = home / case / "killed", home / case / "undisturbed"
    assert rows(killed) == rows(undisturbed)
    ahead = case == AHEAD
    assert [r["horizon"] for r in rows(killed)] == ([1, 1, 3, 3] if ahead else [1, 2, 3, 4]), (
        "the curriculum's state grows, and went on from where it was"
    )
    assert [r["off_policy"] for r in rows(killed)] == ([0, 2, 0, 2] if ahead else [0] * 4)
    assert all(r["grad_norm"] > 0 and r["updates"] == 2 for r in rows(killed))
    ours, theirs, first = (
        safetensors.torch.load_file(f / "model.safetensors")
        for f in (killed / "model", undisturbed / "model", model)
    )
    assert ours.keys() == theirs.keys() == first.keys()
    assert all(torch.equal(ours[n], theirs[n]) for n in ours)
    learned = [n for n in ours if not torch.equal(ours[n], first[n].to(ours[n].dtype))]
    assert learned
    assert all(n.startswith("model.layers.1.") for n in learned) == case.endswith("last")
    for part, other in zip(
        *(torch.load(f / "weights.pt") for f in (killed, undisturbed)), strict=True
    ):
        assert all(torch.equal(weight, other[n]) for n, weight in part.items()), "a critic's too"
    for state in (
        (f / "checkpoints" / "step-000004" / "state.json").read_text()
        for f in (killed, undisturbed)
    ):
        assert json.loads(state)["curricula"] == {"Hash": {"turns": 5}}


@pytest.mark.full
@pytest.mark.parametrize("case", [*FEW, AHEAD])
def test_killed_while_it_collects_learns_and_saves(interrupt, model, case):
    check_case(interrupt(case), case, Path(model))


@pytest.mark.full
@pytest.mark.parametrize("case", [*REST, *CRITICS, *LAST])
def test_killed_under_every_stage_precision_and_process_count(interrupt, model, case):
    check_case(interrupt(case), case, Path(model))


HASH = {"id": "hash_env:support/Hash-v0", "group_size": 3, "workers": 1}


@pytest.mark.full
def test_two_processes_through_the_launcher_with_uneven_episodes_of_two_environments(
    model, warm, tmp_path
):
    path = small_run.write(
        tmp_path,
        run={"folder": str(tmp_path / "run"), "steps": 2, "save_every": 2},
        model={"path": model, "max_context": 256},
        engine={
            "lr": 1e-3,
            "zero_stage": 3,
            "micro_batch_tokens": 400,
            "zero": {"stage3_param_persistence_threshold": 0},
        },
        env=[
            HASH | {"kwargs": {"length": 4}, "groups": 2},
            HASH | {"name": "other", "kwargs": {"length": 2}, "groups": 1},
        ],
        eval={"kwargs": {}, "episodes": 3, "horizon": 6},
    )
    warm.finish(path, "--processes", 2)
    steps = rows(tmp_path / "run")
    assert [[each["episodes"] for each in r["env"].values()] for r in steps] == [[6.0, 3.0]] * 2, (
        "each process plays in one of them"
    )
    assert [r["step"] for r in steps] == [1, 2]
    assert [r["episodes"] for r in steps] == [9.0] * 2
    assert all(r["logp_drift"] < 1e-4 for r in steps)
    AutoModelForCausalLM.from_pretrained(tmp_path / "run" / "model")
    assert AutoTokenizer.from_pretrained(tmp_path / "run" / "model").chat_template == tiny.CHATML
    assert not (tmp_path / "run" / "init").exists()
