"""The training forward: log-probabilities of the tokens that were sampled, as the sampler saw them.

Shapes: B trajectories, T tokens, V vocabulary.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentgym_train.batching import Batch


class Forward(NamedTuple):
    """Per token, float32, nats: the log-probability given everything before it, and the entropy of the choice it was drawn from."""

    logp_BT: Tensor
    entropy_BT: Tensor


def token_logps(model: Callable[..., Any], micro: Batch, temperature: float) -> Forward:
    """Runs a causal LM over a micro-batch.

    Args:
        model: takes ``input_ids`` and ``attention_mask``; returns ``.logits``.
        micro: padded on the right, so that every token's position is its column.
        temperature: divides the logits, as at sampling.

    Returns:
        Column t speaks of token t; column 0 is zero.
    """
    output = model(input_ids=micro.id_BT, attention_mask=micro.token_BT.long(), use_cache=False)
    logp_BTV = (output.logits[:, :-1].float() / temperature).log_softmax(-1)
    logp_BT = logp_BTV.gather(2, micro.id_BT[:, 1:, None])[..., 0]
    with torch.no_grad():
        entropy_BT = -(logp_BTV.exp() * logp_BTV).sum(-1)
    pad = (1, 0)
    return Forward(torch.nn.functional.pad(logp_BT, pad), torch.nn.functional.pad(entropy_BT, pad))
