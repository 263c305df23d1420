"""The command that starts DeepSpeed's launcher, as a process that ends with ``agentgym-train run``.

    python -m agentgym_train.run.launcher ARGUMENT…

Standard input is a connection to the command. It closes when the command stops the run, and also
when the command is killed. The training processes have the same standard input and then stop
themselves (``agentgym-train work --follow``). On other machines it is a connection of ssh, which
closes with ``pdsh``. After a time limit, this process kills what is left on this machine.
"""

import os
import signal
import sys
import threading
import time

import psutil  # DeepSpeed needs it

from agentgym_envs.stopping import GRACE


def main() -> None:
    """Runs the launcher."""
    threading.Thread(target=_end_with_command, args=(os.dup(0),), daemon=True).start()
    from deepspeed.launcher import runner  # takes seconds

    status = 0
    try:
        runner.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    sys.stdout.flush()
    os._exit(status)  # an interpreter with torch takes seconds to shut down


def _end_with_command(connection: int) -> None:
    os.read(connection, 1)
    for child in psutil.Process().children():
        if child.name() == "pdsh":
            child.terminate()
    time.sleep(GRACE)
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
