"""ZeRO stages and process counts must not change the mathematics; a plain torch loop is the reference."""

import os
import subprocess
import sys
from pathlib import Path

import one_step
import pytest
import tiny
import torch
from transformers import AutoModelForCausalLM

from agentgym_train.algorithms.grpo import GRPO
from agentgym_train.batching import pack
from agentgym_train.config import EngineConfig
from agentgym_train.engine.logps import token_logps
from agentgym_train.engine.zero_config import zero_config
from agentgym_train.errors import ConfigError
from agentgym_train.launch import launch_command

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def reference(model):
    """Two steps without DeepSpeed, over one batch, with AdamW and gradient clipping from torch."""
    policy = AutoModelForCausalLM.from_pretrained(model)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-4, weight_decay=0.01)
    losses = []
    for _ in range(2):
        batch = GRPO().advantages(pack(one_step.groups()))
        loss = GRPO().loss(token_logps(policy, batch, 1.0).logp_BT, batch)[0] / batch.action_tokens
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        losses.append((loss.item(), norm.item()))
    return {"losses": losses, "weights": {n: p.detach() for n, p in policy.named_parameters()}}


def clean_environment():
    drop = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    # No compiler, ninja or CUDA toolkit: only the interpreter's own folder is on the path.
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    kept = {k: v for k, v in os.environ.items() if k not in drop}
    return kept | {"PATH": path, "CC": "false", "CXX": "false", "CUDA_HOME": "/nonexistent", "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
def test_every_stage_and_process_count_takes_the_same_step(model, reference, tmp_path, stage, processes):
    script = [one_step.__file__, model, str(stage), str(tmp_path / "out.pt")]
    if processes == 1:
        command = [sys.executable, *script]
    else:
        launcher = launch_command(tmp_path, processes, None)
        command = [*launcher[: launcher.index("--module")], *script]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    got = torch.load(tmp_path / "out.pt")
    torch.testing.assert_close(torch.tensor(got["losses"]), torch.tensor(reference["losses"]), atol=1e-5, rtol=1e-5)
    moved = 0
    start = dict(AutoModelForCausalLM.from_pretrained(model).named_parameters())
    assert got["weights"].keys() == reference["weights"].keys()
    for name, weight in got["weights"].items():
        torch.testing.assert_close(weight, reference["weights"][name], atol=1e-5, rtol=0, msg=lambda m, n=name: f"{n}: {m}")
        moved += bool((weight != start[name]).any())
    assert moved == len(start), "every trainable parameter moves"


def test_stages_and_precisions_that_do_not_exist_are_refused():
    with pytest.raises(ConfigError, match=r"0, 1, 2 or 3, not 4"):
        zero_config(EngineConfig(zero_stage=4), "float32")
    with pytest.raises(ConfigError, match="not 'float16'"):
        zero_config(EngineConfig(), "float16")
