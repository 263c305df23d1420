"""The training forward: log-probabilities of sampled tokens as the sampler saw them, a critic's values, a reward model's scores.

Shapes: B trajectories, T tokens, N tokens of actions, V vocabulary.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from agentgym_train.data.batching import Batch

MATTERS = (
    0.05  # of the most probable token's probability: less probable tokens get no entropy bonus
)


class Forward(NamedTuple):
    """Per action token, float32, and 0 for others: what is said of it given everything before it."""

    logp_BT: Tensor
    """Its log-probability, in nats."""
    entropy_BT: Tensor
    """Of the choice it was drawn from, the whole vocabulary, in nats; without gradient."""
    bonus_BT: Tensor | None = None
    """The same of the tokens that matter, with gradient: see :func:`entropy_that_matters`.

    None unless it was asked for.
    """
    value_BT: Tensor | None = None
    """A critic's estimate of the return from before it on, of all tokens, with gradient.

    None without a critic.
    """


def token_logps(
    model: Callable[..., Any], micro: Batch, temperature: float, *, bonus: bool = False
) -> Forward:
    """Runs a causal LM over a micro-batch.

    Args:
        model: takes ``input_ids``; returns ``.logits``, and ``.value`` if it has a value head.
        micro: padded on the right, so that every token's position is its column and no token sees
            padding.
        temperature: divides the logits, as at sampling.
        bonus: computes ``bonus_BT`` too.

    Returns:
        Column t speaks of token t; column 0 is zero.
    """
    wanted_BT = micro.action_BT[:, 1:]
    with _only(model, wanted_BT):
        output = _run(model, micro)
    logits = output.logits
    logits_NV = logits if logits.dim() == 2 else logits[:, :-1][wanted_BT]
    logp_NV = (logits_NV.float() / temperature).log_softmax(-1)
    logp_N = logp_NV.gather(1, micro.id_BT[:, 1:][wanted_BT][:, None])[:, 0]
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
    """Makes a model compute logits of some positions alone, (N, V): a vocabulary can cost more than the layers below it.

    A model whose head is not called as a module, or is none, computes all, (B, T, V).

    Args:
        model: a causal LM.
        wanted_BT: bool, the positions but the last.
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
        model: takes ``input_ids`` and ``values_only``; returns ``.value``, shape (B, T), read after
            each token.
        micro: see :func:`token_logps`.

    Returns:
        float32, shape (B, T): column t is what is expected from before token t on; column 0 is
        zero.
    """
    return _shifted(_run(model, micro, values_only=True).value[:, :-1])


def episode_scores(model: Callable[..., Any], micro: Batch, pad: int) -> Tensor:
    """Runs a reward model over a micro-batch.

    Args:
        model: a sequence classifier with one label, which finds a row's last token by what follows
            it.
        micro: see :func:`token_logps`.
        pad: its padding token.

    Returns:
        float32, shape (B,).
    """
    id_BT = micro.id_BT.where(micro.valid_BT, pad)
    scores_B1: Tensor = model(
        input_ids=id_BT, attention_mask=micro.valid_BT.long(), use_cache=False
    ).logits
    return scores_B1[:, 0].float()


def entropy_that_matters(logp_NV: Tensor) -> Tensor:
    """Returns the entropy of the choice among tokens at least ``MATTERS`` times as probable as the most probable one.

    A bonus over the whole vocabulary raises tokens that no grammar of actions allows, and the
    policy forgets how to act.
    """
    kept_NV = logp_NV >= logp_NV.detach().amax(-1, keepdim=True) + math.log(MATTERS)
    among_NV = logp_NV.where(kept_NV, -torch.inf).log_softmax(-1)
    return -(among_NV.exp() * among_NV.where(kept_NV, 0.0)).sum(-1)


def _run(model: Callable[..., Any], micro: Batch, **options: bool) -> Any:
    # Without a mask attention is causal alone, which kernels compute in about half the work.
    return model(input_ids=micro.id_BT, use_cache=False, **options)


def _shifted(stream_BT: Tensor) -> Tensor:
    return torch.nn.functional.pad(stream_BT, (1, 0))
