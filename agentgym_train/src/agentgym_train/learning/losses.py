"""Losses per token or per pair: pure functions.

An algorithm weights them and sums them over action tokens.

Shapes: B rows, T tokens, P pairs. Rows are samples of episodes.
"""

import math
from typing import Literal

import torch
from torch import Tensor

RATIO_LIMIT = 10.0
"""Upper bound of probability ratios, applied in log space so that nothing overflows.

Beyond it, the gradient of a token is constant or zero.
"""

Estimator = Literal["k1", "k2", "k3"]


def log_ratios(
    logp_BT: Tensor, old_BT: Tensor, action_BT: Tensor, *, member_B: Tensor | None = None
) -> Tensor:
    """Returns log p / p_old, bounded from above by ``log(RATIO_LIMIT)``.

    Args:
        logp_BT: log-probabilities under the trained policy, in nats.
        old_BT: log-probabilities under the policy that sampled, in nats.
        action_BT: bool, the action tokens.
        member_B: ``Batch.member_B``. All action tokens of an episode get the mean of their
            log-ratios (GSPO, Zheng et al., 2025); rows with the same number are one episode. None:
            every token has its own log-ratio.

    Returns:
        float, shape (B, T); 0 for other tokens.
    """
    log_ratio_BT = (logp_BT - old_BT).where(action_BT, 0.0)
    if member_B is not None:
        sum_B, count_B = (
            torch.zeros_like(each_B).index_add(0, member_B, each_B)
            for each_B in (log_ratio_BT.sum(1), action_BT.sum(1))
        )
        mean_B = (sum_B / count_B.clamp(min=1))[member_B]
        log_ratio_BT = mean_B[:, None].where(action_BT, 0.0)
    # Only the upper side needs a bound: the ratio of a token that became unlikely goes to 0.
    return log_ratio_BT.clamp(max=math.log(RATIO_LIMIT))


def clipped_surrogate(
    log_ratio_BT: Tensor, advantage_BT: Tensor, *, low: float, high: float
) -> tuple[Tensor, Tensor]:
    """Returns the clipped surrogate of PPO (Schulman et al., 2017).

    The two bounds are separate, as in DAPO (Yu et al., 2025).

    Args:
        log_ratio_BT: see :func:`log_ratios`. A token beyond ``RATIO_LIMIT`` has no gradient,
            whatever its advantage: dual clipping (Ye et al., 2020).
        advantage_BT: one advantage per token.
        low: the ratio is clipped at 1 − low.
        high: the ratio is clipped at 1 + high.

    Returns:
        The loss per token, and a bool per token: whether it was clipped.
    """
    ratio_BT = log_ratio_BT.exp()
    # The minimum is pessimistic. A ratio outside of the range has no gradient if it moved as its
    # advantage wants, and keeps its gradient if it moved the other way.
    plain_BT, bounded_BT = ratio_BT * advantage_BT, ratio_BT.clamp(1 - low, 1 + high) * advantage_BT
    return -plain_BT.minimum(bounded_BT), bounded_BT < plain_BT


def cispo_surrogate(
    logp_BT: Tensor, log_ratio_BT: Tensor, advantage_BT: Tensor, *, high: float
) -> tuple[Tensor, Tensor]:
    """Returns the loss of CISPO (MiniMax, 2025): REINFORCE with a bounded importance weight.

    Every token keeps a gradient, unlike with a clipped surrogate.

    Args:
        logp_BT: log-probabilities under the trained policy, in nats.
        log_ratio_BT: see :func:`log_ratios`.
        advantage_BT: one advantage per token.
        high: the weight is bounded by 1 + high.

    Returns:
        The loss per token, and a bool per token: whether its weight was bounded.
    """
    # The weight is detached: the gradient flows through logp_BT only.
    ratio_BT = log_ratio_BT.detach().exp()
    return -ratio_BT.clamp(max=1 + high) * advantage_BT * logp_BT, ratio_BT > 1 + high


def kl_divergence(logp_BT: Tensor, reference_BT: Tensor, estimator: Estimator) -> Tensor:
    """Estimates KL(policy ‖ reference) at sampled tokens (Schulman, 2020), with r = p_ref / p.

    k1 is −log r. It is unbiased and can be negative. It is useless as a loss: its expected gradient
    is 0. k2 is (log r)² / 2; its expected gradient is that of the divergence. k3 is r − 1 − log r;
    it is never negative.

    Beyond r = ``RATIO_LIMIT``, k3 continues as a straight line in log r: a token at log r = 18 has
    a gradient of 9, not of e¹⁸.

    Args:
        logp_BT: log-probabilities under the trained policy, in nats.
        reference_BT: log-probabilities under the reference, in nats.
        estimator: "k1", "k2" or "k3".

    Returns:
        float, shape (B, T), in nats.
    """
    log_ratio_BT = reference_BT - logp_BT
    if estimator == "k1":
        return -log_ratio_BT
    if estimator == "k2":
        return log_ratio_BT**2 / 2
    bounded_BT = log_ratio_BT.clamp(max=math.log(RATIO_LIMIT))
    # expm1 keeps the digits of r − 1 where r is near 1, as it is for most tokens. The last term is
    # the straight line; its slope is that of k3 at the limit.
    return torch.expm1(bounded_BT) - bounded_BT + (RATIO_LIMIT - 1) * (log_ratio_BT - bounded_BT)


def clipped_value_loss(
    value_BT: Tensor, old_BT: Tensor, return_BT: Tensor, *, clip: float
) -> tuple[Tensor, Tensor]:
    """Returns half the squared error of a critic, clipped as in the code of PPO's authors.

    Args:
        value_BT: values of the trained critic.
        old_BT: values of the critic before the update.
        return_BT: targets of the values.
        clip: value-clip range; 0: no clipping.

    Returns:
        The loss per token, and a bool per token: whether it was clipped.
    """
    error_BT = (value_BT - return_BT) ** 2
    if not clip:
        return error_BT / 2, torch.zeros_like(error_BT, dtype=torch.bool)
    bounded_BT = (old_BT + (value_BT - old_BT).clamp(-clip, clip) - return_BT) ** 2
    # The larger error counts. A value that moved beyond the range towards its target has no
    # gradient; one that moved away from its target keeps its gradient.
    return error_BT.maximum(bounded_BT) / 2, bounded_BT > error_BT


def bradley_terry(margin_P: Tensor, preference_P: Tensor) -> Tensor:
    """Returns a reward model's loss: minus the log-probability of the human choice.

    The model is Bradley & Terry's (1952), as in Christiano et al. (2017).

    Args:
        margin_P: the first episode's score minus the second's; the first is the better one with
            probability σ(margin).
        preference_P: 1 if the first was chosen, 0 if the second was chosen, 0.5 for a tie.

    Returns:
        float, shape (P,), in nats.
    """
    # The form "with logits" stays finite where σ(margin) rounds to 0 or 1.
    return torch.nn.functional.binary_cross_entropy_with_logits(
        margin_P, preference_P, reduction="none"
    )


def token_weights(
    action_BT: Tensor,
    episode_tokens_B: Tensor,
    loss_reduction: Literal["token", "sequence", "constant"],
) -> Tensor:
    """Returns the weight of each action token's loss.

    Args:
        action_BT: bool, the action tokens.
        episode_tokens_B: int, the number of action tokens of the whole episode of a row.
        loss_reduction: "sequence" gives one over the episode's number of action tokens; the others
            give 1.

    Returns:
        float, shape (B, T); 0 for other tokens.
    """
    if loss_reduction == "sequence":
        return action_BT / episode_tokens_B[:, None].clamp(min=1)
    return action_BT.float()
