"""Load balancing: the micro-batches of all processes are equally many, and of similar size.

Processes wait for each other in every pass of ZeRO-3, and in every optimizer step of other stages.
A *round* is one micro-batch on each process. Its cost is the padded size of the largest one.

Rows move to other processes for their forward and backward passes. Sums over all processes do not
change.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch

from agentgym_train.data.batching import Batch

if TYPE_CHECKING:
    from agentgym_train.distributed import Distributed

Origin = tuple[int, int]
"""The process that has a row, and the row's place in the batch of that process."""
Unit = Literal["row", "episode", "group"]
"""Which rows stay in one micro-batch: none in particular, those of an episode, or of a group."""


class SharedBatch(NamedTuple):
    """A micro-batch of this process."""

    micro: Batch
    origins: list[Origin]
    """The origin of each row; empty: the micro-batch is idle."""


def share_out(
    batch: Batch, distributed: "Distributed", max_tokens: int, *, unit: Unit = "row"
) -> list[SharedBatch]:
    """Distributes the rows of all processes; returns this process's micro-batches.

    All processes call it and get equally many. Under ZeRO a forward or backward pass is a
    collective operation, so a process with fewer passes would leave the others waiting.

    Args:
        batch: the rows that this process has.
        distributed: the processes.
        max_tokens: limit of padded tokens per micro-batch; see :func:`plan`.
        unit: the rows that stay together.
    """
    units: dict[tuple[int, int], list[Origin]] = {}
    lengths: dict[Origin, int] = {}
    rows_B = torch.arange(len(batch.group_B))
    names_B = {"row": rows_B, "episode": batch.episode_B, "group": batch.group_B}[unit]
    own = list(zip(names_B.tolist(), batch.valid_BT.sum(1).tolist(), strict=True))
    for process, theirs in enumerate(distributed.gather(own)):
        for row, (name, length) in enumerate(theirs):
            lengths[process, row] = length
            units.setdefault((process, name), []).append((process, row))
    sizes = [
        BatchUnit(len(each), max(lengths[origin] for origin in each)) for each in units.values()
    ]
    members = list(units.values())
    rounds = [
        # Sorted, so that rows of a unit stay neighbours in their order.
        [sorted(origin for unit in part for origin in members[unit]) for part in parts]
        for parts in plan(sizes, distributed.size, max_tokens)
    ]
    received = _moved(batch, rounds, distributed)
    mine = [parts[distributed.rank] for parts in rounds]
    ordered = sorted(origin for part in mine for origin in part)
    places = {origin: place for place, origin in enumerate(ordered)}
    return [
        SharedBatch(
            received.take([places[origin] for origin in part]) if part else batch.idle(), part
        )
        for part in mine
    ]


def _moved(batch: Batch, rounds: list[list[list[Origin]]], distributed: "Distributed") -> Batch:
    """Returns the rows of this process's parts, in the order of their origins."""
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


class BatchUnit(NamedTuple):
    """Rows that stay in one micro-batch."""

    rows: int
    """Number of rows."""
    length: int
    """Tokens of the longest."""


@dataclass
class _MicroBatch:
    """A micro-batch."""

    units: list[int]
    rows: int
    length: int

    @property
    def padded(self) -> int:
        """Number of tokens, padding included."""
        return self.rows * self.length


def plan(units: Sequence[BatchUnit], processes: int, max_tokens: int) -> list[list[list[int]]]:
    """Distributes units over rounds and processes, in the same way on every call.

    Args:
        units: all units of all processes.
        processes: number of processes.
        max_tokens: limit of padded tokens per micro-batch. A longer unit is allowed; then the other
            micro-batches of its round may be as large, which costs no time.

    Returns:
        For each round and process, the places of the units in ``units``; empty: idle. There are as
        few rounds as the limit allows.
    """
    places = sorted(range(len(units)), key=lambda place: (-units[place].length, place))

    def parts(limit: int) -> list[_MicroBatch]:
        return _parts(units, places, processes, limit)

    def rounds(limit: int) -> int:
        return -(-len(parts(limit)) // processes)

    # The smallest limit that needs no more rounds: it leaves no round with a few small parts.
    fewest = rounds(max_tokens)
    limit = 1 + bisect_left(range(1, max_tokens), True, key=lambda limit: rounds(limit) <= fewest)
    # Parts of similar size share a round, since the largest one sets the cost.
    sized = sorted(parts(limit), key=lambda part: -part.padded)
    loads, planned = [0] * processes, []
    for first in range(0, len(sized), processes):
        # The largest part goes to the process with the fewest tokens so far.
        waiting = sorted(range(processes), key=lambda process: loads[process])
        shares: list[list[int]] = [[] for _ in range(processes)]
        for part, process in zip(sized[first : first + processes], waiting, strict=False):
            shares[process] = part.units
            loads[process] += part.padded
        planned.append(shares)
    return planned


def _parts(
    units: Sequence[BatchUnit], places: Sequence[int], processes: int, limit: int
) -> list[_MicroBatch]:
    """Splits units into micro-batches of at most ``limit`` padded tokens.

    Args:
        units: see :func:`plan`.
        places: the places of all units, the longest unit first.
        processes: number of micro-batches per round.
        limit: maximum padded tokens; more in a round that begins with a larger unit.
    """
    parts: list[_MicroBatch] = []
    room = limit
    # Neighbours in this order have similar lengths, which keeps padding low. The first unit of a
    # part is its longest and sets the padded length.
    for place in places:
        rows, length = units[place]
        if parts and (parts[-1].rows + rows) * parts[-1].length <= room:
            parts[-1].units.append(place)
            parts[-1].rows += rows
        else:
            if len(parts) % processes == 0:
                room = max(limit, rows * length)
            parts.append(_MicroBatch([place], rows, length))
    return parts
