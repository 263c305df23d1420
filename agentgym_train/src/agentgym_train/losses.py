"""Losses: pure functions, summed over action tokens; the trainer divides by their number over all processes.

Shapes: B trajectories, T tokens.
"""

import math

import torch
from torch import Tensor

RATIO_LIMIT = 10.0
"""Probability ratios are bounded here, in log space: beyond it a token's push is constant or none, and nothing overflows."""


def clipped_policy_loss(
    logp_BT: Tensor, old_BT: Tensor, advantage_BT: Tensor, action_BT: Tensor, *, clip_low: float, clip_high: float
) -> tuple[Tensor, Tensor]:
    """The clipped surrogate of PPO (Schulman et al., 2017), with separate bounds as in DAPO (Yu et al., 2025).

    Args:
        logp_BT: log-probabilities under the policy that is trained, in nats.
        old_BT: at sampling.
        advantage_BT: one a token.
        action_BT: bool; only these count.
        clip_low: the ratio is clipped at 1 − clip_low.
        clip_high: and at 1 + clip_high.

    Returns:
        The loss summed over action tokens, and how many of them were clipped.

    A token that has become more than ``RATIO_LIMIT`` times as probable is pushed no further, whatever its advantage: dual clipping
    (Ye et al., 2020).
    """
    ratio_BT = (logp_BT - old_BT).where(action_BT, 0.0).clamp(max=math.log(RATIO_LIMIT)).exp()
    clipped_BT = ratio_BT.clamp(1 - clip_low, 1 + clip_high)
    plain_BT, bounded_BT = ratio_BT * advantage_BT, clipped_BT * advantage_BT
    loss_BT = -plain_BT.minimum(bounded_BT)
    return loss_BT.where(action_BT, 0.0).sum(), ((bounded_BT < plain_BT) & action_BT).sum()


def kl_k3(logp_BT: Tensor, reference_BT: Tensor, action_BT: Tensor) -> Tensor:
    """The k3 estimate of KL(policy ‖ reference) (Schulman, 2020): r − log r − 1 with r = p_ref / p, summed over action tokens.

    From r = ``RATIO_LIMIT`` on it goes on as a straight line in log r: a token at log r = 18 has a gradient of 9, not of e¹⁸.
    """
    log_ratio_BT = (reference_BT - logp_BT).where(action_BT, 0.0)
    bounded_BT = log_ratio_BT.clamp(max=math.log(RATIO_LIMIT))
    return (torch.expm1(bounded_BT) - bounded_BT + (RATIO_LIMIT - 1) * (log_ratio_BT - bounded_BT)).sum()
