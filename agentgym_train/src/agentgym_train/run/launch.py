"""Many processes through DeepSpeed's own launcher, on one machine or on those of a hostfile."""

import random
import re
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agentgym_train.errors import ConfigError

PORTS = range(20000, 30000)
# of processes that a launcher has started, and its name; a Slurm allocation or batch script alone
# has no step
COUNTS = {
    "SLURM_STEP_NUM_TASKS": "srun",
    "OMPI_COMM_WORLD_SIZE": "mpirun",
    "PMI_SIZE": "mpiexec",
    "WORLD_SIZE": "a launcher",
}


def launch_command(folder: Path, processes: int, hostfile: Path | None) -> list[str]:
    """Returns the command that starts one worker a process.

    Args:
        folder: a prepared run folder; with a hostfile, on a file system that all machines share.
        processes: on this machine; a hostfile says it for each machine instead.
        hostfile: DeepSpeed's list of machines.
    """
    hosts = (
        ["--hostfile", str(hostfile)]
        if hostfile
        else ["--hostfile", "/dev/null", "--num_gpus", str(processes)]
    )
    options = ["--no_local_rank", "--log_level", "error", "--master_port", str(free_port())]
    launcher = [sys.executable, "-m", "deepspeed.launcher.runner", *hosts, *options]
    return [*launcher, "--module", "agentgym_train.cli", "work", str(folder.resolve())]


def check_launcher(variables: Mapping[str, str]) -> None:
    """Rejects a start by another launcher, since each of its processes would start a run.

    Args:
        variables: of the environment.

    Raises:
        ConfigError: names the launcher, and says how to start processes.
    """
    started = {key: int(variables[key]) for key in COUNTS if variables.get(key, "").isdecimal()}
    key = next((key for key, count in started.items() if count > 1), None)
    if "TORCHELASTIC_RUN_ID" in variables:
        launcher, told = "torchrun", f"TORCHELASTIC_RUN_ID={variables['TORCHELASTIC_RUN_ID']}"
    elif key is not None:
        launcher, told = COUNTS[key], f"{key}={started[key]}"
    else:
        return
    count = max(started.values(), default=1)
    raise ConfigError(
        f"{launcher} has started this process ({told}), and 'agentgym-train run' starts its"
        f" processes itself: start it once, without {launcher}, with --processes {count}, or with"
        " --hostfile for several machines"
    )


def process_count(processes: int, hostfile: Path | None) -> int:
    """Returns how many workers there will be in all.

    Raises:
        ConfigError: a line of the hostfile is no "machine slots=number".
    """
    if hostfile is None:
        return processes
    lines = [
        line.partition("#")[0].strip() for line in hostfile.read_text(encoding="utf-8").splitlines()
    ]
    slots = [re.fullmatch(r"\S+\s+slots=(\d+)", line) for line in lines if line]
    if not slots or not all(slots):
        raise ConfigError(
            f"{hostfile}: a line names a machine and its processes, such as: machine1 slots=8"
        )
    return sum(int(found[1]) for found in slots if found)


def free_port() -> int:
    """Returns a TCP port that nothing listens on at the moment.

    It lies below those that the system gives to outgoing connections, one of which might take it
    before the launcher does.
    """
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"all ports from {PORTS[0]} to {PORTS[-1]} are taken")
