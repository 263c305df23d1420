"""Hosts of a pool: processes of ``agentgym serve --pool`` on this machine.

As a script, it runs the command with the numbers of seconds in the JSON of its first argument.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager


class HostProcess:
    """A host; it keeps its port when it starts again."""

    def __init__(self, *options, seconds=None, prefix=()):
        self.options, self.seconds, self.prefix = options, seconds or {}, prefix
        self.port = 0
        self.process = None
        self.start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        command = [sys.executable, __file__, json.dumps(self.seconds), "serve", "--pool"]
        self.process = subprocess.Popen(
            [*self.prefix, *command, "--port", str(self.port), *self.options],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            process_group=0,
        )
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Ends it as a crash does."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """Ends it as a user does; returns its exit status."""
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        with self.process.stdout:
            return self.process.wait(30)


@contextmanager
def hosts(number, *options, **more):
    """Yields running hosts."""
    started = []
    try:
        for _ in range(number):
            started.append(HostProcess(*options, **more))
        yield started
    finally:
        for host in started:
            if host.process.poll() is None:
                host.stop()
            host.process.stdout.close()


def main(seconds, *arguments):
    from agentgym_envs import cli
    from agentgym_envs.pool import host

    for name, value in json.loads(seconds).items():
        setattr(host, name, value)
    cli.app(arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
