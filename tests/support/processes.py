"""Processes of tests: their environment variables, and groups of forks."""

import os
import signal
import sys
import traceback
from pathlib import Path

from agentgym_train.engine import watchdog
from agentgym_train.run.ports import free_port


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
    """Calls ``work(rank, *args)`` in a group of forks; returns the first wait status that is not 0.

    The forks share the modules that this process has imported. If one fails, the others are killed,
    as a launcher does. A signal counts before an exit, since the others notice the end of a process
    and exit.
    """
    port, children = free_port(), set()
    for rank in range(number):
        pid = os.fork()
        if pid == 0:
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(number))
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
            try:
                work(rank, *args)
                watchdog.close()
                os._exit(0)
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(1)
        children.add(pid)
    failure = 0
    while children:
        ended = [os.wait()]
        children.discard(ended[0][0])
        ended += [other for each in children if (other := os.waitpid(each, os.WNOHANG))[0]]
        children -= {pid for pid, _ in ended}
        if failure == 0 and (failed := [status for _, status in ended if status]):
            failure = next(filter(os.WIFSIGNALED, failed), failed[0])
            for other in children:
                os.kill(other, signal.SIGKILL)
    return failure
