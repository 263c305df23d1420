"""Processes of tests: their environment variables, and groups of forks."""

import os
import signal
import sys
import traceback
from pathlib import Path

from agentgym_train.run.launch import free_port


def environment():
    """Returns variables without a launcher, compiler, ninja or CUDA toolkit.

    Modules of this folder can be imported.
    """
    drop = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    kept = {k: v for k, v in os.environ.items() if k not in drop}
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    modules = os.pathsep.join(
        filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")])
    )
    none = {"CC": "false", "CXX": "false", "CUDA_HOME": "/nonexistent"}
    return kept | none | {"PATH": path, "OMP_NUM_THREADS": "1", "PYTHONPATH": modules}


def fork(number, work, *args):
    """Calls ``work(rank, *args)`` in a group of forks; returns the wait status of the first to end.

    The forks share the modules that this process has imported. If one fails, the others are killed,
    as a launcher does.
    """
    port, children = free_port(), set()
    for rank in range(number):
        pid = os.fork()
        if pid == 0:
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(number))
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
            try:
                work(rank, *args)
                os._exit(0)
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(1)
        children.add(pid)
    statuses = []
    while children:
        pid, status = os.wait()
        children.discard(pid)
        statuses.append(status)
        for other in children if status else ():
            os.kill(other, signal.SIGKILL)
    return statuses[0]
