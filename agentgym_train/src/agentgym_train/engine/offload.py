"""The state of a DeepSpeed engine moves to main memory between updates, and back."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

MOMENTS = ("exp_avg", "exp_avg_sq")


class Offload:
    """Moves an engine's weights and optimizer. Each call does nothing if it was the last one.

    Args:
        engine: the DeepSpeed engine.
        optimizer: torch's AdamW inside it.
    """

    def __init__(self, engine: Any, optimizer: torch.optim.Optimizer):
        self._engine, self._optimizer = engine, optimizer
        self._stage: int = engine.zero_optimization_stage()
        self._frozen = [p for p in engine.module.parameters() if not p.requires_grad]
        self._moved: list[tuple[Tensor, torch.device]] = []
        self.asleep = False

    def sleep(self) -> None:
        """Moves the state to main memory."""
        if self.asleep:
            return
        self.asleep = True
        if self._stage:
            self._engine.offload_states(include=self._of_deepspeed())
        for tensor in self._own():
            self._moved.append((tensor, tensor.device))
            tensor.data = tensor.data.to("cpu")
        if torch.accelerator.is_available():
            torch.accelerator.empty_cache()

    def wake(self) -> None:
        """Moves the state back."""
        if not self.asleep:
            return
        self.asleep = False
        for tensor, device in self._moved:
            tensor.data = tensor.data.to(device)
        self._moved.clear()
        if self._stage:
            self._engine.reload_states()

    def _of_deepspeed(self) -> list[str] | None:
        """Returns the states that DeepSpeed moves; None: all."""
        if self._stage < 3:
            return None
        # At stage 3, DeepSpeed moves the state of its own optimizers only, and weights only if none
        # is frozen.
        gradients = ["lp_grads", "contiguous_grad_buffer"]
        return gradients if self._frozen else ["lp_params", *gradients]

    def _own(self) -> Iterator[Tensor]:
        """Yields the tensors that DeepSpeed does not move."""
        if self._stage in (0, 3):
            for state in self._optimizer.state.values():
                yield from (state[name] for name in MOMENTS if name in state)
        if self._stage == 3:
            yield from self._engine.optimizer.fp32_partitioned_groups_flat
            yield from (parameter.ds_tensor for parameter in self._frozen)
        elif self._stage:
            yield from self._frozen
        else:
            yield from self._engine.module.parameters()
