"""The embedded generator: a second Hugging Face causal LM in the trainer's process.

The generator keeps a memory between turns. At start-up it tries ``METHODS`` in order. Each plays a
short conversation, and its log-probabilities are compared with those of the plain model. The first
method that agrees is used. The comparison runs in float32, where rounding is too small to hide an
error.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers import __version__ as transformers_version

from agentgym_train.data.batching import Batch, ForwardOutput
from agentgym_train.errors import ModelError
from agentgym_train.generators import probe
from agentgym_train.generators.building_blocks import (
    choose,
    cut_back,
    drop,
    make_room,
    noise,
    take_over,
)
from agentgym_train.generators.float32 import in_float32
from agentgym_train.generators.memory import (
    NoCache,
    PaddedCache,
    SessionMemory,
    attention,
    cache_name,
    keeps_keys,
    narrow,
)
from agentgym_train.generators.ragged_cache import RaggedCache
from agentgym_train.models.policy import token_logps
from agentgym_train.protocols import (
    ActionSample,
    Generator,
    GeneratorContext,
    GeneratorSession,
    SamplingOptions,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MemoryMethod:
    """A way to keep the history of the rows between turns."""

    name: str
    memory: Callable[[PreTrainedModel, Iterable[int]], SessionMemory]
    lasts: bool
    """Whether one memory serves all turns; if not, each turn computes the whole history again."""
    joins: bool
    """Whether a row can join a batch that is in progress; if not, all rows of a batch begin and are
    returned together."""


METHODS = (
    MemoryMethod("one cache for all turns", RaggedCache, lasts=True, joins=True),
    MemoryMethod("one padded cache for all turns", PaddedCache, lasts=True, joins=False),
    MemoryMethod("the history computed again each turn", PaddedCache, lasts=False, joins=False),
    MemoryMethod("the history computed again for each token", NoCache, lasts=True, joins=True),
)


class HF(Generator):
    """Samples from a model in this process.

    Raises:
        ModelError: see :func:`exact_method`.
    """

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The methods that are accepted."""

        allow_slower: bool = False
        """Accept a slower method for a model whose layers all attend to the history. By default
        this is an error."""

    @classmethod
    def build(cls, options: Options, context: GeneratorContext) -> "HF":
        """Loads a second copy of the model.

        Each process holds the whole copy, so generation never waits for sharded weights.
        """
        model = AutoModelForCausalLM.from_pretrained(context.model_folder, dtype=context.dtype)
        return cls(model.to(context.device), allow_slower=options.allow_slower)

    def __init__(self, model: PreTrainedModel, *, allow_slower: bool = False):
        self._model = model.eval().requires_grad_(False)
        self.method = exact_method(self._model, allow_slower=allow_slower)
        """The memory between turns."""
        self._version = 0

    @property
    def method_name(self) -> str:
        """The method in words."""
        return self.method.name

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Copies weights in place; see :func:`~.building_blocks.take_over`."""
        take_over(self._model, weights)
        self._version = version

    def session(self, seeds: Sequence[int], sampling: SamplingOptions) -> "HFSession":
        """Starts one episode per seed."""
        return HFSession(self._model, self.method, seeds, sampling, self._version)

    def sleep(self) -> None:
        """Frees the memory of the weights."""
        drop(self._model)

    def wake(self) -> None:
        """Allocates the memory of the weights again."""
        make_room(self._model)


class HFSession(GeneratorSession):
    """Episodes in progress; ``poll`` samples all submitted rows as one batch.

    A row that is done leaves the batch, and a submitted row joins it, between two tokens. Which
    rows share a step therefore follows from the calls of ``submit`` and ``poll`` only.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        method: MemoryMethod,
        seeds: Sequence[int],
        sampling: SamplingOptions,
        version: int = 0,
    ):
        self._model, self._method = model, method
        self._seeds, self._sampling, self._version = seeds, sampling, version
        self._submitted: dict[int, Sequence[int]] = {}
        self._batch: dict[
            int, ActionSample
        ] = {}  # the rows that are sampled, and their tokens so far
        self._done: dict[int, ActionSample] = {}
        self._history: dict[int, list[int]] = {row: [] for row in range(len(seeds))}
        self._turn = dict.fromkeys(self._history, 0)
        self._memory = method.memory(model, self._history)

    def submit(self, row: int, ids: Sequence[int]) -> None:
        """Adds a row to the batch."""
        self._submitted[row] = ids

    @torch.inference_mode()
    def poll(self, timeout: float | None = None) -> dict[int, ActionSample]:
        """Samples until a row is done.

        Rows are sampled in the order of their numbers. The order of submission does not change
        results.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        while self._submitted or self._batch:
            if self._submitted and (self._method.joins or not self._batch):
                self._join()
            self._step()
            if self._done and (self._method.joins or not self._batch):
                samples, self._done = self._done, {}
                return dict(sorted(samples.items()))
            if time.monotonic() >= end:
                break
        return {}

    def _join(self) -> None:
        """Adds the submitted rows to the batch."""
        prompts, self._submitted = dict(sorted(self._submitted.items())), {}
        if not self._method.lasts:
            self._memory = self._method.memory(self._model, self._history.keys() & prompts.keys())
        for row, ids in prompts.items():
            self._history[row] += ids
            self._batch[row] = ActionSample([], [], self._version)

    def _step(self) -> None:
        """Samples one token for each row of the batch.

        Rows with a prompt have a separate call of the model. In a common call, each other row would
        need as much padding as the longest prompt has tokens.
        """
        rows = sorted(self._batch)
        begun = [row for row in rows if self._batch[row].ids]
        for part in ([row for row in rows if not self._batch[row].ids], begun):
            if part:
                self._sample(part)

    def _sample(self, rows: Sequence[int]) -> None:
        """Samples one token for each of some rows."""
        # The memory does not know the last sampled token of a turn yet. That token is appended
        # together with the next prompt.
        logits_RV = self._memory.append(
            {row: self._history[row][self._memory.known[row] :] for row in rows}
        )
        noise_R = [
            noise(self._seeds[row], self._turn[row], len(self._batch[row].ids)) for row in rows
        ]
        tokens, logps = choose(logits_RV, noise_R, temperature=self._sampling.temperature)
        for row, token, logp in zip(rows, tokens, logps, strict=True):
            self._history[row].append(token)
            sample = self._batch[row]
            sample.ids.append(token)
            sample.logps.append(logp)
            if token in self._sampling.stop_ids or len(sample.ids) == self._sampling.max_new_tokens:
                self._done[row] = self._batch.pop(row)
                self._turn[row] += 1

    @torch.inference_mode()
    def restart(self, row: int) -> None:
        """Clears a row; its noise starts again too."""
        self.rewind(row, 0)
        self._turn[row] = 0

    @torch.inference_mode()
    def rewind(self, row: int, length: int) -> None:
        """Cuts a row back; the memory keeps the prefix without its last token.

        The last token is computed again with the next prompt. Its logits are needed if that prompt
        is empty, and the memory does not keep logits.
        """
        cut_back(self._history[row], row=row, length=length)
        if self._method.lasts:
            self._memory.rewind(row, max(length - 1, 0))

    @torch.inference_mode()
    def finish(self, row: int) -> None:
        """Removes a row."""
        del self._history[row], self._turn[row]
        if self._method.lasts:
            self._memory.drop(row)

    def close(self) -> None:
        """Frees the memory of all rows."""
        self._submitted, self._batch, self._done = {}, {}, {}
        self._memory = self._method.memory(self._model, ())


@torch.inference_mode()
def exact_method(model: PreTrainedModel, *, allow_slower: bool = False) -> MemoryMethod:
    """Returns the fastest method that reproduces the plain model's log-probabilities.

    The reference is a forward pass over each row by itself.

    Args:
        model: the model.
        allow_slower: accept any method for a model whose layers all attend to the history.

    Raises:
        ModelError: no method reproduces them; lists a reason per method. Or the first one does not,
            though the layers of the model all attend to the history.
    """
    kind = model.config.model_type
    reasons: list[str] = []
    for method in METHODS:
        reason = by_structure(model, method) or _by_trial(model, method)
        if reason is None:
            if reasons:
                accept_slower(model, method, reasons, allowed=allow_slower)
            return method
        reasons.append(f"with {method.name} {reason}")
    raise ModelError(f"models of type {kind!r} cannot be sampled from: {'; '.join(reasons)}")


def accept_slower(
    model: PreTrainedModel, method: MemoryMethod, reasons: Sequence[str], *, allowed: bool
) -> None:
    """Warns of a method that is not the fastest, or rejects it.

    Args:
        model: the model.
        method: the method that is left.
        reasons: why the faster ones are ruled out.
        allowed: accept the method for a model whose layers all attend to the history.

    Raises:
        ModelError: the layers all attend to the history, so the first method should work.
    """
    kind, why = model.config.model_type, "; ".join(reasons)
    if allowed or attention(model) is None:
        log.warning("%s generates more slowly, with %s: %s", kind, method.name, why)
        return
    raise ModelError(
        f"models of type {kind!r} generate more slowly, with {method.name}, under transformers"
        f" {transformers_version} and torch {torch.__version__}: {why}. Use versions of"
        " transformers and torch that agentgym-train was tried with, or accept the slower method"
        " with generator.allow_slower=true"
    )


def by_structure(model: PreTrainedModel, method: MemoryMethod) -> str | None:
    """Returns why a model's architecture rules out a method, or None.

    The trial could miss this: its conversation can be shorter than the chunks of the model.
    """
    if method.memory is NoCache:
        return None
    if not keeps_keys(model):
        return "the model has no keys and values to keep"
    if cache_name(model) is None:
        return "the model's forward takes no cache of keys and values"
    seen = attention(model)
    exact = seen is not None and (seen.window is None or method.memory is RaggedCache)
    if method.lasts and not exact:
        return "some layers do not attend to the whole history, so their output would be wrong"
    return None


def expected_method(model: PreTrainedModel, *, allow_slower: bool = False) -> MemoryMethod:
    """Returns the method that the model of a run is expected to use, from its shapes only.

    Args:
        model: the model, on the meta device.
        allow_slower: as of :func:`exact_method`.

    Raises:
        ModelError: see :func:`accept_slower`.
    """
    reasons: list[str] = []
    for method in METHODS:
        reason = by_structure(model, method)
        if reason is None and method.memory is RaggedCache:
            reason = _by_shapes(model)
        if reason is None:
            break
        reasons.append(f"with {method.name} {reason}")
    if reasons:
        accept_slower(model, method, reasons, allowed=allow_slower)
    return method


def _by_shapes(model: PreTrainedModel) -> str | None:
    """Returns why a model on the meta device does not accept the masks of the first method."""
    memory = RaggedCache(model, range(2))
    try:
        memory.append({0: [0, 0], 1: [0]})
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        return _failure(error)
    except RuntimeError:  # the model needs values, which tensors of this device do not have
        return None
    return None


def _by_trial(model: PreTrainedModel, method: MemoryMethod) -> str | None:
    """Tries a method on a short conversation; returns what went wrong, or None."""
    sampling = SamplingOptions(
        temperature=1.0, max_new_tokens=probe.NEW_TOKENS, stop_ids=frozenset()
    )
    ids = range(model.config.get_text_config().vocab_size)
    try:
        with in_float32(model) as tried, narrow(tried.config):
            length = probe.length(tried.config)
            start, forward = partial(HFSession, tried, method), partial(_alone, tried)
            drift = probe.measure(
                start, forward, sampling=sampling, ids=ids, length=length, rewinds=True
            )
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        # A model that does not support padding or continuing can raise any exception.
        return _failure(error)
    if drift.fits("float32"):
        return None
    return (
        f"log-probabilities are off by {drift.mean:.4f} nats in the mean and by {drift.worst:.4f}"
        " at most, in float32"
    )


def _failure(error: Exception) -> str:
    return f"the model fails ({type(error).__name__}: {error})"


def _alone(model: PreTrainedModel, batch: Batch) -> ForwardOutput:
    """Returns the log-probabilities of each row, computed by itself and without padding."""
    logp_BT = torch.zeros_like(batch.logp_BT)
    for row in range(len(logp_BT)):
        alone = batch.take([row]).to(model.device)
        logp_BT[row, : alone.id_BT.shape[1]] = token_logps(model, alone, 1.0).logp_BT[0]
    return ForwardOutput(logp_BT, torch.zeros_like(logp_BT))
