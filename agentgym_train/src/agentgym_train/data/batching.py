"""Trajectories → padded token tensors → micro-batches of bounded size.

A row is a sample. An episode of several samples has several rows, which are neighbours.

Shapes: B rows, T tokens of the longest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from agentgym_train.data.types import Call, Group, Trajectory


@dataclass(frozen=True)
class Batch:
    """Token streams of B samples, padded on the right to T."""

    id_BT: Tensor
    """int64."""
    valid_BT: Tensor
    """bool: a token, not padding."""
    action_BT: Tensor
    """bool: sampled by the policy, and part of the loss."""
    logp_BT: Tensor
    """float32: log-probability at sampling, in nats."""
    reward_BT: Tensor
    """float64: each turn's reward, on the last sampled token of its last call. In float32, sums of
    the same rewards in another order would differ too much to be told from different returns."""
    turn_BT: Tensor
    """int64."""
    call_BT: Tensor
    """int64: the number of the call in its episode, in order of time."""
    version_BT: Tensor
    """int64."""
    group_B: Tensor
    """int64: the number of the episode's :class:`~agentgym_train.data.types.Group`."""
    episode_B: Tensor
    """int64: the episode's index in the packed groups; −1: idle.

    The index counts episodes without an action too. Rows with the same index are samples of one
    episode.
    """
    episode_tokens_B: Tensor
    """int64: number of tokens that carry loss in the whole episode, over all of its rows."""
    streams: Mapping[str, Tensor] = field(default_factory=dict)
    """float32, shape (B, T), by name.

    Inputs of an algorithm (see ``protocols.STREAMS``), and its results, such as "advantage".
    """

    @property
    def action_tokens(self) -> int:
        """Number of tokens that carry loss."""
        return int(self.action_BT.sum())

    @property
    def member_B(self) -> Tensor:
        """int64: a number for the episode of each row, from 0.

        ``episode_B`` alone does not tell episodes of different processes apart.
        """
        pairs_2B = torch.stack([self.group_B, self.episode_B])
        member_B: Tensor = torch.unique(pairs_2B, dim=1, return_inverse=True)[1]
        return member_B

    def return_B(self, gamma: float = 1.0) -> Tensor:
        """Returns the return of each row, float64, shape (B,).

        A row is a whole episode in ``Algorithm.compute_advantages``.

        Args:
            gamma: discount per turn: the reward of turn k (from 0) counts gammaᵏ.
        """
        return (self.reward_BT * torch.float_power(gamma, self.turn_BT)).sum(1)

    def take(self, rows: Sequence[int]) -> "Batch":
        """Returns some rows, cut to the length of the longest one."""
        index = torch.tensor(rows, dtype=torch.int64)
        length = int(self.valid_BT[index].sum(1).max()) if len(rows) else 1
        return self.each(lambda v: v[index, :length] if v.dim() == 2 else v[index])

    def extended(self, tails: Sequence[Sequence[int]]) -> "Batch":
        """Returns a copy in which tokens without loss follow the last token of each row.

        Args:
            tails: the ids to append, for each row.
        """
        lengths: list[int] = self.valid_BT.sum(1).tolist()
        ends = [length + len(tail) for length, tail in zip(lengths, tails, strict=True)]
        more = max([0, *(end - self.id_BT.shape[1] for end in ends)])
        wide = self.each(lambda v: pad(v, (0, more)) if v.dim() == 2 else v)
        id_BT, valid_BT = wide.id_BT.clone(), wide.valid_BT.clone()
        for row, (start, end, tail) in enumerate(zip(lengths, ends, tails, strict=True)):
            id_BT[row, start:end] = torch.tensor(tail, dtype=torch.int64)
            valid_BT[row, start:end] = True
        return replace(wide, id_BT=id_BT, valid_BT=valid_BT)

    def to(self, device: torch.device) -> "Batch":
        """Returns a copy on a device."""
        return self.each(lambda v: v.to(device))

    def with_streams(self, **streams: Tensor) -> "Batch":
        """Returns a copy with added or replaced streams, in float32 instead of float64."""
        single = {k: v.float() if v.dtype == torch.float64 else v for k, v in streams.items()}
        return replace(self, streams={**self.streams, **single})

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

    def idle(self) -> "Batch":
        """Returns a batch of one token without loss.

        A process with fewer micro-batches runs it, since all processes must run equally many.
        """
        zeros = self.each(lambda v: torch.zeros((1, 1) if v.dim() == 2 else (1,), dtype=v.dtype))
        return replace(
            zeros, valid_BT=torch.ones((1, 1), dtype=torch.bool), episode_B=torch.tensor([-1])
        )

    @staticmethod
    def join(parts: Sequence["Batch"]) -> "Batch":
        """Returns the rows of several batches in one, in their order."""
        # A batch without rows may lack the streams that an algorithm adds.
        first, *_ = parts = [part for part in parts if len(part.group_B)] or parts[:1]
        length = max(part.id_BT.shape[1] for part in parts)

        def joined(values: Sequence[Tensor]) -> Tensor:
            return torch.cat(
                [pad(v, (0, length - v.shape[1])) if v.dim() == 2 else v for v in values]
            )

        return Batch(
            **{
                name: joined([getattr(part, name) for part in parts])
                for name in vars(first)
                if name != "streams"
            },
            streams={
                name: joined([part.streams[name] for part in parts]) for name in first.streams
            },
        )

    def each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """Returns a batch with ``change`` applied to every tensor."""
        fields = {name: change(v) for name, v in vars(self).items() if name != "streams"}
        return Batch(**fields, streams={name: change(v) for name, v in self.streams.items()})


class ForwardOutput(NamedTuple):
    """The model's output for each action token, given all tokens before it.

    float32; 0 for other tokens, except for ``value_BT``.
    """

    logp_BT: Tensor
    """Log-probability of the token, in nats."""
    entropy_BT: Tensor | None = None
    """Entropy over the whole vocabulary, in nats; without gradient. None unless requested."""
    bonus_BT: Tensor | None = None
    """Entropy over the probable tokens, in nats, with gradient. None unless requested.

    See :func:`~agentgym_train.models.chunked_head.entropy_that_matters`.
    """
    value_BT: Tensor | None = None
    """A critic's estimate of the return from before the token on, for all tokens, with gradient.

    None without a critic.
    """


class _PlacedCall(NamedTuple):
    """A call in its episode."""

    call: Call
    number: int
    """Among the episode's calls, in order of time."""
    turn: int
    reward: float
    """The turn's reward if the call is the turn's last one with an action, otherwise 0."""


def pack(groups: Sequence[Group], *, mask_cut_actions: bool = False) -> Batch:
    """Packs groups into one batch, without samples that have no action.

    Args:
        groups: the groups of a process.
        mask_cut_actions: tokens of cut actions are not part of the loss.
    """
    episodes = [(g.number, t) for g in groups for t in g.trajectories]
    rows = [
        (number, episode, calls)
        for episode, (number, t) in enumerate(episodes)
        for calls in _samples(t)
    ]
    length_B = torch.tensor(
        [sum(len(c.prompt_ids) + len(c.action_ids) for c, *_ in calls) for *_, calls in rows],
        dtype=torch.int64,
    )
    valid_BT = torch.arange(max(length_B.tolist(), default=1)) < length_B[:, None]

    def padded(stream_N: Tensor) -> Tensor:
        return stream_N.new_zeros(valid_BT.shape).masked_scatter(valid_BT, stream_N)

    tokens = _tokens([call for *_, calls in rows for call in calls], mask_cut_actions)
    streams = {name: padded(stream_N) for name, stream_N in tokens.items()}
    episode_B = torch.tensor([episode for _, episode, _ in rows], dtype=torch.int64)
    count_B = streams["action_BT"].sum(1)
    count_E = count_B.new_zeros(len(episodes)).index_add(0, episode_B, count_B)
    return Batch(
        **streams,
        valid_BT=valid_BT,
        group_B=torch.tensor([number for number, *_ in rows], dtype=torch.int64),
        episode_B=episode_B,
        episode_tokens_B=count_E[episode_B],
        streams={},
    )


def _samples(t: Trajectory) -> list[list[_PlacedCall]]:
    """Returns the calls of each sample that has an action, in the order of the samples' numbers."""
    samples: dict[int, list[_PlacedCall]] = {}
    number = 0
    for place, turn in enumerate(t.turns):
        last = max((n for n, call in enumerate(turn.calls) if call.action_ids), default=-1)
        for n, call in enumerate(turn.calls):
            placed = _PlacedCall(call, number, place, turn.reward if n == last else 0.0)
            samples.setdefault(call.sample, []).append(placed)
            number += 1
    ordered = [samples[number] for number in sorted(samples)]
    return [calls for calls in ordered if any(placed.call.action_ids for placed in calls)]


def _tokens(placed: Sequence[_PlacedCall], mask_cut_actions: bool) -> dict[str, Tensor]:
    """Returns the token streams of all samples, one after the other, each of shape (N,).

    Whole calls are copied: a loop over tokens takes ten times as long.
    """
    calls = [each.call for each in placed]
    if uneven := next((call for call in calls if len(call.action_ids) != len(call.logps)), None):
        raise ValueError(
            f"a call has {len(uneven.action_ids)} action tokens and {len(uneven.logps)}"
            " log-probabilities: each token needs one"
        )
    # Two runs of tokens per call: its prompt and its action.
    runs = [ids for call in calls for ids in (call.prompt_ids, call.action_ids)]
    length_R = torch.tensor([len(ids) for ids in runs], dtype=torch.int64)

    def repeated(run_values: list[int]) -> Tensor:
        return torch.tensor(run_values, dtype=torch.int64).repeat_interleave(length_R)

    sampled_N = repeated([0, 1] * len(calls)).bool()
    masked_N = repeated([int(call.cut and mask_cut_actions) for call in calls for _ in range(2)])
    logp_N = torch.zeros(len(sampled_N))
    reward_N = torch.zeros(len(sampled_N), dtype=torch.float64)
    logp_N[sampled_N] = torch.tensor(
        list(chain.from_iterable(call.logps for call in calls)), dtype=torch.float32
    )
    last_R = length_R.cumsum(0) - 1
    acted = [number for number, call in enumerate(calls) if call.action_ids]
    reward_N[last_R[1::2][acted]] = torch.tensor(
        [placed[number].reward for number in acted], dtype=torch.float64
    )
    return {
        "id_BT": torch.tensor(list(chain.from_iterable(runs)), dtype=torch.int64),
        "action_BT": sampled_N & ~masked_N.bool(),
        "logp_BT": logp_N,
        "reward_BT": reward_N,
        "turn_BT": repeated([each.turn for each in placed for _ in range(2)]),
        "call_BT": repeated([each.number for each in placed for _ in range(2)]),
        "version_BT": repeated([call.version for call in calls for _ in range(2)]),
    }
