"""``agentgym-train``, and scripts, in forks of a process that has loaded it already, each of which leads a session of its own.

A line of JSON starts one: the file for its output, the script or null, and its arguments. Answers with its process id, and at its
end with its status.
"""

import json
import os
import runpy
import subprocess
import sys

import matplotlib.figure  # noqa: F401
import processes

from agentgym_train import cli, scratch, trainer  # noqa: F401


class Warm:
    """Such a process, seen from a test; a context manager."""

    def __enter__(self):
        command = [sys.executable, __file__]
        self._process = subprocess.Popen(
            command, env=processes.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *exc):
        self._process.communicate()

    def start(self, output, *arguments, script=None):
        """Starts a command, or a script; returns its process id."""
        print(json.dumps([str(output), script, *map(str, arguments)]), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def status(self):
        """Waits for what was started last to end; returns its exit status, negative if a signal ended it."""
        return int(self._process.stdout.readline())

    def finish(self, path, *more):
        """Runs a configuration file, with more arguments, to its end; returns what it wrote."""
        return self._finish(path.with_suffix(".output"), "run", path, *more)

    def play(self, script, home, *arguments):
        """Runs a script to its end."""
        self._finish(home / "output", *arguments, script=script)

    def _finish(self, output, *arguments, script=None):
        self.start(output, *arguments, script=script)
        assert self.status() == 0, output.read_text()[-3000:]
        return output.read_text()


def main():
    for line in sys.stdin:
        output, script, *arguments = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.setsid()
            file = os.open(output, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            os.dup2(file, 1)
            os.dup2(file, 2)
            if script is None:
                cli.app(arguments)
            sys.argv = [script, *arguments]
            runpy.run_path(script, run_name="__main__")
            sys.exit()
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
