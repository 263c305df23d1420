"""Drawing a token from logits with noise that depends on the episode alone.

Shapes: R rows, V vocabulary.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from agentgym_envs.tasks import stable_hash
from agentgym_train.errors import ModelError


def noise(seed: int, turn: int, place: int) -> float:
    """Returns the number in [0, 1) that decides the token at a place of a turn of an episode: equal keys, equal numbers."""
    return (stable_hash(f"{seed} {turn} {place}") >> 10) / 2**53


def choose(
    logits_RV: Tensor, noise_R: Sequence[float], *, temperature: float
) -> tuple[list[int], list[float]]:
    """Draws a token a row: the first at which the cumulative probability exceeds the row's noise.

    Args:
        logits_RV: any floating dtype.
        noise_R: numbers in [0, 1).
        temperature: divides the logits.

    Returns:
        Tokens and their log-probabilities in nats.

    Raises:
        ModelError: logits that are not numbers.
    """
    logp_RV = (logits_RV.float() / temperature).log_softmax(-1)
    cumulative_RV = logp_RV.exp().cumsum(-1, dtype=torch.float64)
    if not bool(cumulative_RV[:, -1].isfinite().all()):
        raise ModelError(
            f"the model's logits at temperature {temperature} are not finite: its weights are"
            " broken or have diverged"
        )
    # Scaled by the sum, which rounding leaves beside 1, so that a token of probability 0 is never
    # drawn.
    point_R1 = (
        torch.tensor(noise_R, dtype=torch.float64, device=logits_RV.device)[:, None]
        * cumulative_RV[:, -1:]
    )
    token_R1 = torch.searchsorted(cumulative_RV, point_R1, right=True)
    return token_R1[:, 0].tolist(), logp_RV.gather(1, token_R1)[:, 0].tolist()
