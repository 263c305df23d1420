"""The training forward: log-probabilities of the tokens that were sampled, as the sampler saw them, and a critic's values.

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
    """Per token, float32: what is said of it given everything before it."""

    logp_BT: Tensor
    """Its log-probability, in nats."""
    entropy_BT: Tensor
    """Of the choice it was drawn from, the whole vocabulary, in nats; without gradient."""
    bonus_BT: Tensor | None = None
    """The same of the tokens that matter, with gradient: see :func:`entropy_that_matters`. None unless it was asked for."""
    value_BT: Tensor | None = None
    """A critic's estimate of the return from before it on, with gradient. None without a critic."""


def token_logps(model: Callable[..., Any], micro: Batch, temperature: float, *, bonus: bool = False) -> Forward:
    """Runs a causal LM over a micro-batch.

    Args:
        model: takes ``input_ids``; returns ``.logits``, and ``.value`` if it has a value head.
        micro: padded on the right, so that every token's position is its column and no token sees padding.
        temperature: divides the logits, as at sampling.
        bonus: computes ``bonus_BT`` too.

    Returns:
        Column t speaks of token t; column 0 is zero.
    """
    output = _run(model, micro)
    logp_BTV = (output.logits[:, :-1].float() / temperature).log_softmax(-1)
    logp_BT = logp_BTV.gather(2, micro.id_BT[:, 1:, None])[..., 0]
    with torch.no_grad():
        entropy_BT = -(logp_BTV.exp() * logp_BTV).sum(-1)
    bonus_BT = _shifted(entropy_that_matters(logp_BTV)) if bonus else None
    value_BT = getattr(output, "value", None)
    return Forward(_shifted(logp_BT), _shifted(entropy_BT), bonus_BT, None if value_BT is None else _shifted(value_BT[:, :-1]))


def token_values(model: Callable[..., Any], micro: Batch) -> Tensor:
    """Runs a critic over a micro-batch.

    Args:
        model: takes ``input_ids``; returns ``.value``, shape (B, T), read after each token.
        micro: see :func:`token_logps`.

    Returns:
        float32, shape (B, T): column t is what is expected from before token t on; column 0 is zero.
    """
    return _shifted(_run(model, micro).value[:, :-1])


def entropy_that_matters(logp_BTV: Tensor) -> Tensor:
    """Returns the entropy of the choice among tokens at least ``MATTERS`` times as probable as the most probable one.

    A bonus over the whole vocabulary raises tokens that no grammar of actions allows, and the policy forgets how to act.
    """
    kept_BTV = logp_BTV >= logp_BTV.detach().amax(-1, keepdim=True) + math.log(MATTERS)
    among_BTV = logp_BTV.where(kept_BTV, -torch.inf).log_softmax(-1)
    return -(among_BTV.exp() * among_BTV.where(kept_BTV, 0.0)).sum(-1)


def _run(model: Callable[..., Any], micro: Batch) -> Any:
    # Without a mask attention is causal alone, which kernels compute in about half the work.
    return model(input_ids=micro.id_BT, use_cache=False)


def _shifted(stream_BT: Tensor) -> Tensor:
    return torch.nn.functional.pad(stream_BT, (1, 0))
