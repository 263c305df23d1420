"""Commands that signals end, and the processes that are left of them."""

import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

MARK = "AGENTGYM_TESTED"


class Command:
    """A command in a new session; its processes are found also after their parents have ended."""

    def __init__(self, command, output, **more):
        self.mark, self.output = secrets.token_hex(8), Path(output)
        modules = [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]
        variables = {MARK: self.mark, "PYTHONPATH": os.pathsep.join(filter(None, modules))}
        with self.output.open("w") as file:
            self.process = subprocess.Popen(
                [str(each) for each in command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                # The tests can run under nohup, and a command then ignores this signal.
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
                env={**os.environ, **variables, **more.pop("env", {})},
                **more,
            )

    def processes(self):
        """Returns the processes that live, also those that have left the tree."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(MARK) == self.mark:
                    found.append(process)
        return found

    def named(self, *words):
        """Returns the processes whose command lines have all these words."""
        found = []
        for process in self.processes():
            with suppress(psutil.Error):
                if set(words) <= set(process.cmdline()):
                    found.append(process)
        return found

    def wait_for(self, holds, seconds=60):
        """Waits for a condition while the command runs; returns its value."""
        end = time.monotonic() + seconds
        while not (value := holds()):
            assert self.process.poll() is None, self.output.read_text()
            assert time.monotonic() < end, self.output.read_text()
            time.sleep(0.05)
        return value

    def says(self, text):
        """Waits until the output has a text."""
        self.wait_for(lambda: text in self.output.read_text())

    def status(self, number, *, seconds=40):
        """Sends a signal; returns the exit status, and checks that no process is left."""
        self.process.send_signal(number)
        status = self.process.wait(seconds)
        self.check_gone(seconds)
        return status

    def check_gone(self, seconds=8):
        """Waits until no process is left."""
        end = time.monotonic() + seconds
        while left := self.processes():
            assert time.monotonic() < end, [(p, p.cmdline()) for p in left]
            time.sleep(0.05)


@contextmanager
def started(command, output, **more):
    """Yields a running command; kills all that is left of it afterwards."""
    running = Command(command, output, **more)
    try:
        yield running
    finally:
        for process in [*running.processes()]:
            with suppress(psutil.Error):
                process.kill()
        running.process.wait()


def agentgym(*arguments):
    """Returns the command ``agentgym``."""
    return [sys.executable, "-m", "agentgym_envs.cli", *arguments]


STATUS = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGHUP: 129, signal.SIGKILL: -9}
