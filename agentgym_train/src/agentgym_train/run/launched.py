"""DeepSpeed's launcher and the training processes, which end with this process."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from agentgym_envs.stopping import GRACE, follow, stop

FOLLOW = "AGENTGYM_FOLLOW"  # variable of processes whose standard input comes from the command
LIMIT = GRACE + 5.0  # seconds in which all processes must end; each of them ends itself in GRACE
LAST = 1.0  # seconds in which the last processes can end after the launcher


class Launched:
    """Context manager that starts a launcher; its end is the end of all processes.

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

    def __enter__(self) -> "Launched":
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
    """Stops this process, one of those that a launcher has started, when the command ends.

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
    """Waits until the parent of this process has ended, as a killed torchrun."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1.0)
