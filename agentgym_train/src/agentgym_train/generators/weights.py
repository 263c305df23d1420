"""The weights of a generator's model: copied from the policy, freed, allocated again."""

from collections.abc import Iterable

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agentgym_train.errors import ModelError


def take_over(model: PreTrainedModel, weights: Iterable[tuple[str, Tensor]]) -> None:
    """Copies weights in place, by name; one name of a tied weight is enough.

    Raises:
        ModelError: a weight is unknown, has another shape, or is missing.
    """
    parameters = dict(model.named_parameters(remove_duplicate=False))
    missing = {id(weight): name for name, weight in model.named_parameters()}
    for name, weight in weights:
        own = parameters.get(name)
        if own is None or own.shape != weight.shape:
            found = "no such weight" if own is None else f"its shape there is {tuple(own.shape)}"
            raise ModelError(
                f"weight {name!r} of shape {tuple(weight.shape)} does not fit the generator's"
                f" model: {found}"
            )
        own.data.copy_(weight)
        missing.pop(id(own), None)
    if missing:
        raise ModelError(
            f"{len(missing)} weights were not loaded into the generator, among them"
            f" {next(iter(missing.values()))!r}"
        )


def drop(model: PreTrainedModel) -> None:
    """Frees the memory of all weights; their shapes stay.

    Buffers stay too, since ``load`` does not bring them back.
    """
    # An expanded scalar has any shape, but needs the memory of one number.
    for weight in model.parameters():
        weight.data = weight.data.new_zeros(()).expand(weight.shape)


def make_room(model: PreTrainedModel) -> None:
    """Allocates the memory of dropped weights; their numbers are arbitrary until ``take_over``."""
    for weight in model.parameters():
        weight.data = torch.empty_like(weight.data)
