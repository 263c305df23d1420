"""The processes of a run and the numbers that they exchange.

With one process nothing is exchanged, and the results are the same.

The methods import torch, and this module does not: plugins name the class in their types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


class Distributed:
    """The position of this process among all, and collective operations.

    Args:
        device: device of the numbers in collectives; default: the CPU. NCCL needs a GPU.
    """

    def __init__(self, device: torch.device | None = None):
        import torch

        self._device = device or torch.device("cpu")
        self.rank, self.size = 0, 1
        if torch.distributed.is_initialized():
            self.rank = torch.distributed.get_rank()
            self.size = torch.distributed.get_world_size()

    @property
    def is_main(self) -> bool:
        """Whether this is the main process, which writes files and prints."""
        return self.rank == 0

    def sum(self, *values: float) -> list[float]:
        """Returns the sum of each number over all processes."""
        import torch

        numbers = torch.tensor(values, dtype=torch.float64)
        if self.size > 1:
            numbers = numbers.to(self._device)
            torch.distributed.all_reduce(numbers)
        return [float(v) for v in numbers.tolist()]

    def max(self, value: int) -> int:
        """Returns the largest value over all processes."""
        if self.size == 1:
            return value
        import torch

        number = torch.tensor(value, device=self._device)
        torch.distributed.all_reduce(number, op=torch.distributed.ReduceOp.MAX)
        return int(number)

    def gather(self, value: Any) -> list[Any]:
        """Returns the values of all processes, by rank, on every process.

        Args:
            value: see :func:`agentgym_train.data.values.pack`.
        """
        if self.size == 1:
            return [value]
        import torch

        from agentgym_train.data.values import pack, unpack

        mine = torch.frombuffer(bytearray(pack(value)), dtype=torch.uint8).to(self._device)
        sizes = [torch.zeros(1, dtype=torch.int64, device=self._device) for _ in range(self.size)]
        torch.distributed.all_gather(sizes, torch.tensor([len(mine)], device=self._device))
        # Messages of one collective operation are equally long.
        longest = int(max(sizes))
        parts = [mine.new_empty(longest) for _ in sizes]
        torch.distributed.all_gather(parts, torch.nn.functional.pad(mine, (0, longest - len(mine))))
        return [
            unpack(part[: int(size)].cpu().numpy().tobytes())
            for part, size in zip(parts, sizes, strict=True)
        ]

    def from_main(self, value: Callable[[], Any]) -> Any:
        """Returns the main process's value on every process.

        The processes of a run can see different states of a disk that they share, so only the
        main one looks.

        Args:
            value: returns what :meth:`gather` takes; only the main process calls it.

        Raises:
            Exception: an exception of the main process is raised on every process.
        """
        if self.size == 1:
            return value()
        found, raised = None, None
        if self.is_main:
            try:
                found = value()
            except Exception as error:
                raised = error
        found, theirs = self.gather((found, raised))[0]
        if theirs is not None:
            raise raised or theirs
        return found

    def exchange(self, values: Sequence[Any]) -> list[Any]:
        """Sends one value to each process; returns the values sent to this one, by rank.

        Args:
            values: one per process, as :meth:`gather` takes; the own one is returned as it is.
        """
        if self.size == 1:
            return list(values)
        import torch

        from agentgym_train.data.values import pack, unpack

        sent = [b"" if rank == self.rank else pack(value) for rank, value in enumerate(values)]
        size_P = torch.tensor([len(each) for each in sent], device=self._device)
        their_size_P = torch.empty_like(size_P)
        torch.distributed.all_to_all_single(their_size_P, size_P)
        # The values travel as bytes, since NCCL moves only tensors that are on its device.
        out_N = torch.frombuffer(bytearray(b"".join(sent)), dtype=torch.uint8).to(self._device)
        in_N = torch.empty(int(their_size_P.sum()), dtype=torch.uint8, device=self._device)
        torch.distributed.all_to_all_single(in_N, out_N, their_size_P.tolist(), size_P.tolist())
        parts = in_N.cpu().split(their_size_P.tolist())
        return [
            values[rank] if rank == self.rank else unpack(part.numpy().tobytes())
            for rank, part in enumerate(parts)
        ]

    def barrier(self) -> None:
        """Waits until all processes have called it."""
        if self.size > 1:
            import torch

            torch.distributed.barrier()
