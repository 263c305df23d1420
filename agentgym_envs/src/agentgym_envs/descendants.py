"""The processes that a process has started, with those that they have started.

A mark in their environment variables finds them after they have left the process group and after
their parents have ended. Only Linux shows the variables of other processes (``/proc``). Elsewhere
no process is found.

    python -I -S descendants.py PID MARK

The script starts a process that is not a child of PID and waits for the end of PID. This process
then kills the processes with the mark. A byte on its standard input ends it without a kill.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress

VARIABLE = "AGENTGYM_DESCENDANTS"
GRACE = 5.0  # seconds in which processes end themselves; a worker of a pool needs up to three
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


def guard(token: str) -> int | None:
    """Starts a process that kills those with a mark after this one has ended in any way.

    Returns:
        The descriptor of a pipe; a byte ends the guard. None on systems without a guard.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    import subprocess  # the script starts faster without it

    theirs, ours = os.pipe()
    try:
        subprocess.run(  # it ends at once; its child goes on, outside this process's children
            [sys.executable, "-I", "-S", __file__, str(os.getpid()), token],
            env={name: value for name, value in os.environ.items() if name != VARIABLE},
            cwd="/",
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # signals of the terminal do not reach it
            check=False,
        )
    finally:
        os.close(theirs)
    return ours


def hung_up(file: int, seconds: float | None = None) -> bool:
    """Waits until the other end of a pipe or socket has closed; returns whether it has."""
    hangup = select.poll()
    hangup.register(file, 0)
    return bool(hangup.poll(None if seconds is None else seconds * 1000))


def _marks(number: int) -> list[bytes]:
    file = -1
    with suppress(OSError):  # it has ended, or belongs to another user
        file = os.open(f"/proc/{number}/environ", os.O_RDONLY)
    if file < 0:
        return []
    text = b""
    with suppress(OSError):
        while data := os.read(file, 2**16):
            text += data
    os.close(file)
    _, found, value = (b"\0" + text).partition(b"\0%s=" % VARIABLE.encode())
    return value.partition(b"\0")[0].split(b",") if found else []


def _wait_and_kill(parent: int, token: str) -> None:
    if os.getppid() == parent:
        parents_end = os.pidfd_open(parent)
        if os.fork():
            return
        both, end = select.poll(), select.poll()
        both.register(parents_end, select.POLLIN)
        both.register(0, select.POLLIN)
        end.register(parents_end, select.POLLIN)
        both.poll()
        if select.select([0], [], [], 0)[0] and os.read(0, 1):
            return
        end.poll()
    late = time.monotonic() + GRACE
    while members([token]) and time.monotonic() < late:
        time.sleep(0.05)
    kill([token])


if __name__ == "__main__":
    _wait_and_kill(int(sys.argv[1]), sys.argv[2])
