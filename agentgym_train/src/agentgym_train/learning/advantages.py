"""Advantages: pure functions of rewards and returns. Shapes: B trajectories, T tokens, G groups."""

import torch
from torch import Tensor

from agentgym_train.engine.distributed import Distributed


def group_centred(
    return_B: Tensor, group_B: Tensor, *, normalise: bool = True, eps: float = 1e-6
) -> Tensor:
    """Returns R − mean within each group, divided by (std + eps) as in GRPO (Shao et al., 2024), or not as in Dr.GRPO.

    Args:
        return_B: float, returns.
        group_B: int, group numbers.
        normalise: divide by the standard deviation.
        eps: keeps small spreads from exploding.

    Returns:
        float, shape (B,); exactly 0 where all returns of a group are equal.
    """
    groups, member_B = torch.unique(group_B, return_inverse=True)  # group numbers may have gaps
    count_G = torch.zeros(len(groups)).index_add(0, member_B, torch.ones_like(return_B))
    mean_G = torch.zeros(len(groups)).index_add(0, member_B, return_B) / count_G
    centred_B = return_B - mean_G[member_B]
    # Bessel's correction, as torch.std has it; a group of one has the deviation 0, and its
    # advantage is 0 below.
    variance_G = torch.zeros(len(groups)).index_add(0, member_B, centred_B**2) / (
        count_G - 1
    ).clamp(min=1)
    # Rounding of the mean must not look like a signal: a group of equal returns gives exactly zero.
    low_G = torch.full((len(groups),), torch.inf).scatter_reduce(0, member_B, return_B, "amin")
    high_G = torch.full((len(groups),), -torch.inf).scatter_reduce(0, member_B, return_B, "amax")
    advantage_B = centred_B / (variance_G.sqrt()[member_B] + eps) if normalise else centred_B
    return torch.where((low_G == high_G)[member_B], torch.zeros_like(advantage_B), advantage_B)


def leave_one_out(return_B: Tensor, group_B: Tensor) -> Tensor:
    """Returns R − mean of the other returns of its group (RLOO, Ahmadian et al., 2024); 0 for one that is alone.

    Args:
        return_B: float, returns.
        group_B: int, group numbers.

    >>> leave_one_out(torch.tensor([1.0, 0.0, 0.0, 1.0]), torch.tensor([0, 0, 0, 1]))
    tensor([ 1.0000, -0.5000, -0.5000,  0.0000])
    """
    _, member_B, count_G = torch.unique(group_B, return_inverse=True, return_counts=True)
    count_B = count_G[member_B]
    # R − mean of the others = (R − mean of all) · n / (n − 1), which keeps the exact zeros of
    # group_centred.
    centred_B: Tensor = (
        group_centred(return_B, group_B, normalise=False) * count_B / (count_B - 1).clamp(min=1)
    )
    return centred_B


def returns_to_go(reward_BT: Tensor, turn_BT: Tensor, gamma: float) -> Tensor:
    """Returns the sum of the rewards from each token on, a later turn's discounted by ``gamma`` for every turn between.

    Args:
        reward_BT: float.
        turn_BT: int, the turn of each token, never falling.
        gamma: discount a turn.

    >>> returns_to_go(torch.tensor([[0.0, 0.0, 1.0]]), torch.tensor([[0, 0, 1]]), gamma=0.5)
    tensor([[0.5000, 0.5000, 1.0000]])
    """
    out_BT, following_B = torch.zeros_like(reward_BT), torch.zeros(len(reward_BT))
    for t in reversed(range(reward_BT.shape[1])):
        # Padding has turn 0: the difference would be negative there, and so would the exponent.
        between_B = (
            (turn_BT[:, t + 1] - turn_BT[:, t]).clamp(min=0)
            if t + 1 < reward_BT.shape[1]
            else torch.zeros(1)
        )
        following_B = reward_BT[:, t] + gamma**between_B * following_B
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
) -> Tensor:
    """Generalized advantage estimation (Schulman et al., 2016) over the steps of each trajectory.

    Only steps are states. Rewards between two steps belong to the earlier step. Nothing is
    bootstrapped after the last step, also in a truncated episode.

    Args:
        reward_BT: float.
        value_BT: float, what a critic expects from before each step on.
        turn_BT: int, the turn of each token, never falling.
        step_BT: bool, the steps.
        gamma: discount a turn; 1 between steps of a turn.
        lam: decay a step: 1 for returns less values, 0 for errors of one step.

    Returns:
        float, shape (B, T); 0 where there is no step.
    """
    advantage_BT = torch.zeros_like(reward_BT)
    # Carried from right to left, for each trajectory, since the step that follows:
    reward_B = torch.zeros(len(reward_BT))  # rewards that no step has taken yet
    next_B = torch.zeros(
        len(reward_BT)
    )  # the λ-return at the following step: V + λ·A; 0 behind the last step
    next_turn_B = turn_BT.amax(1, keepdim=True)[
        :, 0
    ]  # its turn; behind the last step the exponent must not be negative
    for t in reversed(range(reward_BT.shape[1])):
        step_B, reward_B = step_BT[:, t], reward_B + reward_BT[:, t]
        # A = r + γ^turns · (V' + λ·A') − V. With λ = 1 the values between cancel, and only the
        # return is left.
        here_B = reward_B + gamma ** (next_turn_B - turn_BT[:, t]) * next_B - value_BT[:, t]
        advantage_BT[:, t] = here_B.where(step_B, 0.0)
        # A token that is no step passes everything on to the step before it, its reward included.
        next_B = (value_BT[:, t] + lam * here_B).where(step_B, next_B)
        next_turn_B = turn_BT[:, t].where(step_B, next_turn_B)
        reward_B = reward_B.where(~step_B, 0.0)
    return advantage_BT


def whitened(
    value_BT: Tensor, action_BT: Tensor, distributed: Distributed, *, eps: float = 1e-8
) -> Tensor:
    """Returns (x − mean) / (std + eps) over the action tokens of all processes; 0 elsewhere, and where all are equal."""
    count, total, square = distributed.sum(
        int(action_BT.sum()),
        float(value_BT[action_BT].sum()),
        float((value_BT[action_BT].double() ** 2).sum()),
    )
    # Sums travel between processes, not values. Squares are summed in float64, as the difference of
    # two large sums loses digits.
    mean = total / max(count, 1)
    variance = max(square / max(count, 1) - mean**2, 0.0)
    # A variance that is rounding of the mean counts as none: an infinite spread gives exact zeros.
    spread = variance**0.5 if variance > 1e-12 * max(1.0, mean**2) else torch.inf
    return ((value_BT - mean) / (spread + eps)).where(action_BT, 0.0)
