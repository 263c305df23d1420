"""Runs DeepSpeed's launcher in a process that ends with ``agentgym-train run``.

    python -m agentgym_train.run.launcher MODULE ARGUMENT…

Standard input is a connection to the command. It closes when the command stops the run, and also
when the command is killed. The training processes have the same standard input and then stop
themselves. On other machines it is a connection of ssh, which closes with ``pdsh``. After a time
limit, this process kills what is left on this machine.

DeepSpeed's launcher ends with exit status 0 if a signal kills its child. This process ends with 1.
"""

import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import psutil

from agentgym_envs.stopping import GRACE


def main() -> None:
    """Runs a module as a program."""
    threading.Thread(target=_end_with_command, args=(os.dup(0),), daemon=True).start()
    status = 0
    children: list[subprocess.Popen[Any]] = []

    class Child(subprocess.Popen[Any]):
        """A process that the launcher has started."""

        def __init__(self, *args: Any, **options: Any):
            super().__init__(*args, **options)
            children.append(self)

    subprocess.Popen = Child  # type: ignore[misc]
    del sys.argv[0]
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    killed = any(child.returncode is not None and child.returncode < 0 for child in children)
    sys.stdout.flush()
    os._exit(status or int(killed))  # an interpreter with torch takes seconds to shut down


def _end_with_command(connection: int) -> None:
    os.read(connection, 1)
    for child in psutil.Process().children():
        if child.name() == "pdsh":
            child.terminate()
    time.sleep(GRACE)
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
