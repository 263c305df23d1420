"""A generator's model in float32, for the trial of a method: whole if small, else a few layers.

float32 holds every bfloat16 and float16 number exactly, so no weight changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import torch
from torch import Tensor, nn
from transformers import DynamicCache, PretrainedConfig, PreTrainedModel

LARGE = 2**30
"""Bytes of float32 weights above which only a few layers are converted."""
PLAIN = bool | int | float | str | None
"""Types of the settings that are compared between layers."""


@contextmanager
def in_float32(model: PreTrainedModel) -> Iterator[PreTrainedModel]:
    """Yields a model with the same layers in float32.

    A small model is converted itself, and converted back after the block. Of a large one, a copy
    of the first layers is converted; it holds every kind of layer, the embedding and the head.
    """
    narrow = {
        t: t.dtype
        for t in (*model.parameters(), *model.buffers())
        if t.is_floating_point() and t.dtype != torch.float32
    }
    large = 4 * sum(tensor.numel() for tensor in narrow) > LARGE
    if large and _stack(model) is not None:
        yield first_layers(model, layers_of_every_kind(model))
        return
    for tensor in narrow:
        tensor.data = tensor.data.float()
    try:
        yield model
    finally:
        for tensor, dtype in narrow.items():
            tensor.data = tensor.data.to(dtype)


def first_layers(model: PreTrainedModel, count: int) -> PreTrainedModel:
    """Returns a copy of a model with its first layers only, and their weights in float32."""
    # The copy of the modules shares all tensors with the model.
    shared = {id(t): t for t in (*model.parameters(), *model.buffers())}
    copy = deepcopy(model, shared)
    text = copy.config.get_text_config()
    if count < text.num_hidden_layers:
        stack = _stack(copy)
        assert stack is not None
        del stack[count:]
        text.num_hidden_layers = count
        if vars(text).get("layer_types"):
            text.layer_types = text.layer_types[:count]
    wide: dict[int, Tensor] = {}  # a tied weight stays one tensor
    for module in copy.modules():
        for name, weight in module._parameters.items():
            if weight is not None:
                made = wide.setdefault(id(weight), nn.Parameter(weight.float(), False))
                module._parameters[name] = made  # type: ignore[assignment]
        for name, buffer in module._buffers.items():
            if buffer is not None and buffer.is_floating_point():
                module._buffers[name] = buffer.float()
    return copy


def layers_of_every_kind(model: PreTrainedModel) -> int:
    """Returns the smallest number of first layers that holds every kind of layer, at least two.

    Layers are of one kind if modules, shapes of weights, settings and cache are the same. A model
    whose last layers read the cache of earlier ones cannot be cut.
    """
    text, stack = model.config.get_text_config(), _stack(model)
    assert stack is not None
    if getattr(text, "num_kv_shared_layers", 0):
        return len(stack)
    kinds = [_kind(layer, number, model.config) for number, layer in enumerate(stack)]
    return max(min(2, len(kinds)), *(kinds.index(kind) + 1 for kind in kinds))


def _kind(layer: nn.Module, number: int, config: PretrainedConfig) -> object:
    """Returns a description of a layer that is equal for layers of one kind."""
    types = getattr(config.get_text_config(), "layer_types", None)
    caches = DynamicCache(config=config).layers
    modules = [
        (name, type(module).__name__, _settings(module)) for name, module in layer.named_modules()
    ]
    shapes = [(name, weight.shape) for name, weight in layer.named_parameters()]
    cache = type(caches[number]).__name__ if number < len(caches) else None
    return types and types[number], cache, modules, shapes


def _settings(module: nn.Module) -> dict[str, PLAIN]:
    """Returns the plain attributes of a module, without its own number in the model."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, PLAIN) and name not in {"layer_idx", "layer_id", "layer_number"}
    }


def _stack(model: PreTrainedModel) -> nn.ModuleList | None:
    """Returns the list of a model's layers, or None if they are kept in another way."""
    count = model.config.get_text_config().num_hidden_layers
    lists = (m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == count)
    return next(lists, None)
