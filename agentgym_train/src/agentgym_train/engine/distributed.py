"""The processes of a run and what they tell each other: the same on one process, where nobody else is asked."""

from typing import Any

import torch
import torch.distributed as dist


class Distributed:
    """This process among all.

    Args:
        device: where collectives need their numbers; the CPU unless the backend is of a GPU.
    """

    def __init__(self, device: torch.device | None = None):
        self._device = device or torch.device("cpu")
        alone = not dist.is_initialized()
        self.rank, self.size = (0, 1) if alone else (dist.get_rank(), dist.get_world_size())

    @property
    def is_main(self) -> bool:
        """Says whether this is the process that writes and prints."""
        return self.rank == 0

    def sum(self, *values: float) -> list[float]:
        """Sums numbers over all processes."""
        numbers = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            numbers = numbers.to(self._device)
            dist.all_reduce(numbers)
        return [float(v) for v in numbers.tolist()]

    def max(self, value: int) -> int:
        """Returns the largest of a number over all processes."""
        if self.size == 1:
            return value
        number = torch.tensor(value, device=self._device)
        dist.all_reduce(number, op=dist.ReduceOp.MAX)
        return int(number)

    def gather(self, value: Any) -> list[Any]:
        """Returns every process's value, on every process; picklable."""
        values: list[Any] = [value]
        if self.size > 1:
            values = [None] * self.size
            dist.all_gather_object(values, value)
        return values

    def barrier(self) -> None:
        """Waits for all processes."""
        if self.size > 1:
            dist.barrier()
