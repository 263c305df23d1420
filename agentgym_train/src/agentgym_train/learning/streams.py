"""The streams that an algorithm requires before it computes advantages.

Examples are log-probabilities under other policies, and values of a critic.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import torch
from torch import Tensor

from agentgym_train.data.balance import Share, share_out
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed

Producer = Callable[[Batch], Tensor]
"""Computes a stream of a micro-batch, shape (B, T), on the device of its model."""


def fill(
    batch: Batch,
    required_streams: Collection[str],
    producers: Mapping[str, Producer],
    *,
    distributed: Distributed,
    max_tokens: int,
    groups: Sequence[Group] = (),
) -> Batch:
    """Returns the batch with the required streams that have a producer.

    "next_value" comes from the producer of "value". All processes call it.

    Args:
        batch: the episodes of this process.
        required_streams: names of streams.
        producers: a function per name; every process calls it equally often.
        distributed: the processes.
        max_tokens: maximum padded tokens per micro-batch.
        groups: the groups of the batch; only "next_value" needs them.
    """
    filled = {}
    # Sorted, since all processes must compute the streams in the same order.
    names = sorted(required_streams & producers.keys())
    # One pass of the critic reads both the values and the next values.
    longer = _with_next(batch, groups) if "next_value" in required_streams else batch
    apart = ["value"] if longer is not batch else []
    for read, own in ((batch, [name for name in names if name not in apart]), (longer, apart)):
        # The tokens cross processes once for all streams that are computed from them.
        shares = share_out(read, distributed, max_tokens) if own else []
        for name in own:
            stream_BT = _produced(producers[name], read, shares, distributed)
            filled[name] = stream_BT[:, : batch.id_BT.shape[1]].where(batch.action_BT, 0.0)
            if read is not batch:
                filled["next_value"] = _next_values(stream_BT, batch, longer)
    return batch.with_streams(**filled)


def _produced(
    producer: Producer, batch: Batch, shares: Sequence[Share], distributed: Distributed
) -> Tensor:
    """Returns a stream of the batch, float32, shape (B, T).

    Each process computes its share of the trajectories of all and returns the results.
    """
    results: list[list[tuple[int, Tensor]]] = [[] for _ in range(distributed.size)]
    for micro, origins in shares:
        with torch.no_grad():
            part_BT = producer(micro).float().cpu()
        for (process, row), stream_T, valid_T in zip(
            origins, part_BT, micro.valid_BT, strict=bool(origins)
        ):
            results[process].append((row, stream_T[valid_T]))
    stream_BT = torch.zeros_like(batch.logp_BT)
    for theirs in distributed.exchange(results):
        for row, stream_T in theirs:
            stream_BT[row, : len(stream_T)] = stream_T
    return stream_BT


def _with_next(batch: Batch, groups: Sequence[Group]) -> Batch:
    """Returns the batch with ``next_ids`` after the last action of each trajectory that has them.

    One more token follows them: column t of a value stream is the value before token t. No token
    attends to it, so any id will do.
    """
    prompts = [t.next_ids for group in groups for t in group.trajectories]
    played = [prompts[episode] for episode in batch.episode_B.tolist()]
    return batch.extended([[] if ids is None else [*ids, 0] for ids in played])


def _next_values(value_BT: Tensor, batch: Batch, longer: Batch) -> Tensor:
    """Returns the values before the last token of extended rows, on the last action token.

    Args:
        value_BT: the values of ``longer``.
        batch: the batch.
        longer: see :func:`_with_next`.

    Returns:
        float32, of the shape of ``batch``; 0 for all other tokens.
    """
    end_B, longer_end_B = (each.valid_BT.sum(1) - 1 for each in (batch, longer))
    rows = (longer_end_B > end_B).nonzero()[:, 0]
    next_BT = torch.zeros_like(batch.logp_BT)
    next_BT[rows, end_B[rows]] = value_BT[rows, longer_end_B[rows]]
    return next_BT
