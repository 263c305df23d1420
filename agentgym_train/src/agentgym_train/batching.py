"""Trajectories → padded token tensors → micro-batches of bounded size.

Shapes: B trajectories, T tokens of the longest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from agentgym_train.types import Group


@dataclass(frozen=True)
class Batch:
    """Token streams of B trajectories, padded on the right to T."""

    id_BT: Tensor
    """int64."""
    token_BT: Tensor
    """bool: a token, not padding."""
    action_BT: Tensor
    """bool: sampled by the policy."""
    logp_BT: Tensor
    """float32: log-probability at sampling, in nats."""
    reward_BT: Tensor
    """float32: each turn's reward, on its last action token."""
    turn_BT: Tensor
    """int64."""
    version_BT: Tensor
    """int64."""
    group_B: Tensor
    """int64: trajectories of the same task and seed share a number, that of :class:`~agentgym_train.types.Group`."""
    episode_B: Tensor
    """int64: the trajectory's place among all that were packed, those without an action included; −1: none."""
    advantage_BT: Tensor
    """float32: zeros until an algorithm sets them."""
    reference_BT: Tensor
    """float32: log-probability under the initial policy; zeros unless the algorithm asks for a divergence."""

    @property
    def action_tokens(self) -> int:
        """Tokens that carry loss."""
        return int(self.action_BT.sum())

    def return_B(self, gamma: float = 1.0) -> Tensor:
        """Returns of whole trajectories, float32, a turn's reward discounted by ``gamma`` for every turn before it."""
        return (self.reward_BT * gamma**self.turn_BT).sum(1)

    def take(self, rows: Sequence[int]) -> "Batch":
        """Returns some trajectories, cut to the longest of them."""
        index = torch.tensor(rows, dtype=torch.int64)
        length = int(self.token_BT[index].sum(1).max()) if len(rows) else 1
        cut = {k: v[index, :length] if v.dim() == 2 else v[index] for k, v in vars(self).items()}
        return Batch(**cut)

    def to(self, device: torch.device) -> "Batch":
        """Returns a copy on a device."""
        return Batch(**{k: v.to(device) for k, v in vars(self).items()})

    def mini_batches(self, count: int, groups: int) -> list["Batch"]:
        """Splits the groups by number into ``count`` parts; groups stay whole.

        Args:
            count: parts.
            groups: groups of all processes: a group falls into the same part whichever process holds it. A part may be empty here.
        """
        part_B = self.group_B * count // groups
        return [self.take((part_B == part).nonzero()[:, 0].tolist()) for part in range(count)]

    def micro_batches(self, max_tokens: int) -> list["Batch"]:
        """Splits by length so that a part pads to at most ``max_tokens`` (one trajectory always fits)."""
        lengths: list[int] = self.token_BT.sum(1).tolist()
        parts: list[list[int]] = []
        for row in sorted(range(len(lengths)), key=lambda r: (lengths[r], r)):
            if parts and (len(parts[-1]) + 1) * lengths[row] <= max_tokens:
                parts[-1].append(row)
            else:
                parts.append([row])
        return [self.take(part) for part in parts]

    def idle(self) -> "Batch":
        """Returns one token without loss: what a process with fewer micro-batches runs so that all stay in step."""
        width = {k: torch.zeros((1, 1) if v.dim() == 2 else (1,), dtype=v.dtype) for k, v in vars(self).items()}
        return replace(Batch(**width), token_BT=torch.ones((1, 1), dtype=torch.bool), episode_B=torch.tensor([-1]))


def pack(groups: Sequence[Group]) -> Batch:
    """Turns groups into one batch; trajectories without an action are left out."""
    episodes = enumerate((g.number, t) for g in groups for t in g.trajectories)
    kept = [(episode, number, list(t.tokens())) for episode, (number, t) in episodes if any(turn.action_ids for turn in t.turns)]
    rows = [tokens for _, _, tokens in kept]
    width = max(map(len, rows), default=1)

    def fill(name: str, dtype: torch.dtype) -> Tensor:
        out = torch.zeros((len(rows), width), dtype=dtype)
        for row, tokens in enumerate(rows):
            out[row, : len(tokens)] = torch.tensor([getattr(t, name) for t in tokens], dtype=dtype)
        return out

    token_BT = torch.zeros((len(rows), width), dtype=torch.bool)
    for row, tokens in enumerate(rows):
        token_BT[row, : len(tokens)] = True
    zeros = torch.zeros((len(rows), width))
    return Batch(
        id_BT=fill("id", torch.int64),
        token_BT=token_BT,
        action_BT=fill("action", torch.bool),
        logp_BT=fill("logp", torch.float32),
        reward_BT=fill("reward", torch.float32),
        turn_BT=fill("turn", torch.int64),
        version_BT=fill("version", torch.int64),
        group_B=torch.tensor([number for _, number, _ in kept], dtype=torch.int64),
        episode_B=torch.tensor([episode for episode, _, _ in kept], dtype=torch.int64),
        advantage_BT=zeros,
        reference_BT=zeros,
    )
