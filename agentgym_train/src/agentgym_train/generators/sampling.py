"""Drawing a token from logits with noise that depends on the episode only.

Shapes: R rows, V vocabulary.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

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
