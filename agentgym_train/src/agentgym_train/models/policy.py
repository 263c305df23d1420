"""A causal LM in training: it returns log-probabilities and values, and no logits.

Log-probabilities are computed as the sampler computed them: from the same tokens, at the same
temperature.

Shapes: B trajectories, T tokens, N action tokens, V vocabulary, D hidden units.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad
from transformers.utils import ModelOutput

from agentgym_train.data.batching import Batch, ForwardOutput
from agentgym_train.models.chunked_head import ChunkedHead, TokenStreams, log_softmax, streams

log = logging.getLogger(__name__)


class PolicyOutput(NamedTuple):
    """The output of a :class:`PolicyModel`."""

    streams: TokenStreams | None
    """Of action tokens; None if only values were requested."""
    value_BT: Tensor | None
    """Value after each token, float32; None without a value head."""


class PolicyModel(nn.Module):
    """A causal LM and, if a subclass adds one, a value head on its last hidden state.

    The language-modelling head sees action tokens only, in slices: see
    :class:`~agentgym_train.models.chunked_head.ChunkedHead`. A model that changes its logits after
    the head computes the logits of all action tokens at once.

    Args:
        model: a causal LM, possibly wrapped by peft. Any other callable that returns ``.logits``,
            and ``.value`` if it has one, computes the logits of all tokens.
    """

    def __init__(self, model: Callable[..., Any]):
        super().__init__()
        self.model: Any = model
        self.value_head: nn.Module | None = None
        head = self._head
        self._chunked = head is not None and _is_plain(self._causal, head)
        if self._chunked:
            # The class is exchanged in place, since the weight can be tied and named elsewhere.
            head.__class__ = ChunkedHead
        elif head is not None:
            _warn(type(self._causal).__name__)

    def forward(
        self, input_ids: Tensor, *, wanted_BT: Tensor | None = None, **options: Any
    ) -> PolicyOutput:
        """Returns streams and values.

        Args:
            input_ids: token ids, shape (B, T).
            wanted_BT: bool, shape (B, T − 1): whether to predict the next token; None: compute
                values only.
            **options: ``temperature``, ``entropy`` and ``bonus`` of
                :func:`~agentgym_train.models.chunked_head.streams`.
        """
        # Without a mask, attention is only causal, and fast kernels skip half of the work. Padding
        # is on the right, so no token of a trajectory attends to it.
        inputs = {"input_ids": input_ids, "use_cache": False}
        if wanted_BT is not None and not self._chunked:
            return self._with_logits(inputs, wanted_BT, **options)
        hidden_BTD = self._causal.base_model(**inputs).last_hidden_state
        made = None
        if wanted_BT is not None:
            # The head's weight must not be touched here: under ZeRO-3, DeepSpeed would gather it
            # for the whole pass.
            id_N = input_ids[:, 1:][wanted_BT]
            made = self._head(hidden_BTD[:, :-1][wanted_BT], id_N=id_N, **options)
        return PolicyOutput(made, None if self.value_head is None else self.value_head(hidden_BTD))

    @property
    def _causal(self) -> Any:
        """The model itself, or the model inside of peft's wrappers."""
        return self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model

    @property
    def _head(self) -> Any:
        """The language-modelling head, or None."""
        causal = self._causal
        return causal.get_output_embeddings() if hasattr(causal, "get_output_embeddings") else None

    def _with_logits(
        self, inputs: dict[str, Any], wanted_BT: Tensor, *, temperature: float, **options: bool
    ) -> PolicyOutput:
        """Does the same with the logits of all action tokens in memory."""
        with _only(self._head, wanted_BT) as hidden:
            output = self.model(**inputs)
        logits_NV = output.logits if hidden else output.logits[:, :-1][wanted_BT]
        id_N = inputs["input_ids"][:, 1:][wanted_BT]
        made = streams(log_softmax(logits_NV, temperature), id_N, **options)
        if self.value_head is None:
            return PolicyOutput(made, getattr(output, "value", None))
        return PolicyOutput(made, self.value_head(hidden[0]))


@contextmanager
def _only(head: nn.Module | None, wanted_BT: Tensor) -> Iterator[list[Tensor]]:
    """Makes a head compute the logits of some positions only, shape (N, V).

    Yields a list that gets the head's input, shape (B, T, D). Without a head it stays empty.
    """
    seen: list[Tensor] = []

    def select(_: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        seen.append(inputs[0])
        return (inputs[0][:, :-1][wanted_BT],)

    hook = None if head is None else head.register_forward_pre_hook(select)
    try:
        yield seen
    finally:
        if hook is not None:
            hook.remove()


@dataclass
class _Hidden(ModelOutput):
    """A base model's output with nothing but hidden states."""

    last_hidden_state: Tensor

    def __getattr__(self, name: str) -> None:
        """Other fields, such as ``router_logits``, are None."""


def _is_plain(causal: Any, head: Any) -> bool:
    """Whether a model's logits are a linear layer of its last hidden states, and nothing else.

    Gemma 2, for example, bounds its logits with a tanh, and Granite scales them. The model runs
    with planted hidden states and logits in place of those of its base model and its head. So no
    weight is read: the check costs nothing and works on sharded weights.
    """
    if type(head) not in (nn.Linear, ChunkedHead):
        return False
    like = {"dtype": head.weight.dtype, "device": head.weight.device}
    hidden = torch.linspace(-1, 1, 2 * head.in_features, **like).view(1, 2, -1)
    logits = torch.linspace(-99, 99, 2 * head.out_features, **like).view(1, 2, -1)
    seen = []

    def answer(inputs: Tensor) -> Tensor:
        seen.append(inputs)
        return logits.clone()

    base = causal.base_model
    with _replaced(base, lambda *_, **__: _Hidden(hidden)), _replaced(head, answer):
        try:
            output = causal(
                input_ids=torch.zeros((1, 2), dtype=torch.int64, device=hidden.device),
                use_cache=False,
            )
        # A model that reads something else of its base model can raise any exception.
        except Exception:
            return False
    return (
        len(seen) == 1
        and torch.equal(seen[0], hidden)
        and torch.equal(output.logits.to(logits.dtype), logits)
    )


@contextmanager
def _replaced(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Replaces the forward of one module for the block."""
    before = vars(module).get("forward")
    module.forward = forward  # type: ignore[method-assign]
    try:
        yield
    finally:
        if before is None:
            del module.forward
        else:
            module.forward = before  # type: ignore[method-assign]


@lru_cache
def _warn(name: str) -> None:
    """Warns once for each class of models."""
    log.warning(
        "the logits of %s are not simply a linear layer of its last hidden states: the training"
        " forward keeps the logits of all action tokens in memory",
        name,
    )


def token_logps(
    model: Callable[..., Any],
    micro: Batch,
    temperature: float,
    *,
    entropy: bool = False,
    bonus: bool = False,
) -> ForwardOutput:
    """Runs a causal LM over a micro-batch.

    Args:
        model: a :class:`~agentgym_train.models.policy.PolicyModel`, DeepSpeed's engine of one, or a
            model of which one can be made.
        micro: padded on the right: the position of a token is its column, and no token attends to
            padding.
        temperature: divides the logits, as at sampling.
        entropy: compute ``entropy_BT`` too.
        bonus: compute ``bonus_BT`` too.

    Returns:
        Streams whose column t is about token t; column 0 is zero.
    """
    policy = (
        model if isinstance(getattr(model, "module", model), PolicyModel) else PolicyModel(model)
    )
    # Position t−1 predicts token t, so the first column of the mask is dropped.
    wanted_BT = micro.action_BT[:, 1:]
    output: PolicyOutput = policy(
        micro.id_BT, wanted_BT=wanted_BT, temperature=temperature, entropy=entropy, bonus=bonus
    )

    def spread(stream_N: Tensor) -> Tensor:
        return _shifted(stream_N.new_zeros(wanted_BT.shape).masked_scatter(wanted_BT, stream_N))

    assert output.streams is not None
    logp_N, entropy_N, bonus_N = output.streams
    return ForwardOutput(
        spread(logp_N),
        None if entropy_N is None else spread(entropy_N),
        None if bonus_N is None else spread(bonus_N),
        None if output.value_BT is None else _shifted(output.value_BT[:, :-1]),
    )


def token_values(model: Callable[..., Any], micro: Batch) -> Tensor:
    """Runs a critic over a micro-batch.

    Args:
        model: a policy with a value head, or DeepSpeed's engine of one. No logits are computed.
        micro: see :func:`token_logps`.

    Returns:
        float32, shape (B, T): column t is the value before token t; column 0 is zero.
    """
    output: PolicyOutput = model(micro.id_BT)
    assert output.value_BT is not None
    return _shifted(output.value_BT[:, :-1])


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


def _shifted(stream_BT: Tensor) -> Tensor:
    # The output at position t−1 is about token t.
    return pad(stream_BT, (1, 0))
