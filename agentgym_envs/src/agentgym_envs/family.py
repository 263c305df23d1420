"""The processes that a process has started, with those that they have started.

A mark in their environment variables finds them after they have left the process group and after
their parents have ended. Only Linux shows the variables of other processes (``/proc``). Elsewhere
no process is found.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import suppress

VARIABLE = "AGENTGYM_FAMILY"
GRACE = 5.0  # seconds; a worker of a pool needs up to three
ROUNDS = 10  # looks for processes that were started during the look before


def mark(token: str) -> None:
    """Marks the later children of this process, and their children.

    Args:
        token: a unique text without commas.
    """
    os.environ[VARIABLE] = ",".join(filter(None, (os.environ.get(VARIABLE), token)))


def members(tokens: Collection[str]) -> list[int]:
    """Returns the ids of the other processes that have one of the marks."""
    wanted = {os.fsencode(token) for token in tokens}
    numbers = map(int, filter(str.isdecimal, os.listdir("/proc"))) if os.path.isdir("/proc") else ()
    return [n for n in numbers if n != os.getpid() and not wanted.isdisjoint(_marks(n))]


def kill(tokens: Collection[str]) -> None:
    """Kills the other processes that have one of the marks."""
    for _ in range(ROUNDS):
        found = members(tokens)
        for number in found:
            with suppress(OSError):  # it has just ended, or belongs to another user
                os.kill(number, signal.SIGKILL)
        if not found:
            return


def watch(token: str) -> None:
    """Starts a process that kills those with a mark unless they end within ``GRACE`` seconds.

    It outlives this process. The others clean up meanwhile, such as the workers of pools.
    """
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-I", "-S", __file__, token]
    variables = {name: value for name, value in os.environ.items() if name != VARIABLE}
    subprocess.Popen(
        command,
        env=variables,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        start_new_session=True,
    )


def _marks(number: int) -> list[bytes]:
    with suppress(OSError), open(f"/proc/{number}/environ", "rb") as file:
        for variable in file.read().split(b"\0"):
            name, _, value = variable.partition(b"=")
            if name == VARIABLE.encode():
                return value.split(b",")
    return []


if __name__ == "__main__":
    end = time.monotonic() + GRACE
    while members(sys.argv[1:]) and time.monotonic() < end:
        time.sleep(0.05)
    kill(sys.argv[1:])
