"""How the processes of a run meet, and errors of their exchange in one line."""

import os
import re
from datetime import timedelta

import torch.distributed as dist
from torch._C._distributed_c10d import Store, TCPStore

from agentgym_train.engine import addresses, peers
from agentgym_train.errors import TrainingError

LIMIT = timedelta(minutes=10)  # for all processes to start


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
        peers.watch(store, rank=rank, size=size, address=main, secret=secret)
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
