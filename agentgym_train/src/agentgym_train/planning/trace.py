"""The activations of one micro-batch, measured on fake tensors, which have shapes but no memory.

The run's own forward and backward pass goes over the whole model, so every switch of the model
counts as it does in training. The bytes of live tensors are counted while it runs.

Shapes: B trajectories, T tokens, N action tokens.
"""

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import AutoModelForCausalLM, PretrainedConfig, PreTrainedModel, masking_utils

from agentgym_train.config import ModelConfig
from agentgym_train.data.batching import Batch
from agentgym_train.engine.critic import ValueHeadPolicy
from agentgym_train.errors import ModelError
from agentgym_train.models.loading import choose_trained
from agentgym_train.models.policy import token_logps, token_values


class LiveBytes(TorchDispatchMode):
    """Counts the storage of every tensor that an operation returns, until it is freed.

    It works with real and with fake tensors. Storage inside of a kernel is not seen. Tensors that
    exist before the mode starts must be passed to :meth:`see`, since an operation that changes one
    in place returns it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        """Bytes alive."""
        self.peak = 0
        """Largest value of ``now`` since the start or the latest :meth:`restart`."""
        self._seen: weakref.WeakKeyDictionary[torch.UntypedStorage, int] = (
            weakref.WeakKeyDictionary()
        )

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Runs an operation and counts its results."""
        out = func(*args, **(kwargs or {}))
        self.see(out)
        return out

    def see(self, tree: Any) -> None:
        """Counts all tensors of a nested structure that are not counted yet."""
        for leaf in tree_leaves(tree):
            # A tensor on the meta device has a size but no memory.
            if isinstance(leaf, Tensor) and leaf.device.type != "meta":
                self._add(leaf.untyped_storage())

    def restart(self) -> None:
        """Starts a new peak."""
        self.peak = self.now

    def _add(self, storage: torch.UntypedStorage) -> None:
        if storage in self._seen:
            return
        self._seen[storage] = size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._free, size).atexit = False

    def _free(self, size: int) -> None:
        self.now -= size


ACTIONS = 0.3
"""Share of a trajectory's tokens that the policy sampled."""


class ParameterSize(NamedTuple):
    """A parameter."""

    numel: int
    trained: bool


@dataclass(frozen=True)
class TraceSetting:
    """The part of a run on which its activations depend."""

    shape: PretrainedConfig = field(compare=False)
    text: str
    """``shape`` as text, which can be compared."""
    model: ModelConfig
    critic: Literal["model", "head"] | None
    bonus: bool
    """Whether the loss has an entropy bonus."""
    rows: int
    tokens: int
    """Tokens of each of the micro-batch's ``rows``."""


class TraceResult(NamedTuple):
    """The result of a trace."""

    model: tuple[ParameterSize, ...]
    """Parameters of the language model, without an adapter."""
    policy: tuple[ParameterSize, ...]
    """Parameters of the policy, with its adapter and value head."""
    critic: tuple[ParameterSize, ...]
    """Parameters of a separate critic model."""
    activations: int
    """Peak bytes above the weights, with the gradient of one parameter at a time."""


@lru_cache(maxsize=64)
def trace(setting: TraceSetting) -> TraceResult:
    """Runs one micro-batch through the models of a run.

    Raises:
        ModelError: the model cannot run on fake tensors.
    """
    try:
        return _trace(setting)
    except Exception as error:  # any architecture, with any code
        raise ModelError(
            f"the memory of {setting.shape.model_type} models cannot be planned: their forward pass"
            f" does not run on fake tensors ({type(error).__name__}: {str(error).splitlines()[0]})"
        ) from error


@contextmanager
def fake() -> Iterator[None]:
    """Makes every tensor of the block a fake one.

    transformers looks for several sequences in a row of tokens by their positions, which fake
    tensors do not have. There is one sequence per row, so the block skips the search. Otherwise
    every layer would attend with a mask.
    """
    name = "find_packed_sequence_indices"
    search = getattr(masking_utils, name, None)
    if search is not None:
        setattr(masking_utils, name, lambda *_, **__: None)
    try:
        with FakeTensorMode():
            yield
    finally:
        if search is not None:
            setattr(masking_utils, name, search)


def empty_model(shape: PretrainedConfig, config: ModelConfig) -> PreTrainedModel:
    """Returns the run's model without memory for its weights, all of them trained."""
    # Fused kernels keep equally much, and some are not installed where a run is planned.
    attention = "eager" if config.attn_implementation == "eager" else None
    with torch.device("meta"):
        model: PreTrainedModel = AutoModelForCausalLM.from_config(
            shape, dtype=getattr(torch, config.dtype), attn_implementation=attention
        ).eval()
    return model


def fill(model: nn.Module) -> None:
    """Gives an empty model fake weights; call it within :func:`fake`.

    A model is not made of fake weights from the start, since peft cannot change their type.
    """
    made: dict[Tensor, Tensor] = {}  # a tied weight stays one tensor
    for module in model.modules():
        places: tuple[dict[str, Any], ...] = (module._parameters, module._buffers)
        for place in places:
            for name, tensor in place.items():
                if tensor is not None and tensor.is_meta:
                    place[name] = made.setdefault(tensor, _filled(tensor))


def _filled(tensor: Tensor) -> Tensor:
    values = torch.zeros(tensor.shape, dtype=tensor.dtype)
    if not isinstance(tensor, nn.Parameter):
        return values
    return nn.Parameter(values, tensor.requires_grad)


def weights(model: nn.Module) -> tuple[ParameterSize, ...]:
    """Returns the parameters of a model; a tied one counts once."""
    return tuple(ParameterSize(p.numel(), p.requires_grad) for p in model.parameters())


class Counting(LiveBytes):
    """Counts bytes, and answers the questions for values, which fake tensors do not have.

    Every selection by a mask has the same number of elements. Two tensors that are compared as a
    whole are equal, so a trial of a model's head succeeds.
    """

    def __init__(self, selected: int):
        super().__init__()
        self._selected = selected

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replaces masks of an index by numbers of elements, as the kernel does."""
        if func is torch.ops.aten.equal.default:
            return True
        if func is torch.ops.aten.index.Tensor:
            args = (args[0], [each for index in args[1] for each in self._numbers(index)])
        return super().__torch_dispatch__(func, types, args, kwargs)

    def _numbers(self, index: Tensor | None) -> list[Tensor | None]:
        if index is None or index.dtype != torch.bool:
            return [index]
        return [torch.zeros(self._selected, dtype=torch.int64) for _ in range(index.dim())]


def fake_batch(rows: int, tokens: int) -> Batch:
    """Returns a micro-batch."""

    def stream(dtype: torch.dtype) -> Tensor:
        return torch.zeros((rows, tokens), dtype=dtype)

    return Batch(
        id_BT=stream(torch.int64),
        valid_BT=stream(torch.bool),
        action_BT=stream(torch.bool),
        logp_BT=stream(torch.float32),
        reward_BT=stream(torch.float64),
        turn_BT=stream(torch.int64),
        call_BT=stream(torch.int64),
        version_BT=stream(torch.int64),
        group_B=torch.zeros(rows, dtype=torch.int64),
        episode_B=torch.zeros(rows, dtype=torch.int64),
        episode_tokens_B=torch.zeros(rows, dtype=torch.int64),
    )


def _trace(setting: TraceSetting) -> TraceResult:
    models = [_model(setting, setting.model)]
    if setting.critic == "model":
        # A critic learns in all layers, or in an adapter as the policy does.
        models.append(_model(setting, replace(setting.model, last_layers=0)))
    model = weights(empty_model(setting.shape, setting.model))
    with fake(), Counting(int(ACTIONS * setting.rows * setting.tokens)) as live:
        for each in models:
            fill(each)
        policy: nn.Module = ValueHeadPolicy(models[0]) if setting.critic == "head" else models[0]
        critic = ValueHeadPolicy(models[1], trunk=True) if setting.critic == "model" else None
        for parameter in [*policy.parameters(), *(critic.parameters() if critic else ())]:
            if parameter.requires_grad:
                # The engine takes each gradient away as soon as it is complete.
                parameter.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
        micro = fake_batch(setting.rows, setting.tokens)
        live.restart()
        held = live.now
        learn(policy, critic, micro, bonus=setting.bonus)
        activations = live.peak - held
    return TraceResult(model, weights(policy), weights(critic) if critic else (), activations)


def _model(setting: TraceSetting, config: ModelConfig) -> PreTrainedModel:
    model = empty_model(setting.shape, config)
    choose_trained(model, config)
    return model


def learn(policy: nn.Module, critic: nn.Module | None, micro: Batch, *, bonus: bool) -> None:
    """Runs the passes of one micro-batch in the order of the update."""
    forward = token_logps(policy, micro, 1.0, bonus=bonus)
    value_BT = forward.value_BT if critic is None else token_values(critic, micro)
    loss = forward.logp_BT.sum()
    if forward.bonus_BT is not None:
        loss = loss + forward.bonus_BT.sum()
    if critic is None and value_BT is not None:
        loss = loss + value_BT.sum()
    loss.backward()
    if critic is not None and value_BT is not None:
        value_BT.sum().backward()
