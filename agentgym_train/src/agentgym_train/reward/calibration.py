"""How right a reward model is, and how right it thinks it is.

Shapes: P pairs.
"""

import torch
from torch import Tensor

from agentgym_train.learning.losses import bradley_terry

BINS = 10  # of confidence, from one half to one


def summary(margin_P: Tensor, preference_P: Tensor) -> dict[str, float]:
    """Returns what is reported of comparisons that were judged.

    Args:
        margin_P: the first episode's score less the second's.
        preference_P: 1 where the first is better, 0 where the second is, 0.5 where they tie.

    Returns:
        ``log_loss``: the mean loss, in nats; a coin has 0.693. ``accuracy``: how often the better
        one scores higher, where there is
        one; two equal scores are half right. ``calibration_error``: the expected calibration error
        (Naeini et al., 2015): how far
        confidence is from how often it is right, a tie being half right, in the mean over ten bins
        of confidence. ``margin``: the
        better one's score less the other's. ``pairs``, and the ``ties`` among them. Where all tie
        there are no ``accuracy`` and no
        ``margin``.
    """
    margin_P, preference_P = margin_P.double(), preference_P.double()
    decided_P = preference_P != 0.5
    signed_P = margin_P * (2 * preference_P - 1)
    right_P = (1 + margin_P.sign() * (2 * preference_P - 1)) / 2
    confidence_P = margin_P.abs().sigmoid()
    # The lower bound is for a score that is not a number.
    bin_P = ((2 * confidence_P - 1) * BINS).long().clamp(0, BINS - 1)
    gaps = torch.zeros(BINS, dtype=torch.float64).index_add(0, bin_P, confidence_P - right_P)
    of_decided = {"accuracy": right_P, "margin": signed_P} if decided_P.any() else {}
    return {
        "log_loss": float(bradley_terry(margin_P, preference_P).mean()),
        "calibration_error": float(gaps.abs().sum() / len(margin_P)),
        **{name: float(value_P[decided_P].mean()) for name, value_P in of_decided.items()},
        "pairs": len(margin_P),
        "ties": int((~decided_P).sum()),
    }
