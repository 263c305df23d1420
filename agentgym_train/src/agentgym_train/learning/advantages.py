"""Advantages: pure functions of rewards and returns.

Numbers that differ by rounding only are equal. Otherwise the division by their standard deviation
would make an advantage of it. Sums are more precise in float64, the type of ``Batch.reward_BT``.

Shapes: B trajectories, T tokens, G groups.
"""

import torch
from torch import Tensor

from agentgym_envs import scores
from agentgym_train.distributed import Distributed

SINGLE = (5e-6, 1e-6)
"""``scores.RELATIVE`` and ``scores.ABSOLUTE`` for sums that were made in float32."""


def equal(a_G: Tensor, b_G: Tensor) -> Tensor:
    """Returns which numbers are equal up to rounding, as :func:`agentgym_envs.scores.equal` does.

    The tolerance follows the type of the numbers, which is that of the sums behind them. A number
    that is not finite equals none, so that it reaches the loss, which the trainer checks.
    """
    double = a_G.dtype == torch.float64
    relative, absolute = (scores.RELATIVE, scores.ABSOLUTE) if double else SINGLE
    largest_G = a_G.abs().maximum(b_G.abs())
    tolerance_G = (relative * largest_G).clamp(min=absolute)
    return tolerance_G.isfinite() & ((a_G - b_G).abs() <= tolerance_G)


def group_centred(
    return_B: Tensor, group_B: Tensor, *, normalise: bool = True, eps: float = 1e-6
) -> Tensor:
    """Returns each return minus the mean of its group.

    With ``normalise`` the difference is divided by (std + eps), as in GRPO (Shao et al., 2024).
    Without it the result is the advantage of Dr.GRPO (Liu et al., 2025).

    Args:
        return_B: float, returns.
        group_B: int, group numbers.
        normalise: divide by the standard deviation of the group.
        eps: limits the quotient if the standard deviation is small.

    Returns:
        float32, shape (B,); exactly 0 if all returns of the group are equal (:func:`equal`).

    >>> group_centred(torch.tensor([0.0, 1.0]), torch.tensor([7, 7]), normalise=False)
    tensor([-0.5000,  0.5000])
    """
    groups, member_B = torch.unique(group_B, return_inverse=True)  # group numbers may have gaps
    count_G = torch.zeros(len(groups)).index_add(0, member_B, torch.ones(len(return_B)))
    mean_G = return_B.new_zeros(len(groups)).index_add(0, member_B, return_B) / count_G
    # The differences of large returns need float64; the differences themselves do not.
    centred_B = (return_B - mean_G[member_B]).float()
    # Bessel's correction, as in torch.std. A group of one would divide by 0; its advantage is set
    # to 0 below.
    variance_G = torch.zeros(len(groups)).index_add(0, member_B, centred_B**2) / (
        count_G - 1
    ).clamp(min=1)
    low_G, high_G = (
        return_B.new_zeros(len(groups)).scatter_reduce(
            0, member_B, return_B, reduce, include_self=False
        )
        for reduce in ("amin", "amax")
    )
    advantage_B = centred_B / (variance_G.sqrt()[member_B] + eps) if normalise else centred_B
    return advantage_B.where(~equal(low_G, high_G)[member_B], 0.0)


def leave_one_out(return_B: Tensor, group_B: Tensor) -> Tensor:
    """Returns each return minus the mean of the other returns of its group.

    This is the baseline of RLOO (Ahmadian et al., 2024).

    Args:
        return_B: float, returns.
        group_B: int, group numbers.

    Returns:
        float32, shape (B,); 0 for a group of one, and if all returns of the group are equal.

    >>> leave_one_out(torch.tensor([0.0, 1.0, 2.0]), torch.tensor([7, 7, 7]))
    tensor([-1.5000,  0.0000,  1.5000])
    """
    _, member_B, count_G = torch.unique(group_B, return_inverse=True, return_counts=True)
    count_B = count_G[member_B]
    # R − mean of the others = (R − mean of all) · n / (n − 1). This form keeps the exact zeros of
    # group_centred.
    centred_B: Tensor = (
        group_centred(return_B, group_B, normalise=False) * count_B / (count_B - 1).clamp(min=1)
    )
    return centred_B


def returns_to_go(reward_BT: Tensor, turn_BT: Tensor, gamma: float) -> Tensor:
    """Returns the discounted sum of the rewards from each token on.

    A reward k turns later counts gammaᵏ; rewards of the same turn are not discounted.

    Args:
        reward_BT: float.
        turn_BT: int, the turn of each token, never decreasing before padding.
        gamma: discount per turn.

    Returns:
        float, shape (B, T).

    >>> returns_to_go(torch.tensor([[0.0, 1.0, 4.0]]), torch.tensor([[0, 0, 1]]), gamma=0.5)
    tensor([[3., 3., 4.]])
    """
    out_BT, following_B = torch.zeros_like(reward_BT), reward_BT.new_zeros(len(reward_BT))
    for t in reversed(range(reward_BT.shape[1])):
        # Padding has turn 0. The difference to it would be negative, and so would the exponent.
        between_B = (
            (turn_BT[:, t + 1] - turn_BT[:, t]).clamp(min=0)
            if t + 1 < reward_BT.shape[1]
            else torch.zeros(1)
        )
        following_B = reward_BT[:, t] + torch.float_power(gamma, between_B) * following_B
        out_BT[:, t] = following_B
    return out_BT


def gae(
    reward_BT: Tensor,
    value_BT: Tensor,
    turn_BT: Tensor,
    step_BT: Tensor,
    *,
    gamma: float,
    lam: float,
    next_value_B: Tensor | None = None,
) -> Tensor:
    """Generalized advantage estimation (Schulman et al., 2016) over the steps of each trajectory.

    Only steps are states. Rewards between two steps belong to the earlier step. After the last step
    comes the state of ``next_value_B``, one turn later.

    Args:
        reward_BT: float.
        value_BT: float, a critic's estimate of the return from before each step on.
        turn_BT: int, the turn of each token, never decreasing before padding.
        step_BT: bool, the steps.
        gamma: discount per turn; steps of the same turn are not discounted.
        lam: decay per step; 1 gives returns minus values, 0 gives one-step errors.
        next_value_B: float, shape (B,): the value of the state after the last turn; 0 if the
            episode ended there. None: 0 for all.

    Returns:
        float32, shape (B, T); 0 for tokens that are not steps.
    """
    # A critic's values have the precision of float32, and so have differences to them.
    reward_BT = reward_BT.to(value_BT.dtype)
    advantage_BT = torch.zeros_like(reward_BT)
    # The loop runs from right to left and carries three numbers per trajectory.
    # Rewards seen since the following step, which the step before them will take:
    reward_B = torch.zeros(len(reward_BT))
    # The following step's V + λ·A. After the last step it is the bootstrapped value, if any.
    next_B = torch.zeros(len(reward_BT)) if next_value_B is None else next_value_B
    # The following step's turn. The state after the last step is one turn after the trajectory's
    # last turn. Padding has turn 0, so no exponent below is negative: γ = 0 would give ∞, and ∞ · 0
    # is NaN.
    next_turn_B = turn_BT.amax(1) + 1
    for t in reversed(range(reward_BT.shape[1])):
        step_B, reward_B = step_BT[:, t], reward_B + reward_BT[:, t]
        # A = r + γ^turns · (V' + λ·A') − V, with V' and A' of the following step. With λ = 1 the
        # values of the following steps cancel: A is the return minus V.
        here_B = reward_B + gamma ** (next_turn_B - turn_BT[:, t]) * next_B - value_BT[:, t]
        advantage_BT[:, t] = here_B.where(step_B, 0.0)
        # A token that is not a step passes all three numbers on, its reward included.
        next_B = (value_BT[:, t] + lam * here_B).where(step_B, next_B)
        next_turn_B = turn_BT[:, t].where(step_B, next_turn_B)
        reward_B = reward_B.where(~step_B, 0.0)
    return advantage_BT


def whitened(
    value_BT: Tensor, action_BT: Tensor, distributed: Distributed, *, eps: float = 1e-8
) -> Tensor:
    """Returns (x − mean) / (std + eps), with mean and std over the action tokens of all processes.

    All processes call it. The std is that of the population, without Bessel's correction.

    Args:
        value_BT: float.
        action_BT: bool, the action tokens.
        distributed: the processes.
        eps: limits the quotient if the standard deviation is small.

    Returns:
        float32, shape (B, T); 0 for other tokens, and everywhere if all numbers are equal
        (:func:`equal`).
    """
    known_N = value_BT[action_BT]
    # Processes exchange sums and extremes, and no values.
    count, total = distributed.sum(len(known_N), float(known_N.sum()))
    mean = total / max(count, 1)
    # In float64, and around the mean: a difference of two large sums would lose digits.
    (square,) = distributed.sum(float(((known_N.double() - mean) ** 2).sum()))
    extremes = [float(end) for end in known_N.aminmax()] if len(known_N) else []
    end_E = known_N.new_tensor([end for theirs in distributed.gather(extremes) for end in theirs])
    if not len(end_E) or equal(end_E.min(), end_E.max()):
        return torch.zeros_like(value_BT, dtype=torch.float32)
    spread = (square / count) ** 0.5
    whitened_BT: Tensor = ((value_BT - mean) / (spread + eps)).where(action_BT, 0.0).float()
    return whitened_BT
