"""A model's weights in a generator: taken over from the policy, given back, made room for again."""

from collections.abc import Iterable

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agentgym_train.errors import ModelError


def take_over(model: PreTrainedModel, weights: Iterable[tuple[str, Tensor]]) -> None:
    """Copies weights in place, by name; a tied weight is due under one of its names.

    Raises:
        ModelError: a weight that the model does not have, of another shape, or that is missing.
    """
    mine = dict(model.named_parameters(remove_duplicate=False))
    missing = {id(weight): name for name, weight in model.named_parameters()}
    for name, weight in weights:
        if name not in mine or mine[name].shape != weight.shape:
            shape = tuple(mine[name].shape) if name in mine else "no such weight"
            raise ModelError(
                f"weight {name!r} of shape {tuple(weight.shape)} does not fit the generator's"
                f" model: {shape}"
            )
        mine[name].data.copy_(weight)
        missing.pop(id(mine[name]), None)
    if missing:
        raise ModelError(
            f"{len(missing)} weights were not loaded into the generator, among them"
            f" {next(iter(missing.values()))!r}"
        )


def drop(model: PreTrainedModel) -> None:
    """Frees the memory of all weights.

    Their shapes stay, of one number each, and buffers, which nobody would load again.
    """
    for weight in model.parameters():
        weight.data = weight.data.new_zeros(()).expand(weight.shape)


def make_room(model: PreTrainedModel) -> None:
    """Allocates the memory of weights that were dropped; what they hold is arbitrary until they are taken over."""
    for weight in model.parameters():
        weight.data = torch.empty_like(weight.data)
