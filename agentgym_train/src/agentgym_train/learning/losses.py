"""Losses, per token or pair: pure functions; an algorithm weighs and sums them over action tokens.

Shapes: B trajectories, T tokens, P pairs.
"""

import math
from typing import Literal

import torch
from torch import Tensor

RATIO_LIMIT = 10.0
"""Probability ratios are bounded here, in log space: beyond it a token's push is constant or none, and nothing overflows."""

Estimator = Literal["k1", "k2", "k3"]


def log_ratios(
    logp_BT: Tensor, old_BT: Tensor, action_BT: Tensor, *, per: Literal["token", "sequence"]
) -> Tensor:
    """Returns log p / p_old, bounded from above by ``log(RATIO_LIMIT)``; 0 where nothing was sampled.

    Args:
        logp_BT: log-probabilities under the policy that is trained, in nats.
        old_BT: under the one that sampled.
        action_BT: bool; only these count.
        per: "token", or "sequence" for the geometric mean over a trajectory's action tokens, on
            each of them (GSPO, Zheng et al.,
            2025).
    """
    log_ratio_BT = (logp_BT - old_BT).where(action_BT, 0.0)
    if per == "sequence":
        mean_B = log_ratio_BT.sum(1) / action_BT.sum(1).clamp(min=1)
        log_ratio_BT = mean_B[:, None].where(action_BT, 0.0)
    return log_ratio_BT.clamp(max=math.log(RATIO_LIMIT))


def clipped_surrogate(
    log_ratio_BT: Tensor, advantage_BT: Tensor, *, low: float, high: float
) -> tuple[Tensor, Tensor]:
    """The clipped surrogate of PPO (Schulman et al., 2017), with separate bounds as in DAPO (Yu et al., 2025).

    Args:
        log_ratio_BT: see :func:`log_ratios`. A token that has become more than ``RATIO_LIMIT``
            times as probable is pushed no
            further, whatever its advantage: dual clipping (Ye et al., 2020).
        advantage_BT: one a token.
        low: the ratio is clipped at 1 − low.
        high: and at 1 + high.

    Returns:
        The loss and, bool, whether it was clipped.
    """
    ratio_BT = log_ratio_BT.exp()
    plain_BT, bounded_BT = ratio_BT * advantage_BT, ratio_BT.clamp(1 - low, 1 + high) * advantage_BT
    return -plain_BT.minimum(bounded_BT), bounded_BT < plain_BT


def cispo_surrogate(
    logp_BT: Tensor, log_ratio_BT: Tensor, advantage_BT: Tensor, *, high: float
) -> tuple[Tensor, Tensor]:
    """CISPO (MiniMax, 2025): REINFORCE with a bounded importance weight, so that no token loses its gradient.

    Args:
        logp_BT: log-probabilities under the policy that is trained.
        log_ratio_BT: see :func:`log_ratios`.
        advantage_BT: one a token.
        high: the weight is bounded by 1 + high.

    Returns:
        The loss and, bool, whether its weight was bounded.
    """
    ratio_BT = log_ratio_BT.detach().exp()
    return -ratio_BT.clamp(max=1 + high) * advantage_BT * logp_BT, ratio_BT > 1 + high


def kl_divergence(logp_BT: Tensor, reference_BT: Tensor, estimator: Estimator) -> Tensor:
    """Estimates KL(policy ‖ reference) at sampled tokens (Schulman, 2020), with r = p_ref / p.

    k1 is −log r: unbiased, of either sign, and useless as a loss, where its expected gradient is 0.
    k2 is (log r)² / 2: its gradient is that of the divergence. k3 is r − 1 − log r: never negative.
    From r = ``RATIO_LIMIT`` on k3 goes on as a straight line in log r: a token at log r = 18 has a
    gradient of 9, not of e¹⁸.
    """
    log_ratio_BT = reference_BT - logp_BT
    if estimator == "k1":
        return -log_ratio_BT
    if estimator == "k2":
        return log_ratio_BT**2 / 2
    bounded_BT = log_ratio_BT.clamp(max=math.log(RATIO_LIMIT))
    return torch.expm1(bounded_BT) - bounded_BT + (RATIO_LIMIT - 1) * (log_ratio_BT - bounded_BT)


def clipped_value_loss(
    value_BT: Tensor, old_BT: Tensor, return_BT: Tensor, *, clip: float
) -> tuple[Tensor, Tensor]:
    """Half the squared error of a critic, which gains nothing by a change of more than ``clip``, as in PPO's own code.

    Args:
        value_BT: of the critic that is trained.
        old_BT: of the one before the update.
        return_BT: the target of the value.
        clip: value-clip range; 0: no limit.

    Returns:
        The loss and, bool, whether it was clipped.
    """
    error_BT = (value_BT - return_BT) ** 2
    if not clip:
        return error_BT / 2, torch.zeros_like(error_BT, dtype=torch.bool)
    bounded_BT = (old_BT + (value_BT - old_BT).clamp(-clip, clip) - return_BT) ** 2
    return error_BT.maximum(bounded_BT) / 2, bounded_BT > error_BT


def bradley_terry(margin_P: Tensor, preference_P: Tensor) -> Tensor:
    """The loss of a reward model (Bradley & Terry, 1952; Christiano et al., 2017): minus the log-probability of a choice.

    Args:
        margin_P: the first episode's score less the second's; the first is the better one with
            probability σ(margin).
        preference_P: 1 where it was chosen, 0 where the other was, 0.5 for a tie, which is half of
            each.

    Returns:
        In nats, shape (P,).
    """
    return torch.nn.functional.binary_cross_entropy_with_logits(
        margin_P, preference_P, reduction="none"
    )


def token_weights(
    action_BT: Tensor, loss_reduction: Literal["token", "sequence", "constant"]
) -> Tensor:
    """Returns what each action token's loss counts: 1, or one over its trajectory's action tokens for "sequence"."""
    if loss_reduction == "sequence":
        return action_BT / action_BT.sum(1, keepdim=True).clamp(min=1)
    return action_BT.float()
