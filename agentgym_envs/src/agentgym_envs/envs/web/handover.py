"""Becomes a browser whose debugging pipe belongs to another process: see ``pipe.py``.

Arguments: the socket of that process, the browser's program, the browser's arguments.
"""

import os
import socket
import sys

READ, WRITE = 3, 4
"""The descriptors of the pipe, by the browser's convention."""


PROGRAMS = {"xdg-settings": "echo yes", "xdg-open": "exit 1", "xdg-email": "exit 1"}
"""Desktop programs that a link such as mailto: could start, and the scripts that replace them.

The browser asks ``xdg-settings`` whether it is itself the program for a scheme. If it is, the link
has no effect.
"""


def replace_programs(folder: str) -> None:
    """Writes the scripts into a folder and puts the folder first in the browser's search path."""
    os.makedirs(folder)
    for name, script in PROGRAMS.items():
        with open(
            os.open(os.path.join(folder, name), os.O_CREAT | os.O_WRONLY, 0o755), "w"
        ) as file:
            file.write(f"#!/bin/sh\n{script}\n")
    os.environ["PATH"] = folder + os.pathsep + os.environ.get("PATH", os.defpath)


def main(place: str, executable: str, *arguments: str) -> None:
    """Exchanges the descriptors and runs the browser."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(place)
        socket.send_fds(there, [b"x"], [READ, WRITE])
        _, descriptors, _, _ = socket.recv_fds(there, 1, 2)
    os.dup2(descriptors[0], READ)
    os.dup2(descriptors[1], WRITE)
    for descriptor in descriptors:
        if descriptor not in (READ, WRITE):
            os.close(descriptor)
    profile = next(
        word.partition("=")[2] for word in arguments if word.startswith("--user-data-dir=")
    )
    replace_programs(os.path.join(profile, "programs"))
    os.execv(executable, [executable, *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
