"""A run can resume with another number of processes.

DeepSpeed's universal checkpoint keeps the state of the optimizer.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import regrouped
import safetensors.torch
import tiny
import torch
from damaged import delete, flip, truncate
from fake_engine import STATE, save
from raised import raises

from agentgym_train.engine import checkpoint
from agentgym_train.errors import CheckpointError


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "before", "after"),
    [
        ("2-float32", 2, 1),
        *[
            pytest.param(*case, marks=pytest.mark.full)
            for case in [
                ("0-float32", 2, 1),
                ("1-float32", 1, 2),
                ("2-float32", 1, 2),
                ("2-bfloat16", 2, 1),
                ("3-float32", 2, 1),
                ("3-float32", 1, 2),
                ("2-float32-model", 2, 1),
                ("3-float32-model", 1, 2),
                ("0-float32-model", 2, 1),
                ("1-float32-head", 2, 1),
                ("2-bfloat16-head", 1, 2),
                ("3-float32-head", 2, 1),
                ("2-float32-last", 2, 1),
                ("3-float32-last", 1, 2),
                ("2-float32-lora", 2, 1),
                ("3-float32-lora", 1, 2),
            ]
        ],
    ],
)
def test_it_ends_where_the_same_number_of_processes_ends(tmp_path, warm, case, before, after):
    model = tiny.save(tmp_path / "model", template=tiny.CHATML)
    warm.play(regrouped.__file__, tmp_path, model, tmp_path, case, before, after)
    first = safetensors.torch.load_file(tmp_path / "model" / "model.safetensors")
    same, other = (
        safetensors.torch.load_file(tmp_path / name / "model" / "model.safetensors")
        for name in ("same", "other")
    )
    tolerance = 1e-2 if "bfloat16" in case else 1e-5
    for name in same:
        torch.testing.assert_close(other[name], same[name], atol=tolerance, rtol=0)
    for ours, theirs in zip(
        *(torch.load(tmp_path / name / "weights.pt") for name in ("other", "same")), strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=0)
    norms = [[row["grad_norm"] for row in rows(tmp_path / name)] for name in ("same", "other")]
    assert norms[1] == pytest.approx(norms[0], rel=0.1 if "bfloat16" in case else 1e-4)
    assert min(norms[0]) > 0
    assert any(not torch.equal(first[name], same[name].to(first[name].dtype)) for name in same), (
        "nothing was learned"
    )


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def fits(folder, *, processes, stage=2):
    checkpoint.check_fits(
        checkpoint.read_state(folder),
        folder,
        model=STATE.model,
        zero_stage=stage,
        processes=processes,
    )


def test_only_a_sharded_state_is_converted_and_only_for_another_number(tmp_path, monkeypatch):
    folder, calls = save(tmp_path, 2), []

    def tool(command, **kwargs):
        calls.append(command)
        draft = Path(command[command.index("--output_folder") + 1])
        draft.mkdir()
        (draft / "zero").write_text("state")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", tool)
    checkpoint.convert(folder, processes=2)
    fits(folder, processes=2)
    assert not calls, "every process holds the whole state"
    (folder / "engine" / "zero_pp_rank_0_mp_rank_00_optim_states.pt").touch()
    with raises(CheckpointError, "1 processes", "zero_stage=2 and 2"):
        fits(folder, processes=2)
    checkpoint.convert(folder, processes=1)
    assert not calls
    for _ in range(2):
        checkpoint.convert(folder, processes=2)
    assert len(calls) == 1
    assert checkpoint.convert(folder, processes=2) == []
    fits(folder, processes=2)
    with raises(CheckpointError, "zero_stage=3"):
        fits(folder, processes=2, stage=3)
    assert checkpoint.recover(tmp_path) == [], "it stays intact"
    for damage in (flip, truncate, delete):
        damage(folder / "universal" / "engine" / "zero")
        (line,) = checkpoint.convert(folder, processes=1)
        assert "engine/zero" in line
        assert "made again" in line
        assert checkpoint.convert(folder, processes=1) == []
    shutil.rmtree(folder / "universal")
    (folder / "universal").write_text("a file")
    assert len(checkpoint.convert(folder, processes=2)) == 1
    assert checkpoint.is_universal(folder)


@pytest.mark.full
def test_a_conversion_that_fails_is_one_line(tmp_path):
    folder = save(tmp_path, 2)
    (folder / "engine" / "zero_pp_rank_0_mp_rank_00_optim_states.pt").write_bytes(b"no pickle")
    with raises(CheckpointError, "step-000002", "2 processes") as caught:
        checkpoint.convert(folder, processes=2)
    assert "\n" not in str(caught.value)
    assert not checkpoint.is_universal(folder)
