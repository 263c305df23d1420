"""Starts the workers of pools as forks of a process that has loaded them.

    warm_worker.py SOCKET OWNER

One server serves all processes of a test session and ends with the process OWNER. A connection
starts one worker: its arguments, variables, folder and descriptors. The answers are its process id
and later its exit status.
"""

import array
import fcntl
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path

from agentgym_envs.pool import handle

MODULE = "agentgym_envs.pool.worker"


class Forking:
    """Replaces the module ``subprocess`` in ``agentgym_envs.pool.handle``.

    Args:
        folder: a folder of the test session; its processes share it.
        owner: the server ends with this process.
    """

    def __init__(self, folder, owner):
        self._address, self._owner = Path(folder) / "workers", owner
        self._options = python_options(os.environ)

    def __getattr__(self, name):
        return getattr(subprocess, name)

    def install(self):
        """Replaces the start of workers in this process and its forks."""
        handle.subprocess = self

    @staticmethod
    def uninstall():
        handle.subprocess = subprocess

    def Popen(self, command, *, env, pass_fds, **options):
        """Starts a worker; a process of its own if Python's options differ from the server's."""
        if command[1:4] != ["-P", "-m", MODULE] or python_options(env) != self._options:
            return subprocess.Popen(command, env=env, pass_fds=pass_fds, **options)
        return Fork(self._connection(), command[4:], env, pass_fds)

    def start(self):
        """Starts the server, unless another process of the session has done it."""
        start_server(__file__, self._address, self._owner)

    def _connection(self):
        self.start()
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self._address))
        return connection


def python_options(environment):
    """Returns the variables and files that Python reads at its start."""
    prefixes = ("PYTHON", "LC_", "LANG", "LD_")
    options = {k: v for k, v in environment.items() if k.startswith(prefixes)}
    folders = options.pop("PYTHONPATH", "").split(os.pathsep)
    return options, [path for f in folders if (path := Path(f, "sitecustomize.py")).exists()]


class Fork:
    """A worker with the interface of ``subprocess.Popen``."""

    def __init__(self, connection, arguments, env, pass_fds):
        self._connection, self._lock = connection, threading.Lock()
        self.args, self.returncode = arguments, None
        read, write = os.pipe()
        self.stderr = os.fdopen(read, "rb")
        arguments = [pass_fds.index(int(a)) if a in map(str, pass_fds) else a for a in arguments]
        request = json.dumps([arguments, env, os.getcwd()]).encode()
        fds = array.array("i", [*pass_fds, write])
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)]
        connection.sendmsg([len(request).to_bytes(4, "big")], ancillary)
        connection.sendall(request)
        os.close(write)
        self.pid = self._number()

    def _number(self):
        return int.from_bytes(self._connection.recv(4, socket.MSG_WAITALL), "big", signed=True)

    def poll(self):
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout=None):
        with self._lock:
            if self.returncode is None:
                if not select.select([self._connection], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(self.args, timeout)
                self.returncode = self._number()
                self._connection.close()
        return self.returncode


def serve(connection):
    """Forks a worker, and sends its process id and its exit status."""
    head, ancillary, *_ = connection.recvmsg(4, socket.CMSG_SPACE(16 * 4))
    fds = array.array("i")
    for _, _, data in ancillary:
        fds.frombytes(data)
    size = int.from_bytes(head, "big")
    arguments, env, folder = json.loads(connection.recv(size, socket.MSG_WAITALL))
    pid = os.fork()
    if pid == 0:
        connection.close()
        run(arguments, env, folder, fds)
    os.setpgid(pid, pid)
    for descriptor in fds:
        os.close(descriptor)
    with suppress(BrokenPipeError):
        connection.sendall(pid.to_bytes(4, "big", signed=True))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(status.to_bytes(4, "big", signed=True))


def run(arguments, env, folder, fds):
    """Runs the worker in this process; never returns."""
    status = 1
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(fds[-1], number)
        os.close(fds[-1])
        os.environ.clear()
        os.environ.update(env)
        time.tzset()
        os.chdir(folder)
        sys.path[:] = dict.fromkeys([*env["PYTHONPATH"].split(os.pathsep), *sys.path])
        plugins.discover.cache_clear()
        registry.register_all()
        random.seed()
        sys.argv = [MODULE, *(str(fds[a]) if isinstance(a, int) else a for a in arguments)]
        del sys.modules[MODULE]
        runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(bool(error.code))
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(status)


def start_server(program, address, owner, env=None):
    """Starts a program that calls :func:`listen`, unless another process has done it."""
    with open(address.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            subprocess.run([sys.executable, program, address, str(owner)], env=env, check=True)


def listen(address, owner, serve):
    """Calls ``serve`` with each connection, in a fork, until the process ``owner`` has ended."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        if os.fork():
            return  # the end of this process shows that the server listens
        os.setsid()
        listener.settimeout(1)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while os.path.exists(f"/proc/{owner}"):
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                if os.fork() == 0:
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    listener.close()
                    serve(connection)
                    os._exit(0)
                connection.close()


if __name__ == "__main__":
    import random

    from agentgym_envs import plugins, registry
    from agentgym_envs.pool import worker  # noqa: F401

    sys.path.remove(str(Path(__file__).parent))
    listen(*sys.argv[1:], serve)
