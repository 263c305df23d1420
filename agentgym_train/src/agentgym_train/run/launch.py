"""The processes of a run: started by DeepSpeed's launcher, torchrun, srun or Kubernetes.

A process that DeepSpeed's launcher has started ends with the command.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentgym_envs.stopping import GRACE, follow, stop
from agentgym_train.errors import ConfigError, RunFolderError
from agentgym_train.files import write_private, write_whole

# Variables with the number of processes that a launcher has started, and the launcher's name. A
# Slurm allocation or a batch script alone has no step.
COUNTS = {
    "SLURM_STEP_NUM_TASKS": "srun",
    "OMPI_COMM_WORLD_SIZE": "mpirun",
    "PMI_SIZE": "mpiexec",
    "WORLD_SIZE": "a launcher",
}
SLURM = {
    "RANK": "SLURM_PROCID",
    "WORLD_SIZE": "SLURM_STEP_NUM_TASKS",
    "LOCAL_RANK": "SLURM_LOCALID",
}
MEETING = ("RANK", "MASTER_ADDR", "MASTER_PORT")
PREPARED = "prepared.json"
SECRET = ".secret"


def launch_command(
    folder: Path, processes: int, hostfile: Path | None, *, port: int, variables: Path | None = None
) -> list[str]:
    """Returns the command that starts one worker per process.

    Args:
        folder: a prepared run folder; with a hostfile, on a file system that all machines share.
        processes: number of processes on this machine; a hostfile sets it for each machine instead.
        hostfile: DeepSpeed's list of machines.
        port: a free port of the first machine.
        variables: file of variables for the other machines.
    """
    hosts = (
        ["--hostfile", str(hostfile)]
        if hostfile
        else ["--hostfile", "/dev/null", "--num_gpus", str(processes)]
    )
    options = ["--no_local_rank", "--log_level", "error", "--master_port", str(port)]
    launcher = ["agentgym_train.run.launcher", "deepspeed.launcher.runner", *hosts, *options]
    more = ["--variables", str(variables.resolve())] if variables else []
    work = ["--module", "agentgym_train.cli", "work", str(folder.resolve()), *more]
    return [sys.executable, "-m", *launcher, *work]


def check_launcher(variables: Mapping[str, str], command: str = "run") -> None:
    """Rejects a start by another launcher, since each of its processes would start a run.

    Args:
        variables: of the environment.
        command: the command that is rejected.

    Raises:
        ConfigError: names the launcher, and says how to start processes.
    """
    started = {key: int(variables[key]) for key in COUNTS if variables.get(key, "").isdecimal()}
    key = next((key for key, count in started.items() if count > 1), None)
    if "TORCHELASTIC_RUN_ID" in variables:
        launcher, variable = "torchrun", f"TORCHELASTIC_RUN_ID={variables['TORCHELASTIC_RUN_ID']}"
    elif key is not None:
        launcher, variable = COUNTS[key], f"{key}={started[key]}"
    else:
        return
    count = max(started.values(), default=1)
    raise ConfigError(
        f"{launcher} has started this process ({variable}), and 'agentgym-train {command}' is"
        f" started once: start it without {launcher}, with --processes {count}"
        + (
            ", or with --hostfile for several machines. To use"
            f" {launcher}, start 'agentgym-train prepare' once and 'agentgym-train work' with it"
            if command == "run"
            else ""
        )
    )


def join_launcher(variables: MutableMapping[str, str]) -> int:
    """Completes torch's variables of this process; returns the number of processes.

    torchrun and Kubernetes' PyTorchJob set them. srun sets its own, and the batch script sets
    ``MASTER_ADDR`` and ``MASTER_PORT``.

    Args:
        variables: of the environment; they are changed.

    Raises:
        ConfigError: a variable is missing; names it.
    """
    if "RANK" not in variables and _number(variables, "SLURM_STEP_NUM_TASKS", 1) > 1:
        for name, theirs in SLURM.items():
            variables[name] = variables[theirs]
    size = _number(variables, "WORLD_SIZE", 1)
    missing = [name for name in MEETING if name not in variables]
    if size > 1 and missing:
        raise ConfigError(
            f"this process is one of {size}, and {' and '.join(missing)}"
            f" {'is' if len(missing) == 1 else 'are'} not set. MASTER_ADDR is the machine of the"
            " first process, MASTER_PORT a free port there, and RANK the number of the process"
        )
    if not 0 <= _number(variables, "RANK", 0) < size:
        raise ConfigError(
            f"RANK={variables['RANK']} must be from 0 to {size - 1}, since WORLD_SIZE is {size}"
        )
    if size == 1:
        variables.pop("MASTER_ADDR", None)  # a single process meets no other
    variables.setdefault("LOCAL_RANK", "0")
    return size


def _number(variables: Mapping[str, str], name: str, default: int) -> int:
    """Returns a variable's number.

    Raises:
        ConfigError: it is not a number.
    """
    value = variables.get(name, str(default))
    if not value.isdecimal():
        raise ConfigError(f"{name}={value!r} must be a number, which a launcher sets")
    return int(value)


def note_prepared(folder: Path, processes: int) -> None:
    """Writes the number of processes that a folder is prepared for, and marks its files as checked.

    The processes get a new secret.
    """
    write_private(folder / SECRET, secrets.token_hex())
    write_whole(folder / PREPARED, json.dumps({"processes": processes, "checked": True}))


def take_checked(folder: Path) -> bool:
    """Returns whether this is the first start since the files were checked; later ones are not.

    The main process calls it.
    """
    prepared = read_prepared(folder)
    write_whole(folder / PREPARED, json.dumps({**prepared, "checked": False}))
    return prepared.get("checked") is True


def read_prepared(folder: Path) -> dict[str, Any]:
    """Reads what :func:`note_prepared` wrote; empty if it cannot be read."""
    try:
        found = json.loads((folder / PREPARED).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_secret(folder: Path) -> bytes:
    """Returns the secret of the processes of a prepared folder.

    Raises:
        RunFolderError: it cannot be read.
    """
    try:
        return (folder / SECRET).read_bytes()
    except OSError as error:
        raise RunFolderError(
            f"cannot read {folder / SECRET}: {error.strerror}. The user that starts the processes"
            " must be the one that prepared the folder; 'agentgym-train prepare' makes the file"
        ) from error


def check_prepared(folder: Path, size: int) -> None:
    """Rejects a folder that is not prepared for this number of processes.

    Raises:
        RunFolderError: says what to start.
    """
    prepared = read_prepared(folder).get("processes")
    if prepared is None:
        raise RunFolderError(
            f"{folder} is not a prepared run folder here: {folder / PREPARED} cannot be read. It"
            " must be on a disk that all machines share. 'agentgym-train prepare CONFIG"
            f" --processes {size}' prepares it"
        )
    if prepared != size:
        raise RunFolderError(
            f"{folder} is prepared for {prepared} processes, and this process is one of {size}:"
            f" start {prepared} with torchrun or srun, or 'agentgym-train prepare CONFIG"
            f" --processes {size}' again"
        )


FOLLOW = "AGENTGYM_FOLLOW"  # variable of processes whose standard input comes from the command
LIMIT = GRACE + 5.0  # seconds in which all processes must end; each of them ends itself in GRACE
LAST = 1.0  # seconds in which the last processes can end after the launcher


class LaunchedProcesses:
    """Context manager that starts a launcher; all its processes have ended when it exits.

    The launcher and the training processes hold one end of a connection, and this process the
    other one. They stop when it closes, also after this process was killed. They are a process
    group, so a Ctrl-C in the terminal reaches this process only.

    Args:
        command: the launcher's.
        variables: of the environment.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]):
        self._line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                command, env=variables, stdin=theirs.fileno(), process_group=0
            )

    def __enter__(self) -> "LaunchedProcesses":
        return self

    def __exit__(self, *exc: object) -> None:
        """Stops the processes that are left, and kills those that do not stop in time."""
        with self._line:
            self._line.shutdown(socket.SHUT_WR)
            self._have_ended(LIMIT)
        self.kill()
        self._process.wait()

    def wait(self) -> int:
        """Waits for the launcher; returns 0 if it and all its processes have ended well."""
        failed = self._process.wait() != 0
        # A launcher that was killed leaves its processes behind.
        return int(failed or not self._have_ended(LAST))

    def kill(self) -> None:
        """Kills the processes of this machine."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _have_ended(self, seconds: float) -> bool:
        """Returns whether no process holds the connection any more, after a time limit."""
        self._line.settimeout(seconds)
        try:
            return not self._line.recv(1)
        except TimeoutError:
            return False


def follow_command() -> None:
    """Stops this process, which a launcher has started, when the command ends.

    The exit status is 0 then, since the command has its own status. DeepSpeed's launcher prints
    others.
    """
    line = os.dup(0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)

    def command_ended() -> None:
        os.read(line, 1)
        stop.status = 0

    follow(command_ended)


def parent_ended() -> None:
    """Waits until the parent of this process has ended, for example a killed torchrun."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1.0)
