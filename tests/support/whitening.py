"""Whitens values in two processes; each process has every second row.

    python whitening.py INPUT FOLDER

INPUT holds the values and the action mask. Process N writes its rows to FOLDER/N.pt.
"""

import sys

import processes
import torch

from agentgym_train.config import EngineConfig
from agentgym_train.distributed import Distributed
from agentgym_train.engine.deepspeed import start_processes
from agentgym_train.learning.advantages import whitened


def work(rank, file, folder):
    value_BT, action_BT = torch.load(file)
    start_processes(EngineConfig())
    torch.save(
        whitened(value_BT[rank::2], action_BT[rank::2], Distributed()), f"{folder}/{rank}.pt"
    )


if __name__ == "__main__":
    assert processes.fork(2, work, *sys.argv[1:]) == 0
