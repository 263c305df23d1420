"""The optimizer loop that trains a model from scratch."""

from collections.abc import Callable

import torch
from torch.optim.lr_scheduler import LRScheduler
from transformers import Qwen2ForCausalLM


def optimize(
    model: Qwen2ForCausalLM,
    add_gradients: Callable[[], None],
    *,
    steps: int,
    lr: float,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler],
    progress: Callable[[int], None],
) -> None:
    """Trains the model in place, on its device.

    Args:
        model: the model.
        add_gradients: computes the gradients of the next batch.
        steps: optimizer steps.
        lr: peak learning rate.
        schedule: makes the schedule of the learning rate.
        progress: called with the number of steps done.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    scheduler = schedule(optimizer)
    model.train()
    for step in range(steps):
        add_gradients()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        progress(step + 1)
