"""The training forward: log-probabilities of sampled tokens, values and scores.

Log-probabilities are computed as the sampler computed them: from the same tokens, at the same
temperature.

Shapes: B trajectories, T tokens, N action tokens, V vocabulary.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentgym_train.data.batching import Batch

MATTERS = 0.05
"""Smallest probability, relative to the most probable token, of a token in the entropy bonus."""


class Forward(NamedTuple):
    """The model's output for each action token, given all tokens before it.

    float32; 0 for other tokens, except for ``value_BT``.
    """

    logp_BT: Tensor
    """Log-probability of the token, in nats."""
    entropy_BT: Tensor
    """Entropy over the whole vocabulary, in nats; without gradient."""
    bonus_BT: Tensor | None = None
    """Entropy over the probable tokens, in nats, with gradient; see :func:`entropy_that_matters`.

    None unless requested.
    """
    value_BT: Tensor | None = None
    """A critic's estimate of the return from before the token on, for all tokens, with gradient.

    None without a critic.
    """


def token_logps(
    model: Callable[..., Any], micro: Batch, temperature: float, *, bonus: bool = False
) -> Forward:
    """Runs a causal LM over a micro-batch.

    Args:
        model: takes ``input_ids``; returns ``.logits``, and ``.value`` if it has a value head.
        micro: padded on the right: the position of a token is its column, and no token attends to
            padding.
        temperature: divides the logits, as at sampling.
        bonus: compute ``bonus_BT`` too.

    Returns:
        Streams whose column t is about token t; column 0 is zero.
    """
    # Position t−1 predicts token t, so the first column of the mask is dropped.
    wanted_BT = micro.action_BT[:, 1:]
    with _only(model, wanted_BT):
        output = _run(model, micro)
    logits = output.logits
    # Two dimensions if the hook of _only() was effective, three if the model ignored it.
    logits_NV = logits if logits.dim() == 2 else logits[:, :-1][wanted_BT]
    # float32, as at sampling: in bfloat16, the rounding of log_softmax would exceed the differences
    # that the probability ratios measure.
    logp_NV = (logits_NV.float() / temperature).log_softmax(-1)
    logp_N = logp_NV.gather(1, micro.id_BT[:, 1:][wanted_BT][:, None])[:, 0]
    # For metrics only; a gradient would keep another (N, V) tensor until the backward pass.
    with torch.no_grad():
        entropy_N = -(logp_NV.exp() * logp_NV).sum(-1)
    bonus_N = entropy_that_matters(logp_NV) if bonus else None

    def spread(stream_N: Tensor) -> Tensor:
        return _shifted(stream_N.new_zeros(wanted_BT.shape).masked_scatter(wanted_BT, stream_N))

    value_BT = getattr(output, "value", None)
    return Forward(
        spread(logp_N),
        spread(entropy_N),
        None if bonus_N is None else spread(bonus_N),
        None if value_BT is None else _shifted(value_BT[:, :-1]),
    )


@contextmanager
def _only(model: Callable[..., Any], wanted_BT: Tensor) -> Iterator[None]:
    """Makes a model compute the logits of some positions only, shape (N, V).

    A large vocabulary can make the head more expensive than all layers below it. A hook selects the
    positions before the head. A model without a head that is called as a module still computes all
    logits, shape (B, T, V).

    Args:
        model: a causal LM.
        wanted_BT: bool, shape (B, T − 1): the positions to keep; the last position has no next
            token.
    """
    if not hasattr(model, "get_output_embeddings"):
        yield
        return
    head = model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, inputs: (inputs[0][:, :-1][wanted_BT],))
    try:
        yield
    finally:
        hook.remove()


def token_values(model: Callable[..., Any], micro: Batch) -> Tensor:
    """Runs a critic over a micro-batch.

    Args:
        model: takes ``input_ids`` and ``values_only``; returns ``.value``, shape (B, T), the value
            after each token.
        micro: see :func:`token_logps`.

    Returns:
        float32, shape (B, T): column t is the value before token t; column 0 is zero.
    """
    return _shifted(_run(model, micro, values_only=True).value[:, :-1])


def episode_scores(model: Callable[..., Any], micro: Batch, pad: int) -> Tensor:
    """Runs a reward model over a micro-batch.

    Args:
        model: a sequence classifier with one label; it recognises a row's last token by the padding
            tokens after it.
        micro: see :func:`token_logps`.
        pad: the model's padding token.

    Returns:
        float32, shape (B,).
    """
    # Batches are padded with token 0, which can be an ordinary token of the model.
    id_BT = micro.id_BT.where(micro.valid_BT, pad)
    scores_B1: Tensor = model(
        input_ids=id_BT, attention_mask=micro.valid_BT.long(), use_cache=False
    ).logits
    return scores_B1[:, 0].float()


def entropy_that_matters(logp_NV: Tensor) -> Tensor:
    """Returns the entropy among the probable tokens only, in nats, shape (N,).

    These tokens are at least ``MATTERS`` times as probable as the most probable one. A bonus over
    the whole vocabulary would raise tokens that are part of no valid action, and the policy would
    forget how to act.
    """
    kept_NV = logp_NV >= logp_NV.detach().amax(-1, keepdim=True) + math.log(MATTERS)
    # Renormalised over these tokens, so the gradient does not move probability to the others.
    among_NV = logp_NV.where(kept_NV, -torch.inf).log_softmax(-1)
    # 0 · −∞ is NaN, so the second factor of an excluded token is 0 and not −∞.
    return -(among_NV.exp() * among_NV.where(kept_NV, 0.0)).sum(-1)


def _run(model: Callable[..., Any], micro: Batch, **options: bool) -> Any:
    # Without a mask, attention is only causal, and fast kernels skip half of the work. Padding is
    # on the right, so no token of a trajectory attends to it.
    return model(input_ids=micro.id_BT, use_cache=False, **options)


def _shifted(stream_BT: Tensor) -> Tensor:
    # The output at position t−1 is about token t.
    return torch.nn.functional.pad(stream_BT, (1, 0))
