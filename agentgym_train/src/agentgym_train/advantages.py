"""Advantages: pure functions from returns to one number a trajectory. Shapes: B trajectories."""

import torch
from torch import Tensor


def group_normalised(return_B: Tensor, group_B: Tensor, *, eps: float = 1e-6) -> Tensor:
    """GRPO (Shao et al., 2024): (R − mean) / (std + eps) within each group; 0 where all returns of a group are equal.

    Args:
        return_B: float, undiscounted returns.
        group_B: int, group numbers.
        eps: keeps small spreads from exploding.

    Returns:
        float, shape (B,).
    """
    groups, member_B = torch.unique(group_B, return_inverse=True)
    count_G = torch.zeros(len(groups)).index_add(0, member_B, torch.ones_like(return_B))
    mean_G = torch.zeros(len(groups)).index_add(0, member_B, return_B) / count_G
    centred_B = return_B - mean_G[member_B]
    variance_G = torch.zeros(len(groups)).index_add(0, member_B, centred_B**2) / (count_G - 1).clamp(min=1)
    # Rounding of the mean must not look like a signal: a group of equal returns gives exactly zero.
    low_G = torch.full((len(groups),), torch.inf).scatter_reduce(0, member_B, return_B, "amin")
    high_G = torch.full((len(groups),), -torch.inf).scatter_reduce(0, member_B, return_B, "amax")
    advantage_B = centred_B / (variance_G.sqrt()[member_B] + eps)
    return torch.where((low_G == high_G)[member_B], torch.zeros_like(advantage_B), advantage_B)
