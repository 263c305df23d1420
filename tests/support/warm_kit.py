"""The kit's other processes as forks of two that have loaded it already; this file is also their program.

A line of JSON asks for a run: what it plays, the variables of its environment, its folder. The answer is its status and its output.
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


class Forks:
    """A context manager whose ``start`` does what ``agentgym_envs.testing.subprocesses.start`` does."""

    def __enter__(self):
        seeds = {conditions.variables["PYTHONHASHSEED"] for conditions in subprocesses.CONDITIONS}
        self._servers = {seed: (self._serve(seed), threading.Lock()) for seed in seeds}
        return self

    def __exit__(self, *exc):
        for process, _ in self._servers.values():
            process.communicate()

    def start(self, given, variables, folder):
        process, lock = self._servers[variables["PYTHONHASHSEED"]]
        with lock:
            print(json.dumps([given, variables, folder]), file=process.stdin, flush=True)
            return tuple(json.loads(process.stdout.readline()))

    def _serve(self, hash_seed):
        environ = python_environment(PYTHONHASHSEED=hash_seed, PYTHONWARNINGS="ignore")
        command, pipe = [sys.executable, __file__], subprocess.PIPE
        return subprocess.Popen(command, env=environ, stdin=pipe, stdout=pipe, text=True)


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
    sys.path.remove(str(Path(__file__).parent))  # twice there: as the script's folder too
    main()
