"""The balance between processes: each computes as much as the others.

Trajectories move to other processes for their forward and backward passes. Sums over all processes
do not change.
"""

from typing import NamedTuple

from agentgym_train.data.batching import Batch
from agentgym_train.data.rounds import Unit, plan
from agentgym_train.distributed import Distributed

Origin = tuple[int, int]
"""The process that has a trajectory, and its row in the batch of that process."""


class Share(NamedTuple):
    """A micro-batch of this process."""

    micro: Batch
    origins: list[Origin]
    """The origin of each row; empty: the micro-batch is idle."""


def share_out(
    batch: Batch, distributed: Distributed, max_tokens: int, *, whole_groups: bool = False
) -> list[Share]:
    """Distributes the trajectories of all processes; returns this process's micro-batches.

    All processes call it and get equally many. Under ZeRO a forward or backward pass is a
    collective operation, so a process with fewer passes would leave the others waiting.

    Args:
        batch: the trajectories that this process has.
        distributed: the processes.
        max_tokens: limit of padded tokens per micro-batch; see :func:`rounds.plan`.
        whole_groups: keep the trajectories of a group together.
    """
    units: dict[tuple[int, int], list[Origin]] = {}
    lengths: dict[Origin, int] = {}
    own = list(zip(batch.group_B.tolist(), batch.valid_BT.sum(1).tolist(), strict=True))
    for process, theirs in enumerate(distributed.gather(own)):
        for row, (group, length) in enumerate(theirs):
            lengths[process, row] = length
            units.setdefault((process, group if whole_groups else row), []).append((process, row))
    sizes = [Unit(len(each), max(lengths[origin] for origin in each)) for each in units.values()]
    members = list(units.values())
    rounds = [
        # Sorted, so that trajectories of a group stay neighbours in their order.
        [sorted(origin for unit in part for origin in members[unit]) for part in parts]
        for parts in plan(sizes, distributed.size, max_tokens)
    ]
    received = _moved(batch, rounds, distributed)
    mine = [parts[distributed.rank] for parts in rounds]
    ordered = sorted(origin for part in mine for origin in part)
    places = {origin: place for place, origin in enumerate(ordered)}
    return [
        Share(received.take([places[origin] for origin in part]) if part else batch.idle(), part)
        for part in mine
    ]


def _moved(batch: Batch, rounds: list[list[list[Origin]]], distributed: Distributed) -> Batch:
    """Returns the trajectories of this process's parts, in the order of their origins."""
    sent = [
        batch.take(
            sorted(
                row
                for parts in rounds
                for owner, row in parts[process]
                if owner == distributed.rank
            )
        )
        for process in range(distributed.size)
    ]
    return Batch.join(distributed.exchange(sent))
