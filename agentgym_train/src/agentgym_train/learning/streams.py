"""The streams that an algorithm needs before credit is given: log-probabilities under other policies, values of a critic.

Shapes: B trajectories, T tokens.
"""

from collections.abc import Callable, Collection, Mapping

import torch
from torch import Tensor

from agentgym_train.data.batching import Batch
from agentgym_train.engine.distributed import Distributed

Producer = Callable[[Batch], Tensor]
"""Computes a stream of a micro-batch, shape (B, T), on the model's device."""


def fill(
    batch: Batch,
    required_streams: Collection[str],
    producers: Mapping[str, Producer],
    *,
    distributed: Distributed,
    max_tokens: int,
) -> Batch:
    """Returns the batch with those streams that are needed and have a producer.

    All processes call it.

    Args:
        batch: what this process collected.
        required_streams: names.
        producers: name → what computes it; called equally often on every process.
        distributed: the processes.
        max_tokens: padded tokens a micro-batch.
    """
    filled = {}
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
    """Returns the micro-batches, and idle ones until every process has as many: under ZeRO each is a collective."""
    micros = batch.micro_batches(max_tokens, whole_groups=whole_groups)
    return micros + [batch.idle()] * (distributed.max(len(micros)) - len(micros))
