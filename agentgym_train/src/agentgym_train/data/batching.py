"""Trajectories → padded token tensors → micro-batches of bounded size.

Shapes: B trajectories, T tokens of the longest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from agentgym_train.data.types import Group


@dataclass(frozen=True)
class Batch:
    """Token streams of B trajectories, padded on the right to T."""

    id_BT: Tensor
    """int64."""
    valid_BT: Tensor
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
    """int64: trajectories of the same task and seed share a number, that of :class:`~agentgym_train.data.types.Group`."""
    episode_B: Tensor
    """int64: the trajectory's place among all that were packed, those without an action included; −1: none."""
    streams: Mapping[str, Tensor] = field(default_factory=dict)
    """float32, shape (B, T), by name: what an algorithm needs (see ``protocols.STREAMS``), and what it credits ("advantage")."""

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
        length = int(self.valid_BT[index].sum(1).max()) if len(rows) else 1
        return self._each(lambda v: v[index, :length] if v.dim() == 2 else v[index])

    def to(self, device: torch.device) -> "Batch":
        """Returns a copy on a device."""
        return self._each(lambda v: v.to(device))

    def with_streams(self, **streams: Tensor) -> "Batch":
        """Returns a batch with more streams, or with others."""
        return replace(self, streams={**self.streams, **streams})

    def mini_batches(self, count: int, groups: int) -> list["Batch"]:
        """Splits the groups by number into ``count`` parts; groups stay whole.

        Args:
            count: parts.
            groups: groups of all processes: a group falls into the same part whichever process
                holds it. A part may be empty here.

        Raises:
            ValueError: a group has a number that is not below ``groups``.
        """
        if len(self.group_B) and int(self.group_B.max()) >= groups:
            raise ValueError(
                f"a group has the number {int(self.group_B.max())}, and there are {groups} groups"
            )
        part_B = self.group_B * count // groups
        return [self.take((part_B == part).nonzero()[:, 0].tolist()) for part in range(count)]

    def micro_batches(self, max_tokens: int, *, whole_groups: bool = False) -> list["Batch"]:
        """Splits by length so that a part pads to at most ``max_tokens``.

        Args:
            max_tokens: one trajectory, or one group, always fits.
            whole_groups: trajectories of a group stay together.
        """
        lengths: list[int] = self.valid_BT.sum(1).tolist()
        units: dict[int, list[int]] = {}
        for row, group in enumerate(self.group_B.tolist()):
            units.setdefault(group if whole_groups else row, []).append(row)
        longest = {unit: max(lengths[row] for row in rows) for unit, rows in units.items()}
        parts: list[list[int]] = []
        for unit in sorted(units, key=lambda u: (longest[u], u)):
            if parts and (len(parts[-1]) + len(units[unit])) * longest[unit] <= max_tokens:
                parts[-1] += units[unit]
            else:
                parts.append(units[unit])
        return [self.take(part) for part in parts]

    def idle(self) -> "Batch":
        """Returns one token without loss: what a process with fewer micro-batches runs so that all stay in step."""
        nothing = self._each(lambda v: torch.zeros((1, 1) if v.dim() == 2 else (1,), dtype=v.dtype))
        return replace(
            nothing, valid_BT=torch.ones((1, 1), dtype=torch.bool), episode_B=torch.tensor([-1])
        )

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """Returns a batch of which every tensor is changed."""
        own = {name: change(v) for name, v in vars(self).items() if name != "streams"}
        return Batch(**own, streams={name: change(v) for name, v in self.streams.items()})


def pack(groups: Sequence[Group]) -> Batch:
    """Turns groups into one batch; trajectories without an action are left out."""
    episodes = enumerate((g.number, t) for g in groups for t in g.trajectories)
    kept = [
        (episode, number, list(t.tokens()))
        for episode, (number, t) in episodes
        if any(turn.action_ids for turn in t.turns)
    ]
    rows = [tokens for _, _, tokens in kept]
    width = max(map(len, rows), default=1)

    def fill(name: str, dtype: torch.dtype) -> Tensor:
        out = torch.zeros((len(rows), width), dtype=dtype)
        for row, tokens in enumerate(rows):
            out[row, : len(tokens)] = torch.tensor([getattr(t, name) for t in tokens], dtype=dtype)
        return out

    valid_BT = torch.zeros((len(rows), width), dtype=torch.bool)
    for row, tokens in enumerate(rows):
        valid_BT[row, : len(tokens)] = True
    return Batch(
        id_BT=fill("id", torch.int64),
        valid_BT=valid_BT,
        action_BT=fill("action", torch.bool),
        logp_BT=fill("logp", torch.float32),
        reward_BT=fill("reward", torch.float32),
        turn_BT=fill("turn", torch.int64),
        version_BT=fill("version", torch.int64),
        group_B=torch.tensor([number for _, number, _ in kept], dtype=torch.int64),
        episode_B=torch.tensor([episode for episode, _, _ in kept], dtype=torch.int64),
    )
