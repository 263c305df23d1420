"""`agentgym-train run` starts the processes of a run and rejects other launchers around it."""

import subprocess
import sys
import time

import processes
import pytest
import small_run
from typer.testing import CliRunner

from agentgym_train.cli import app
from agentgym_train.errors import ConfigError
from agentgym_train.run.launch import check_launcher

TORCHRUN = {
    "TORCHELASTIC_RUN_ID": "none",
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "2",
    "MASTER_ADDR": "127.0.0.1",
}
STEP = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_LOCALID": "0", "SLURM_PROCID": "0"}


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            TORCHRUN,
            (
                r"torchrun has started this process \(TORCHELASTIC_RUN_ID=none\).* --processes 2,"
                r" or with --hostfile"
            ),
        ),
        (TORCHRUN | {"WORLD_SIZE": "1"}, "without torchrun, with --processes 1"),
        (
            STEP | {"SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4"},
            r"srun .*\(SLURM_STEP_NUM_TASKS=4\).* --processes 4",
        ),
        (STEP | {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}, "srun .* --processes 2"),
        ({"OMPI_COMM_WORLD_SIZE": "8"}, "mpirun .* --processes 8"),
        ({"PMI_SIZE": "3"}, "mpiexec .* --processes 3"),
        ({"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "one"}, r"a launcher .*\(WORLD_SIZE=2\)"),
    ],
)
def test_one_process_of_several_is_refused(variables, message):
    with pytest.raises(ConfigError, match=message) as caught:
        check_launcher(variables)
    assert len(str(caught.value).splitlines()) == 1
    assert "'agentgym-train prepare' once and 'agentgym-train work'" in str(caught.value)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        # In a batch script, or with salloc.
        {
            "SLURM_JOB_ID": "7",
            "SLURM_NTASKS": "4",
            "SLURM_PROCID": "0",
            "SLURM_LOCALID": "0",
        },
        STEP | {"SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "4"},  # srun --pty bash
        # A single process sets these itself.
        {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"},
        {"WORLD_SIZE": "many"},
    ],
)
def test_a_single_process_is_not(variables):
    check_launcher(variables)


def test_the_command_refuses_at_once(tmp_path, monkeypatch):
    for key, value in TORCHRUN.items():
        monkeypatch.setenv(key, value)
    result = CliRunner().invoke(app, ["run", str(small_run.write(tmp_path))])
    assert result.exit_code == 2
    assert result.output.startswith("error: torchrun has started this process")
    assert result.output.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.full
def test_torchruns_processes_end_at_once(tmp_path):
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
        "--module",
        "agentgym_train.cli",
    ]
    began = time.monotonic()
    command = [*torchrun, "run", str(small_run.write(tmp_path))]
    done = subprocess.run(
        command,
        env=processes.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 1, "torchrun's own status of a failed process"
    assert "error: torchrun has started this process" in done.stderr
    assert "Traceback" not in done.stderr.partition("torch/distributed")[0]
    assert time.monotonic() - began < 200
    assert not (tmp_path / "run").exists()
