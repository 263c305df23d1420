"""The processes of a run and the numbers that they exchange.

With one process nothing is exchanged, and the results are the same.
"""

from typing import Any

import torch
import torch.distributed as dist


class Distributed:
    """The position of this process among all, and collective operations.

    Args:
        device: device of the numbers in collectives; default: the CPU. NCCL needs a GPU.
    """

    def __init__(self, device: torch.device | None = None):
        self._device = device or torch.device("cpu")
        alone = not dist.is_initialized()
        self.rank, self.size = (0, 1) if alone else (dist.get_rank(), dist.get_world_size())

    @property
    def is_main(self) -> bool:
        """Whether this is the main process, which writes files and prints."""
        return self.rank == 0

    def sum(self, *values: float) -> list[float]:
        """Returns the sum of each number over all processes."""
        numbers = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            numbers = numbers.to(self._device)
            dist.all_reduce(numbers)
        return [float(v) for v in numbers.tolist()]

    def max(self, value: int) -> int:
        """Returns the largest value over all processes."""
        if self.size == 1:
            return value
        number = torch.tensor(value, device=self._device)
        dist.all_reduce(number, op=dist.ReduceOp.MAX)
        return int(number)

    def gather(self, value: Any) -> list[Any]:
        """Returns the values of all processes, by rank, on every process.

        Args:
            value: a picklable object.
        """
        values: list[Any] = [value]
        if self.size > 1:
            values = [None] * self.size
            dist.all_gather_object(values, value)
        return values

    def barrier(self) -> None:
        """Waits until all processes have called it."""
        if self.size > 1:
            dist.barrier()
