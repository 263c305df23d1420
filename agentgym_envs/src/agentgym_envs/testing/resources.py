"""The resources of this process: child processes, threads and open files."""

import os
import re
import subprocess
import threading
from collections import Counter
from pathlib import Path

_DESCRIPTORS = next((path for path in ("/proc/self/fd", "/dev/fd") if os.path.isdir(path)), None)


def children() -> list[int]:
    """Returns the process ids of the running children of this process."""
    if Path("/proc/self/stat").exists():
        lines = [text for path in Path("/proc").glob("[0-9]*/stat") if (text := _read(path))]
        heads = [(line.partition(" ")[0], *line.rpartition(")")[2].split()[:2]) for line in lines]
        rows = [(pid, parent, state) for pid, state, parent in heads]
    else:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
        ).stdout
        rows = [
            (pid, parent, state[0]) for pid, parent, state in map(str.split, listed.splitlines())
        ]
    return [int(pid) for pid, parent, state in rows if int(parent) == os.getpid() and state != "Z"]


def marked(variable: str) -> list[int]:
    """Returns the ids of other processes that were started with an environment variable.

    This also finds daemons, which have another parent. Without ``/proc`` the list is empty.

    Args:
        variable: ``NAME=value``.
    """
    found = (
        path for path in Path("/proc").glob("[0-9]*/environ") if variable in _read(path).split("\0")
    )
    return [int(path.parent.name) for path in found if int(path.parent.name) != os.getpid()]


def threads() -> set[threading.Thread]:
    """Returns the running threads."""
    return set(threading.enumerate())


def open_files() -> Counter[str]:
    """Counts the open files of this process by name, and sockets and pipes by kind."""
    names: Counter[str] = Counter()
    for number in os.listdir(_DESCRIPTORS) if _DESCRIPTORS else ():
        try:
            name = os.readlink(f"{_DESCRIPTORS}/{number}")
        except OSError:  # the descriptor of the listing itself
            continue
        names[re.sub(r":\[\d+\]$", "", name)] += 1
    return names


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # the process has ended
        return ""
