"""Building blocks of a generator with a model in this process: tokens are drawn, weights copied.

The noise of a token depends on the episode only. A row is cut back to a prefix. The weights of the
model are copied from the policy, freed, and allocated again.

Shapes: R rows, V vocabulary.
"""

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from agentgym_envs.tasks import stable_hash
from agentgym_train.errors import ModelError


def noise(seed: int, turn: int, place: int) -> float:
    """Returns the noise of one token, in [0, 1): a function of its three arguments only.

    Args:
        seed: the episode's.
        turn: counted from 0.
        place: position of the token in the turn, from 0.
    """
    # A float64 holds 53 bits exactly; more would round up to 1.0.
    return (stable_hash(f"{seed} {turn} {place}") >> 10) / 2**53


def choose(
    logits_RV: Tensor, noise_R: Sequence[float], *, temperature: float
) -> tuple[list[int], list[float]]:
    """Draws one token per row: the first whose cumulative probability exceeds the row's noise.

    Args:
        logits_RV: any floating dtype.
        noise_R: one number in [0, 1) per row.
        temperature: divides the logits.

    Returns:
        Tokens, and their log-probabilities in nats.

    Raises:
        ModelError: the logits are not finite.
    """
    logp_RV = (logits_RV.float() / temperature).log_softmax(-1)
    # float64: in float32, the rounding of a sum over a large vocabulary would shift the boundaries
    # between tokens.
    cumulative_RV = logp_RV.exp().cumsum(-1, dtype=torch.float64)
    if not bool(cumulative_RV[:, -1].isfinite().all()):
        raise ModelError(
            f"the model's logits at temperature {temperature} are not finite: its weights are"
            " broken or have diverged"
        )
    # Rounding leaves the sum near 1. Noise is scaled by it, so it never lies beyond the last token
    # with a probability above 0.
    point_R1 = (
        torch.tensor(noise_R, dtype=torch.float64, device=logits_RV.device)[:, None]
        * cumulative_RV[:, -1:]
    )
    token_R1 = torch.searchsorted(cumulative_RV, point_R1, right=True)
    return token_R1[:, 0].tolist(), logp_RV.gather(1, token_R1)[:, 0].tolist()


def cut_back(history: list[int], *, row: int, length: int) -> None:
    """Removes the tokens of a row after the first ``length``, in place.

    Raises:
        ValueError: ``length`` is negative, or the row has fewer tokens.
    """
    if not 0 <= length <= len(history):
        raise ValueError(
            f"row {row} cannot be cut back to length={length}: it has {len(history)} tokens, so"
            f" length must be from 0 to {len(history)}"
        )
    del history[length:]


class WeightNames:
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
    for names, weight in WeightNames(model).checked(weights):
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
