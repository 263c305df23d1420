"""Many processes through DeepSpeed's own launcher, on one machine or on those of a hostfile."""

import socket
import sys
from pathlib import Path


def launch_command(folder: Path, processes: int, hostfile: Path | None) -> list[str]:
    """Returns the command that starts one worker a process.

    Args:
        folder: a prepared run folder; with a hostfile, on a file system that all machines share.
        processes: on this machine; a hostfile says it for each machine instead.
        hostfile: DeepSpeed's list of machines.
    """
    hosts = ["--hostfile", str(hostfile)] if hostfile else ["--hostfile", "/dev/null", "--num_gpus", str(processes)]
    options = ["--no_local_rank", "--log_level", "error", "--master_port", str(free_port())]
    launcher = [sys.executable, "-m", "deepspeed.launcher.runner", *hosts, *options]
    return [*launcher, "--module", "agentgym_train.cli", "work", str(folder.resolve())]


def free_port() -> int:
    """Returns a TCP port that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
