"""Processes that share what the main one sees, and processes that wait for others in vain.

    together.py

Prints a value and an error of the main process on each process. Then prints the error of a process
that waits longer than a second for one that works, and for one that never starts.
"""

import os
import time

import processes

from agentgym_train.config import EngineConfig
from agentgym_train.distributed import Distributed
from agentgym_train.engine import joining
from agentgym_train.engine.deepspeed import start_processes
from agentgym_train.errors import TrainingError

CONFIG = EngineConfig(collective_timeout=1)


def fail(rank):
    raise TrainingError(f"found by {rank}")


def share(rank):
    start_processes(EngineConfig())
    distributed = Distributed()
    say(f"rank {rank} knows of {distributed.from_main(lambda: rank)}")
    try:
        distributed.from_main(lambda: fail(rank))
    except TrainingError as error:
        say(f"rank {rank}: {error}")


def say(what):
    os.write(1, f"{what}\n".encode())


def wait(rank):
    start_processes(CONFIG)
    if rank:
        time.sleep(3)
    else:
        try:
            Distributed().barrier()
        except RuntimeError as error:
            say(joining.explain(error, 1))


def alone(rank):
    os.environ["WORLD_SIZE"] = "2"
    try:
        start_processes(CONFIG)
    except TrainingError as error:
        say(error)


if __name__ == "__main__":
    processes.fork(2, share)
    processes.fork(2, wait)
    processes.fork(1, alone)
