"""Gradient checkpointing: the layers' activations are computed again in the backward pass.

transformers' own switch works in train mode only, which also turns on dropout, the noise of routers
and running means. The trained policy would then differ from the sampled one. Here every module
stays in evaluation mode.
"""

from collections.abc import Iterator
from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers.modeling_layers import GradientCheckpointingLayer


def checkpoint_layers(model: nn.Module) -> int:
    """Makes the layers of a model keep their inputs only; returns the number of these layers.

    They are the layers that transformers would checkpoint. Losses and gradients stay the same.
    """
    layers = list(_layers(model))
    for layer in layers:
        # In evaluation mode no layer draws random numbers, so their state need not be kept.
        layer.forward = partial(  # type: ignore[method-assign]
            checkpoint, layer.forward, use_reentrant=False, preserve_rng_state=False
        )
    return len(layers)


def _layers(model: nn.Module) -> Iterator[nn.Module]:
    """Yields the outermost of the layers."""
    for module in model.children():
        if isinstance(module, GradientCheckpointingLayer):
            yield module
        else:
            yield from _layers(module)
