"""Micro-batches of all processes: equally many on each, and of similar size.

Processes wait for each other in every pass of ZeRO-3, and in every optimizer step of other stages.
A *round* is one micro-batch on each process. Its cost is the padded size of the largest one.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Unit(NamedTuple):
    """Trajectories that stay in one micro-batch: a single one or a group."""

    rows: int
    """Number of trajectories."""
    length: int
    """Tokens of the longest."""


@dataclass
class _Part:
    """A micro-batch."""

    units: list[int]
    rows: int
    length: int

    @property
    def padded(self) -> int:
        """Number of tokens, padding included."""
        return self.rows * self.length


def plan(units: Sequence[Unit], processes: int, max_tokens: int) -> list[list[list[int]]]:
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

    def parts(limit: int) -> list[_Part]:
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


def _parts(units: Sequence[Unit], places: Sequence[int], processes: int, limit: int) -> list[_Part]:
    """Splits units into micro-batches of at most ``limit`` padded tokens.

    Args:
        units: see :func:`plan`.
        places: the places of all units, the longest unit first.
        processes: number of micro-batches per round.
        limit: maximum padded tokens; more in a round that begins with a larger unit.
    """
    parts: list[_Part] = []
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
            parts.append(_Part([place], rows, length))
    return parts
