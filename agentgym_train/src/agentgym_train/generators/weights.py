"""The weights of a generator's model: copied from the policy, freed, allocated again."""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agentgym_train.errors import ModelError


class Names:
    """The names and shapes of a model's weights; a tied weight has several names."""

    def __init__(self, model: PreTrainedModel):
        parameters = dict(model.named_parameters(remove_duplicate=False))
        names_of: dict[int, list[str]] = {}
        for name, weight in parameters.items():
            names_of.setdefault(id(weight), []).append(name)
        self._names = {name: tuple(names_of[id(weight)]) for name, weight in parameters.items()}
        self._shapes = {name: weight.shape for name, weight in parameters.items()}

    def checked(
        self, weights: Iterable[tuple[str, Tensor]]
    ) -> Iterator[tuple[tuple[str, ...], Tensor]]:
        """Yields each weight with all its names; one name of a tied weight is enough.

        Raises:
            ModelError: a weight is unknown, has another shape, or is missing.
        """
        missing = set(self._names.values())
        for name, weight in weights:
            shape = self._shapes.get(name)
            if shape != weight.shape:
                found = "no such weight" if shape is None else f"its shape there is {tuple(shape)}"
                raise ModelError(
                    f"weight {name!r} of shape {tuple(weight.shape)} does not fit the generator's"
                    f" model: {found}"
                )
            yield self._names[name], weight
            missing.discard(self._names[name])
        if missing:
            raise ModelError(
                f"{len(missing)} weights were not loaded into the generator, among them"
                f" {min(missing)[0]!r}"
            )


def take_over(model: PreTrainedModel, weights: Iterable[tuple[str, Tensor]]) -> None:
    """Copies weights in place, by name; one name of a tied weight is enough.

    Raises:
        ModelError: a weight is unknown, has another shape, or is missing.
    """
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for names, weight in Names(model).checked(weights):
        parameters[names[0]].data.copy_(weight)


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
