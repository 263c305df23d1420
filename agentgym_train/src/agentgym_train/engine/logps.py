"""The training forward: log-probabilities of the tokens that were sampled, as the sampler saw them.

Shapes: B trajectories, T tokens, V vocabulary.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentgym_train.batching import Batch

MATTERS = 0.05  # of the most probable token's probability: less probable tokens get no entropy bonus


class Forward(NamedTuple):
    """Per token, float32, nats: the log-probability given everything before it, and the entropy of the choice it was drawn from."""

    logp_BT: Tensor
    entropy_BT: Tensor
    """Of the whole vocabulary, without gradient."""
    bonus_BT: Tensor | None = None
    """Of the tokens that matter, with gradient: see :func:`entropy_that_matters`. None unless it was asked for."""


def token_logps(model: Callable[..., Any], micro: Batch, temperature: float, *, bonus: bool = False) -> Forward:
    """Runs a causal LM over a micro-batch.

    Args:
        model: takes ``input_ids`` and ``attention_mask``; returns ``.logits``.
        micro: padded on the right, so that every token's position is its column.
        temperature: divides the logits, as at sampling.
        bonus: computes ``bonus_BT`` too.

    Returns:
        Column t speaks of token t; column 0 is zero.
    """
    output = model(input_ids=micro.id_BT, attention_mask=micro.valid_BT.long(), use_cache=False)
    logp_BTV = (output.logits[:, :-1].float() / temperature).log_softmax(-1)
    logp_BT = logp_BTV.gather(2, micro.id_BT[:, 1:, None])[..., 0]
    with torch.no_grad():
        entropy_BT = -(logp_BTV.exp() * logp_BTV).sum(-1)
    bonus_BT = _shifted(entropy_that_matters(logp_BTV)) if bonus else None
    return Forward(_shifted(logp_BT), _shifted(entropy_BT), bonus_BT)


def entropy_that_matters(logp_BTV: Tensor) -> Tensor:
    """Returns the entropy of the choice among tokens at least ``MATTERS`` times as probable as the most probable one.

    A bonus over the whole vocabulary raises tokens that no grammar of actions allows, and the policy forgets how to act.
    """
    kept_BTV = logp_BTV >= logp_BTV.detach().amax(-1, keepdim=True) + math.log(MATTERS)
    among_BTV = logp_BTV.where(kept_BTV, -torch.inf).log_softmax(-1)
    return -(among_BTV.exp() * among_BTV.where(kept_BTV, 0.0)).sum(-1)


def _shifted(stream_BT: Tensor) -> Tensor:
    return torch.nn.functional.pad(stream_BT, (1, 0))
