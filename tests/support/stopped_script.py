"""A command for tests of signals.

    stopped_script.py HOW

It prints "ready" and waits in the way that HOW names. With HOW=child, it has a child in another
session.
"""

import asyncio
import ctypes
import os
import subprocess
import sys
import time

from agentgym_envs.stopping import run_tasks, stop


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def wait():
    try:
        say("ready")
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        say("cancelled")
        raise


def main(how):
    if how == "slow":  # a second signal comes during this
        try:
            main("plain")
        finally:
            say("cleaning up")
            time.sleep(60)
    elif how == "tasks":
        run_tasks(wait())
    elif how == "fork":
        if os.fork() == 0:
            os.kill(os.getpid(), 15)
            time.sleep(60)
        say("a fork ended by", os.wait()[1])
        main("plain")
    elif how == "held":  # in C code, so no handler of Python runs
        say("ready")
        ctypes.PyDLL(None).usleep(60_000_000)
    elif how == "blocked":  # the same, but other threads run
        say("ready")
        while True:
            ctypes.CDLL(None).pause()
    else:
        say("ready")
        time.sleep(60)


if __name__ == "__main__":
    with stop.handled():
        if sys.argv[1] == "child":
            subprocess.Popen(["sleep", "60"], start_new_session=True)
        if sys.argv[1] == "blocked":
            stop.grace = 0.5
        try:
            main(sys.argv[1])
        except KeyboardInterrupt:
            say("interrupted")
    sys.exit(stop.exit_status)
