"""Runs ``agentgym-train`` and scripts in forks of a process that has loaded it.

    warm.py SOCKET OWNER

One server serves all processes of a test session and ends with the process OWNER. A connection
starts commands one after another. A line of JSON starts a command. The answers are its process id
and later its exit status. Each command leads a new session.
"""

import gc
import json
import os
import runpy
import socket
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import processes
from warm_worker import Forking, listen, start_server


def server(tmp_path_factory):
    """Returns the folder and the process of a test session, which all its processes share."""
    folder, owner = tmp_path_factory.getbasetemp(), os.getpid()
    if "PYTEST_XDIST_WORKER" in os.environ:
        return folder.parent, os.getppid()
    return folder, owner


class Warm:
    """Context manager of a connection to the server; the first connection starts the server.

    Args:
        folder: a folder of the test session; its processes share it.
        owner: the server ends with this process.
    """

    def __init__(self, folder, owner):
        self.server = (folder, owner)
        """Arguments of further connections, for commands at the same time."""
        self._address, self._owner = Path(folder) / "warm", owner

    @classmethod
    def of(cls, tmp_path_factory):
        """Returns a connection to the server that all test processes of the session share."""
        return cls(*server(tmp_path_factory))

    def __enter__(self):
        start_server(__file__, self._address, self._owner, env=processes.environment())
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(self._address))
        self._file = self._socket.makefile("rw")
        return self

    def __exit__(self, *exc):
        self._file.close()
        self._socket.close()

    def start(self, output, *arguments, script=None, **more):
        """Starts a command, or a script; returns its process id.

        Args:
            output: file for the output.
            arguments: arguments of the command.
            script: path of a script to run instead.
            more: ``cwd``: working folder; ``env``: additional variables; ``strict``: warnings are
                errors.
        """
        request = {
            "output": str(output),
            "script": script and str(script),
            "arguments": [*map(str, arguments)],
            **more,
            "env": {k: v for k, v in os.environ.items() if k == "AGENTGYM_CACHE"}
            | more.get("env", {}),
        }
        print(json.dumps(request, default=str), file=self._file, flush=True)
        return int(self._file.readline())

    def status(self):
        """Waits for the last command; returns its exit status, negative after a signal."""
        return int(self._file.readline())

    def finish(self, path, *more):
        """Runs a configuration file to its end, with more arguments; returns the output."""
        return self._finish(path.with_suffix(".output"), "run", path, *more)

    def play(self, script, home, *arguments, **more):
        """Runs a script to its end; returns the output."""
        return self._finish(home / "output", *arguments, script=script, **more)

    def _finish(self, output, *arguments, **more):
        self.start(output, *arguments, **more)
        assert self.status() == 0, output.read_text()[-3000:]
        return output.read_text()


def run(output, script, arguments, cwd=None, env=(), strict=False):
    """Runs the command in this process; never returns."""
    os.setsid()
    file = os.open(output, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.update(env)
    os.chdir(cwd or ".")
    if strict:
        warnings.simplefilter("error")
    if script is None:
        cli.app(arguments)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    sys.exit()


def serve(connection):
    """Starts commands for one connection."""
    with connection, connection.makefile("rw") as file:
        for line in file:
            pid = os.fork()
            if pid == 0:
                run(**json.loads(line))
            file.write(f"{pid}\n")
            file.flush()
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            with suppress(BrokenPipeError):  # the client has closed the connection
                file.write(f"{status}\n")
                file.flush()


def load():
    """Does late imports, and fills the tables that libraries make at their first use.

    By default, a process and its forks share one semaphore as the lock of progress bars. A fork
    that is killed while it holds the lock would stop all others.
    """
    tqdm.set_lock(threading.RLock())
    with tempfile.TemporaryDirectory() as folder:
        tiny.model().save_pretrained(folder)
        AutoModelForCausalLM.from_pretrained(folder)
        figure = Figure()
        figure.subplots().plot([0, 1])
        figure.savefig(f"{folder}/figure.png")
    gc.collect()
    gc.freeze()  # a fork does not look for garbage in what it shares


if __name__ == "__main__":
    import tiny
    from matplotlib.figure import Figure
    from tqdm import tqdm
    from transformers import AutoModelForCausalLM

    from agentgym_train import cli, trainer  # noqa: F401
    from agentgym_train.models import scratch  # noqa: F401
    from agentgym_train.run import work  # noqa: F401

    load()
    Forking(Path(sys.argv[1]).parent, sys.argv[2]).install()
    listen(*sys.argv[1:], serve)
