"""How the processes of a run meet and end, and errors of their exchange in one line."""

import importlib
import os
import re
import sys
from datetime import timedelta
from typing import NoReturn

import deepspeed
import deepspeed.ops
import torch.distributed as dist
from deepspeed.accelerator import get_accelerator
from deepspeed.runtime import compiler
from deepspeed.utils import logger as deepspeed_log
from torch._C._distributed_c10d import Store, TCPStore

from agentgym_train.config import EngineConfig
from agentgym_train.engine import addresses, watchdog
from agentgym_train.errors import TrainingError

LIMIT = timedelta(minutes=10)  # for all processes to start


def start_processes(config: EngineConfig, secret: bytes = b"") -> None:
    """Joins the process group; further calls do nothing.

    A process without the variables of a launcher creates a group of one.

    Args:
        config: the engine's settings.
        secret: the processes of the run alone know it, so no other program can pass for one.
    """
    if dist.is_initialized():
        return
    deepspeed_log.setLevel("WARNING")
    backend = get_accelerator().communication_backend_name()
    timeout = timedelta(seconds=config.collective_timeout)
    store, rank, size = meet(timeout, secret)
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=timeout)
    if get_accelerator().device_name() == "cpu":
        # DeepSpeed compiles its shared-memory collectives at first use. gloo needs neither a
        # compiler nor ninja.
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    import_muon()
    deepspeed.init_distributed(
        dist_backend=backend, timeout=timeout, verbose=False, auto_mpi_discovery=False
    )


def import_muon() -> None:
    """Imports DeepSpeed's optimizer Muon without torch's compiler, which takes seconds to load.

    DeepSpeed imports Muon only to check that our optimizer is another one. Muon's functions are
    decorated to be compiled; here the decorator returns them unchanged.
    """
    compile_, compiler.compile = compiler.compile, lambda: lambda function: function
    try:
        importlib.import_module("deepspeed.runtime.zero.muon.original_muon")
    finally:
        compiler.compile = compile_


def end_process() -> NoReturn:
    """Leaves the process group and ends the process at once, with exit status 0.

    Gloo's threads need the interpreter to free the tensors of their last collective. A thread that
    does so while the interpreter shuts down aborts the process. These threads cannot be joined,
    since DeepSpeed keeps groups alive under ZeRO-3.
    """
    watchdog.close()
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def meet(timeout: timedelta, secret: bytes = b"") -> tuple[Store, int, int]:
    """Meets the other processes as the variables of a launcher say, and watches them from then on.

    A process without the variables of a launcher is alone. torch would wait for a process that
    never starts as long as for a collective.

    Args:
        timeout: of collectives.
        secret: the processes of the run alone know it.

    Returns:
        A store that the processes share, the rank of this one, and the number of processes.

    Raises:
        TrainingError: not all processes have come.
    """
    if "MASTER_ADDR" not in os.environ:
        os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
        addresses.stay_inside(os.environ)
        # A store in memory needs no port, which another program could have taken.
        return dist.HashStore(), 0, 1  # type: ignore[attr-defined]
    limit = min(timeout, LIMIT)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if inside := addresses.on_one_machine(os.environ):
        addresses.stay_inside(os.environ)
    main = addresses.LOOPBACK if inside else address
    try:
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
            store: Store = TCPStore(address, port, size, timeout=limit)  # in torchrun's process
        else:
            # By itself, torch would listen on all addresses.
            own = None if rank else addresses.listen(main, port).detach()
            store = TCPStore(
                main, port, size, is_master=rank == 0, timeout=limit, master_listen_fd=own
            )
        watchdog.watch(store, rank=rank, size=size, address=main, secret=secret)
    except (dist.DistError, OSError) as error:
        raise TrainingError(
            f"process {rank} of {size} did not meet the others at {address}:{port} in"
            f" {limit.total_seconds():g} s: {str(error).splitlines()[0]}. Start"
            f" WORLD_SIZE={size} processes, or look at the output of those that have ended"
        ) from error
    store.set_timeout(timeout)
    return store, rank, size


def explain(error: BaseException, limit: float) -> str | None:
    """Returns the sentence for the user if an error is the end of waiting for other processes.

    Args:
        error: any error.
        limit: ``engine.collective_timeout``.
    """
    if not isinstance(error, RuntimeError) or not re.search(r"(?i)timed out waiting", str(error)):
        return None
    return (
        f"this process has waited longer than engine.collective_timeout={limit:g} s for the"
        " others: one hangs, or the limit is shorter than a rollout. The same command resumes from"
        " the newest checkpoint"
    )
