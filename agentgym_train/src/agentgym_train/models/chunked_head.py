"""A language-modelling head that returns log-probabilities, and never all logits at once.

The logits of all action tokens can need more memory than the rest of the model: 10,000 tokens times
152,000 words are 6 GB in float32. The forward pass goes through slices of tokens and keeps a few
numbers per token. The backward pass computes the logits again, in blocks of words. Each block is
the whole gradient of its rows of the weight, so that gradient is not a sum in low precision.

Shapes: N action tokens, V words of the vocabulary, D hidden units; R tokens of a slice, W words of
a block.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

NUMBERS = 2**25
"""Maximum logits in memory at a time, 128 MiB in float32; a slice has at least one token."""
MATTERS = 0.05
"""Smallest probability, relative to the most probable token, of a token in the entropy bonus."""


class TokenStreams(NamedTuple):
    """Numbers per action token, float32, in nats."""

    logp_N: Tensor
    """Log-probability of the token, with gradient."""
    entropy_N: Tensor | None
    """Entropy over the whole vocabulary, without gradient; None unless requested."""
    bonus_N: Tensor | None
    """Entropy over the probable tokens, with gradient; None unless requested."""


class ChunkedHead(nn.Linear):
    """A language-modelling head that can return :class:`TokenStreams` in place of logits.

    ``forward`` does the work, so DeepSpeed's hooks on the module see it. Under ZeRO-3 they gather
    the weight once per forward pass and once per backward pass, whatever the number of slices.
    """

    def forward(self, input: Tensor, id_N: Tensor | None = None, **options: Any) -> Any:
        """Returns logits; with ``id_N`` the streams of these tokens.

        Args:
            input: hidden states, shape (N, D); without ``id_N`` any shape (…, D).
            id_N: the tokens.
            **options: ``temperature``, ``entropy`` and ``bonus`` of :func:`streams`.
        """
        if id_N is None:
            return super().forward(input)
        # The last hidden states of Mamba are float32 in every precision.
        hidden_ND = input.to(self.weight.dtype)
        return chunked_streams(hidden_ND, self.weight, self.bias, id_N, **options)


def log_softmax(logits_NV: Tensor, temperature: float) -> Tensor:
    """Returns log-probabilities at a temperature."""
    # float32, as at sampling: in bfloat16, the rounding of log_softmax would exceed the differences
    # that the probability ratios measure.
    return _scaled(logits_NV, temperature).log_softmax(-1)


def _scaled(logits_NV: Tensor, temperature: float) -> Tensor:
    """Returns logits in float32 at a temperature; at 1 without a copy, if they are float32."""
    return logits_NV.float() if temperature == 1.0 else logits_NV.float() / temperature


def streams(logp_NV: Tensor, id_N: Tensor, *, entropy: bool, bonus: bool) -> TokenStreams:
    """Returns the streams of tokens from the log-probabilities of all words.

    Args:
        logp_NV: log-probabilities.
        id_N: the tokens.
        entropy: compute ``entropy_N``.
        bonus: compute ``bonus_N``; see :func:`entropy_that_matters`.
    """
    entropy_N = None
    if entropy:
        # For metrics only; a gradient would keep another (N, V) tensor until the backward pass.
        with torch.no_grad():
            entropy_N = -logp_NV.exp().mul_(logp_NV).sum(-1)
    return TokenStreams(
        logp_NV.gather(1, id_N[:, None])[:, 0],
        entropy_N,
        entropy_that_matters(logp_NV) if bonus else None,
    )


def entropy_that_matters(logp_NV: Tensor) -> Tensor:
    """Returns the entropy among the probable tokens only, in nats, shape (N,).

    These tokens are at least ``MATTERS`` times as probable as the most probable one. A bonus over
    the whole vocabulary would raise tokens that are part of no valid action, and the policy would
    forget how to act.
    """
    kept_NV = logp_NV >= _floor(logp_NV)
    # Renormalised over these tokens, so the gradient does not move probability to the others.
    among_NV = logp_NV.where(kept_NV, -torch.inf).log_softmax(-1)
    # 0 · −∞ is NaN, so the second factor of an excluded token is 0 and not −∞.
    return -(among_NV.exp() * among_NV.where(kept_NV, 0.0)).sum(-1)


def _floor(logp_NV: Tensor) -> Tensor:
    """Returns the smallest log-probability of a token in the entropy bonus, shape (N, 1)."""
    return logp_NV.detach().amax(-1, keepdim=True) + math.log(MATTERS)


def chunked_streams(
    hidden_ND: Tensor,
    weight_VD: Tensor,
    bias_V: Tensor | None,
    id_N: Tensor,
    *,
    temperature: float,
    entropy: bool,
    bonus: bool,
) -> TokenStreams:
    """Returns the :func:`streams` of a linear head, with at most ``NUMBERS`` logits at a time."""
    parts = _Chunked.apply(hidden_ND, weight_VD, bias_V, id_N, temperature, entropy, bonus)
    return TokenStreams(*parts)


class _Chunked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden_ND: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor | None,
        id_N: Tensor,
        temperature: float,
        entropy: bool,
        bonus: bool,
    ) -> tuple[Tensor | None, ...]:
        rows = max(1, NUMBERS // len(weight_VD))
        slices = [
            _slice(linear(hidden_RD, weight_VD, bias_V), id_R, temperature, entropy, bonus)
            for hidden_RD, id_R in zip(hidden_ND.split(rows), id_N.split(rows), strict=True)
        ]
        logp_N, entropy_N, bonus_N, *kept = (
            None if each[0] is None else torch.cat(each) for each in zip(*slices, strict=True)
        )
        ctx.temperature = temperature
        ctx.save_for_backward(hidden_ND, weight_VD, bias_V, id_N, bonus_N, *kept)
        if entropy_N is not None:
            ctx.mark_non_differentiable(entropy_N)
        return logp_N, entropy_N, bonus_N

    @staticmethod
    def backward(
        ctx: Any, grad_N: Tensor, _: None, bonus_grad_N: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        hidden_ND, weight_VD, bias_V, id_N, *kept = ctx.saved_tensors
        # By the chain rule for logits / temperature.
        grad_N = grad_N / ctx.temperature
        bonus_grad_N = None if bonus_grad_N is None else bonus_grad_N / ctx.temperature
        to_hidden, to_weight, to_bias, *_rest = ctx.needs_input_grad
        # A sum over blocks of words, hence in float32.
        hidden_grad_ND = torch.zeros_like(hidden_ND, dtype=torch.float32) if to_hidden else None
        weight_grad_VD = torch.empty_like(weight_VD) if to_weight else None
        bias_grad_V = torch.empty_like(bias_V) if to_bias else None
        width = max(1, NUMBERS // max(1, len(id_N)))
        for start in range(0, len(weight_VD), width):
            block = slice(start, start + width)
            weight_WD, bias_W = weight_VD[block], None if bias_V is None else bias_V[block]
            logits_NW = _scaled(linear(hidden_ND, weight_WD, bias_W), ctx.temperature)
            grad_NW = _gradient(logits_NW, id_N - start, grad_N, bonus_grad_N, *kept)
            grad_NW = grad_NW.to(hidden_ND.dtype)
            if hidden_grad_ND is not None:
                hidden_grad_ND += grad_NW @ weight_WD
            if weight_grad_VD is not None:
                torch.mm(grad_NW.T, hidden_ND, out=weight_grad_VD[block])
            if bias_grad_V is not None:
                bias_grad_V[block] = grad_NW.sum(0)
        if hidden_grad_ND is not None:
            hidden_grad_ND = hidden_grad_ND.to(hidden_ND.dtype)
        return hidden_grad_ND, weight_grad_VD, bias_grad_V, None, None, None, None


def _slice(
    logits_RV: Tensor, id_R: Tensor, temperature: float, entropy: bool, bonus: bool
) -> tuple[Tensor | None, ...]:
    """Returns the streams of a slice, and the numbers from which :func:`_gradient` continues.

    These are the logarithm of the normaliser and, for the bonus, the floor and the logarithm of the
    probability of all words above it.
    """
    logp_RV = log_softmax(logits_RV, temperature)
    made = streams(logp_RV, id_R, entropy=entropy, bonus=bonus)
    chosen_R = _scaled(logits_RV.gather(1, id_R[:, None])[:, 0], temperature)
    floor_R1 = mass_R1 = None
    if bonus:
        floor_R1 = _floor(logp_RV)
        mass_R1 = logp_RV.where(logp_RV >= floor_R1, -torch.inf).logsumexp(-1, keepdim=True)
    return *made, chosen_R - made.logp_N, floor_R1, mass_R1


def _gradient(
    logits_NW: Tensor,
    place_N: Tensor,
    grad_N: Tensor,
    bonus_grad_N: Tensor | None,
    bonus_N: Tensor | None,
    normaliser_N: Tensor,
    floor_N1: Tensor | None,
    mass_N1: Tensor | None,
) -> Tensor:
    """Returns the gradient of a block of logits; overwrites the logits.

    With p = softmax(logits), the gradient of a token's log-probability is 1 − p at the token and
    −p at other words. With q = p renormalised over the words above the floor and H its entropy,
    the gradient of the bonus is −q · (log q + H) at these words.
    """
    logp_NW = logits_NW.sub_(normaliser_N[:, None])
    more_NW = None
    if bonus_grad_N is not None:
        assert bonus_N is not None
        assert floor_N1 is not None
        assert mass_N1 is not None
        logq_NW = (logp_NW - mass_N1).where(logp_NW >= floor_N1, -torch.inf)
        # Any finite logarithm will do where q = 0; 0 · −∞ would be NaN.
        more_NW = logq_NW.exp().mul_(logq_NW.clamp_(min=-99.0).add_(bonus_N[:, None]))
        more_NW.mul_(-bonus_grad_N[:, None])
    grad_NW = logp_NW.exp_().mul_(-grad_N[:, None])
    # Adds 0 at the first or last word for a token of another block, without waiting for the device.
    width = grad_NW.shape[1]
    inside_N = (place_N >= 0) & (place_N < width)
    grad_NW.scatter_add_(1, place_N.clamp(0, width - 1)[:, None], (grad_N * inside_N)[:, None])
    return grad_NW if more_NW is None else grad_NW.add_(more_NW)
