"""Replaces the other processes of the kit by forks of two processes that have loaded it.

This file is also the program of these processes. A line of JSON requests a run: its input, its
environment variables and its folder. The answer is its status and its output.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

from agentgym_envs.processes import python_environment
from agentgym_envs.testing import subprocesses

OPTIONS = ("PYTHONHASHSEED", "PYTHONOPTIMIZE")


class Forks:
    """Context manager; ``start`` replaces ``agentgym_envs.testing.subprocesses.start``."""

    def __init__(self):
        self._servers, self._starting = {}, threading.Lock()

    def __enter__(self):
        for conditions in subprocesses.CONDITIONS:
            self._server(conditions.variables)
        return self

    def __exit__(self, *exc):
        for process, _ in self._servers.values():
            process.communicate()

    def start(self, given, variables, folder):
        process, lock = self._server(variables)
        with lock:
            print(json.dumps([given, variables, folder]), file=process.stdin, flush=True)
            return tuple(json.loads(process.stdout.readline()))

    def _server(self, variables):
        """Returns the process with the options that Python reads at its start."""
        key = tuple((name, variables.get(name, "")) for name in OPTIONS)
        with self._starting:
            if key not in self._servers:
                environ = python_environment(PYTHONWARNINGS="ignore", **dict(key))
                command, pipe = [sys.executable, __file__], subprocess.PIPE
                process = subprocess.Popen(command, env=environ, stdin=pipe, stdout=pipe, text=True)
                self._servers[key] = process, threading.Lock()
        return self._servers[key]


def main():
    from agentgym_envs.testing.__main__ import main as play

    for line in sys.stdin:
        given, variables, folder = json.loads(line)
        with tempfile.TemporaryFile() as output:
            pid = os.fork()
            if pid == 0:
                run(play, given, variables, folder, output)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            printed = os.pread(output.fileno(), 10000, 0).decode("utf-8", "replace")
        sys.stdout.write(json.dumps([status, printed]) + "\n")
        sys.stdout.flush()


def run(play, given, variables, folder, output):
    leave, status = os._exit, 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        os.environ.update(variables)
        time.tzset()
        os.chdir(folder)
        tempfile.tempdir = None
        play(given)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(bool(error.code))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        leave(status)


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))  # it is also there as the folder of the script
    main()
