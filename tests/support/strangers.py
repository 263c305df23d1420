"""Two processes that a program without their secret watches and disturbs.

    strangers.py

Prints a line of JSON for each process, with the addresses on which it listens, and one with all
keys and values of the processes' store.
"""

import json
import os

import processes
import psutil
import torch
from torch._C._distributed_c10d import TCPStore

from agentgym_train.config import EngineConfig
from agentgym_train.distributed import Distributed
from agentgym_train.engine.deepspeed import start_processes

SECRET = b"a secret of the processes"


def work(rank):
    start_processes(EngineConfig(), SECRET)
    distributed = Distributed()
    distributed.gather(rank)
    sockets = psutil.Process().net_connections("inet")
    say({"listens": sorted({s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN})})
    distributed.barrier()
    if rank == 0:  # as any program of this machine can
        stranger = TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), is_master=False)
        say({"store": {key: stranger.get(key).hex() for key in stranger.list_keys()}})
    distributed.barrier()


def alone(_):
    del os.environ["MASTER_ADDR"]
    start_processes(EngineConfig())
    torch.distributed.all_reduce(torch.ones(1))
    sockets = psutil.Process().net_connections("inet")
    # A machine can know its own name as the loopback, so the device is shown too.
    device = os.environ["GLOO_SOCKET_IFNAME"]
    say({"alone": [device, *{s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN}]})


def say(what):
    os.write(1, f"{json.dumps(what)}\n".encode())


if __name__ == "__main__":
    processes.fork(2, work)
    processes.fork(1, alone)
