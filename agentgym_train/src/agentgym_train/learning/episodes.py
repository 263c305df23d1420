"""Rows and episodes: rows are samples, and advantages belong to episodes.

The rows of a model's batch are samples. Algorithms compute advantages from whole episodes. A loss
depends on the tokens of an episode, and not on the number of its samples.

Shapes: B samples, E episodes, T tokens, N tokens of all rows.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from agentgym_train.data.batching import Batch
from agentgym_train.data.load_balancing import Unit
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.protocols import Algorithm


def add_advantages(
    batch: Batch, algorithm: Algorithm, groups: Sequence[Group], distributed: Distributed
) -> Batch:
    """Returns the batch with the streams that the algorithm computes from whole episodes.

    All processes call it.

    Args:
        batch: the samples of this process, with the streams that the algorithm requires.
        algorithm: its ``compute_advantages`` gets one row per episode.
        groups: the groups of the batch.
        distributed: the processes.
    """
    episodes, by_sample = by_episode(batch)
    return by_sample(algorithm.compute_advantages(episodes, groups, distributed))


def by_episode(batch: Batch) -> tuple[Batch, Callable[[Batch], Batch]]:
    """Returns a batch with one row per episode, and a function that returns to rows of samples.

    The row of an episode has the tokens of all its samples, in order of time. The function takes
    the streams of such a batch and adds them to ``batch``. If every episode is one sample, the
    batch is returned unchanged.

    Args:
        batch: the samples of this process.
    """
    _, member_B, count_E = batch.episode_B.unique_consecutive(
        return_inverse=True, return_counts=True
    )
    if len(count_E) == len(member_B):
        return batch, lambda episodes: episodes
    valid_BT = batch.valid_BT
    member_N = member_B[:, None].expand(valid_BT.shape)[valid_BT]
    # Calls are numbered in order of time. The sort is stable: tokens of a call stay in their order.
    place_N = member_N * (batch.call_BT.max() + 1) + batch.call_BT[valid_BT]
    order_N = place_N.argsort(stable=True)
    length_E = member_N.bincount(minlength=len(count_E))
    valid_ET = torch.arange(int(length_E.max())) < length_E[:, None]

    def joined(v: Tensor) -> Tensor:
        if v.dim() == 1:
            return v[count_E.cumsum(0) - count_E]  # of an episode's first row
        return v.new_zeros(valid_ET.shape).masked_scatter(valid_ET, v[valid_BT][order_N])

    def by_sample(episodes: Batch) -> Batch:
        back_N = order_N.argsort()
        return batch.with_streams(
            **{
                name: v.new_zeros(valid_BT.shape).masked_scatter(valid_BT, v[valid_ET][back_N])
                for name, v in episodes.streams.items()
            }
        )

    return batch.each(joined), by_sample


def unit(algorithm: Algorithm) -> Unit:
    """Returns which rows the algorithm needs in one micro-batch."""
    if algorithm.whole_groups:
        return "group"
    return "episode" if algorithm.whole_episodes else "row"


def rows_with_loss(batch: Batch, algorithm: Algorithm) -> list[int]:
    """Returns the rows that must be run: those that ``zero_loss_B`` does not mark.

    If the rows of an episode must stay together, one row without mark keeps all of them.
    """
    live_B = ~algorithm.zero_loss_B(batch)
    if unit(algorithm) != "row":
        live_B = torch.isin(batch.member_B, batch.member_B[live_B])
    rows: list[int] = live_B.nonzero()[:, 0].tolist()
    return rows
