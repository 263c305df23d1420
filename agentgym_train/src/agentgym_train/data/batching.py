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
    """int64: the number of the trajectory's :class:`~agentgym_train.data.types.Group`."""
    episode_B: Tensor
    """int64: the trajectory's index in the packed groups; −1: idle.

    The index counts trajectories without an action too.
    """
    streams: Mapping[str, Tensor] = field(default_factory=dict)
    """float32, shape (B, T), by name.

    Inputs of an algorithm (see ``protocols.STREAMS``), and its results, such as "advantage".
    """

    @property
    def action_tokens(self) -> int:
        """Number of tokens that carry loss."""
        return int(self.action_BT.sum())

    def return_B(self, gamma: float = 1.0) -> Tensor:
        """Returns the return of each trajectory, float32, shape (B,).

        Args:
            gamma: discount per turn: the reward of turn k (from 0) counts gammaᵏ.
        """
        return (self.reward_BT * gamma**self.turn_BT).sum(1)

    def take(self, rows: Sequence[int]) -> "Batch":
        """Returns some trajectories, cut to the length of the longest one."""
        index = torch.tensor(rows, dtype=torch.int64)
        length = int(self.valid_BT[index].sum(1).max()) if len(rows) else 1
        return self._each(lambda v: v[index, :length] if v.dim() == 2 else v[index])

    def to(self, device: torch.device) -> "Batch":
        """Returns a copy on a device."""
        return self._each(lambda v: v.to(device))

    def with_streams(self, **streams: Tensor) -> "Batch":
        """Returns a copy with added or replaced streams."""
        return replace(self, streams={**self.streams, **streams})

    def mini_batches(self, count: int, groups: int) -> list["Batch"]:
        """Splits the groups by number into ``count`` parts; groups stay whole.

        The number decides the part, so a group is in the same part on every process. A part can be
        empty on one process.

        Args:
            count: number of parts.
            groups: number of groups over all processes.

        Raises:
            ValueError: a group number is not below ``groups``.
        """
        if len(self.group_B) and int(self.group_B.max()) >= groups:
            raise ValueError(
                f"group number {int(self.group_B.max())} is too large: it must be below {groups}"
            )
        part_B = self.group_B * count // groups
        return [self.take((part_B == part).nonzero()[:, 0].tolist()) for part in range(count)]

    def micro_batches(self, max_tokens: int, *, whole_groups: bool = False) -> list["Batch"]:
        """Splits by length into parts of at most ``max_tokens`` padded tokens.

        Args:
            max_tokens: limit per part; a single longer trajectory or group is a part by itself.
            whole_groups: keep the trajectories of a group together.
        """
        lengths: list[int] = self.valid_BT.sum(1).tolist()
        units: dict[int, list[int]] = {}
        for row, group in enumerate(self.group_B.tolist()):
            units.setdefault(group if whole_groups else row, []).append(row)
        longest = {unit: max(lengths[row] for row in rows) for unit, rows in units.items()}
        parts: list[list[int]] = []
        # Units of similar length share a part, which keeps padding low. They come in rising order,
        # so the newest unit is the longest one and sets the padded length of its part.
        for unit in sorted(units, key=lambda u: (longest[u], u)):
            if parts and (len(parts[-1]) + len(units[unit])) * longest[unit] <= max_tokens:
                parts[-1] += units[unit]
            else:
                parts.append(units[unit])
        return [self.take(part) for part in parts]

    def idle(self) -> "Batch":
        """Returns a batch of one token without loss.

        A process with fewer micro-batches runs it, since all processes must run equally many.
        """
        zeros = self._each(lambda v: torch.zeros((1, 1) if v.dim() == 2 else (1,), dtype=v.dtype))
        return replace(
            zeros, valid_BT=torch.ones((1, 1), dtype=torch.bool), episode_B=torch.tensor([-1])
        )

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """Returns a batch with ``change`` applied to every tensor."""
        fields = {name: change(v) for name, v in vars(self).items() if name != "streams"}
        return Batch(**fields, streams={name: change(v) for name, v in self.streams.items()})


def pack(groups: Sequence[Group]) -> Batch:
    """Packs groups into one batch, without trajectories that have no action."""
    episodes = enumerate((g.number, t) for g in groups for t in g.trajectories)
    packed = [
        (episode, number, list(t.tokens()))
        for episode, (number, t) in episodes
        if any(turn.action_ids for turn in t.turns)
    ]
    rows = [tokens for _, _, tokens in packed]
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
        group_B=torch.tensor([number for _, number, _ in packed], dtype=torch.int64),
        episode_B=torch.tensor([episode for episode, _, _ in packed], dtype=torch.int64),
    )
