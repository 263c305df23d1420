"""The machines of a hostfile, and the environment variables that they get.

DeepSpeed's launcher puts variables on command lines, which all users of a machine can read, and it
forwards few variables. A file that only the user can read therefore contains them.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from agentgym_train.errors import ConfigError
from agentgym_train.files import write_private
from agentgym_train.run import ports

SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
LIMIT = 60.0  # seconds for a machine to answer
# Without these options, ssh waits for a machine that is switched off for a quarter of an hour.
ALIVE = "-o ServerAliveInterval=10 -o ServerAliveCountMax=3"


def read_hosts(hostfile: Path) -> dict[str, int]:
    """Returns the number of processes of each machine.

    Raises:
        ConfigError: a line of the hostfile does not have the form "machine slots=number".
    """
    lines = [
        line.partition("#")[0].strip() for line in hostfile.read_text(encoding="utf-8").splitlines()
    ]
    found = [re.fullmatch(r"(\S+)\s+slots=(\d+)", line) for line in lines if line]
    if not found or not all(found):
        raise ConfigError(
            f"{hostfile}: a line names a machine and its processes, such as: machine1 slots=8"
        )
    return {each[1]: int(each[2]) for each in found if each}


def check_hosts(hosts: Iterable[str]) -> int:
    """Asks each machine for a free port, by ssh and with this Python; returns the first one's.

    Raises:
        ConfigError: a program is not installed, or a machine cannot be reached or has no Python;
            names the machine.
    """
    names = list(hosts)
    needed = ("ssh", "pdsh") if len(names) > 1 else ("ssh",)
    if missing := [program for program in needed if shutil.which(program) is None]:
        raise ConfigError(
            f"--hostfile needs the program {missing[0]}, which is not installed: install it, or"
            " start the processes with torchrun (agentgym-train prepare and work)"
        )
    with ThreadPoolExecutor(min(len(names), 32)) as threads:
        answers = dict(zip(names, threads.map(_ask, names), strict=True))
    failed = {name: answer for name, answer in answers.items() if not answer.isdecimal()}
    if failed:
        name, reason = next(iter(failed.items()))
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise ConfigError(
            f"the machine {name}{more} of the hostfile does not answer: {reason}. Check"
            f" 'ssh -o BatchMode=yes {name} {shlex.quote(sys.executable)} --version'"
        )
    return int(answers[names[0]])


def launcher_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns variables that let pdsh notice the end of a machine.

    Args:
        variables: of the environment. Options of ssh in them take precedence.
    """
    options = f"{variables.get('PDSH_SSH_ARGS_APPEND', '')} {ALIVE}".strip()
    return {**variables, "PDSH_SSH_ARGS_APPEND": options}


def _ask(host: str) -> str:
    """Returns a free port of a machine, or the reason why there is no answer."""
    command = [*SSH, host, shlex.join([sys.executable, "-"])]
    script = Path(ports.__file__).read_text(encoding="utf-8")
    try:
        done = subprocess.run(
            command, input=script, capture_output=True, text=True, check=False, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {LIMIT:g} s"
    if done.returncode == 0:
        return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "an empty answer"
    return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]


CARRIED = (
    "AGENTGYM_*",
    "HF_*",
    "HUGGING_FACE_*",
    "TRANSFORMERS_*",
    "TOKENIZERS_*",
    "VLLM_*",
    "WANDB_*",
    "TRACKIO_*",
    "*_API_KEY",
    "GLOO_*",
    "NCCL_*",
    "TORCH_*",
    "OMP_*",
    "MKL_*",
    "*_PROXY",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
)
"""Patterns of the names of forwarded variables, in capital letters."""


@contextmanager
def carried_variables(folder: Path, variables: Mapping[str, str]) -> Iterator[Path]:
    """Yields a file in the run folder that holds variables, and removes it afterwards.

    Args:
        folder: the run folder, on a disk that all machines share.
        variables: of the environment; those of :data:`CARRIED` are kept.
    """
    path = folder / ".variables.json"
    kept = {
        name: value
        for name, value in variables.items()
        if any(fnmatchcase(name.upper(), pattern) for pattern in CARRIED)
    }
    write_private(path, json.dumps(kept))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def adopt_variables(path: Path, variables: MutableMapping[str, str]) -> None:
    """Sets the variables of a file that this machine does not set itself."""
    for name, value in json.loads(path.read_text(encoding="utf-8")).items():
        variables.setdefault(name, value)
