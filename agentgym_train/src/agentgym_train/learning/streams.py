"""The streams that an algorithm requires before it computes advantages.

Examples are log-probabilities under other policies, and values of a critic.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Callable, Collection, Mapping

import torch
from torch import Tensor

from agentgym_train.data.batching import Batch
from agentgym_train.engine.distributed import Distributed

Producer = Callable[[Batch], Tensor]
"""Computes a stream of a micro-batch, shape (B, T), on the device of its model."""


def fill(
    batch: Batch,
    required_streams: Collection[str],
    producers: Mapping[str, Producer],
    *,
    distributed: Distributed,
    max_tokens: int,
) -> Batch:
    """Returns the batch with the required streams that have a producer.

    All processes call it.

    Args:
        batch: the episodes of this process.
        required_streams: names of streams.
        producers: a function per name; every process calls it equally often.
        distributed: the processes.
        max_tokens: maximum padded tokens per micro-batch.
    """
    filled = {}
    # Sorted, since all processes must compute the streams in the same order.
    for name in sorted(required_streams & producers.keys()):
        stream_BT = torch.zeros_like(batch.logp_BT)
        row = {episode: n for n, episode in enumerate(batch.episode_B.tolist())}
        for micro in in_step(batch, distributed, max_tokens):
            with torch.no_grad():
                part_BT = producers[name](micro).float().cpu()
            rows = [row[episode] for episode in micro.episode_B.tolist() if episode >= 0]
            if rows:
                stream_BT[rows, : part_BT.shape[1]] = part_BT
        filled[name] = stream_BT.where(batch.action_BT, 0.0)
    return batch.with_streams(**filled)


def in_step(
    batch: Batch, distributed: Distributed, max_tokens: int, *, whole_groups: bool = False
) -> list[Batch]:
    """Returns the micro-batches, with idle ones added until every process has equally many.

    Under ZeRO a forward or backward pass is a collective operation, so a process with fewer passes
    would leave the others waiting.
    """
    micros = batch.micro_batches(max_tokens, whole_groups=whole_groups)
    return micros + [batch.idle()] * (distributed.max(len(micros)) - len(micros))
