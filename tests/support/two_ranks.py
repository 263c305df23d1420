"""A command that starts two processes through a launcher, without torch.

    two_ranks.py command | launcher | rank FILE

The command starts the launcher, which starts two ranks with the same standard input, as DeepSpeed's
launcher does. A rank appends to FILE until it stops.
"""

import os
import subprocess
import sys
import time

from agentgym_envs.stopping import stop
from agentgym_train.run.launch import LaunchedProcesses, follow_command


def command(file):
    with stop.handled():
        try:
            with LaunchedProcesses(
                [sys.executable, __file__, "launcher", file], os.environ
            ) as launched:
                status = launched.wait()
        except KeyboardInterrupt:
            status = stop.exit_status
    sys.exit(status)


def launcher(file):
    ranks = [subprocess.Popen([sys.executable, __file__, "rank", file]) for _ in range(2)]
    sys.exit(max(rank.wait() for rank in ranks))


def rank(file):
    with stop.handled():
        follow_command()
        try:
            while True:
                with open(file, "a") as lines:
                    lines.write(f"{os.getpid()}\n")
                time.sleep(0.05)
        except KeyboardInterrupt:
            sys.stderr.write("a rank has stopped\n")
    sys.exit(stop.exit_status)


if __name__ == "__main__":
    {"command": command, "launcher": launcher, "rank": rank}[sys.argv[1]](sys.argv[2])
