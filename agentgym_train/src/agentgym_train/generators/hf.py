"""The embedded generator: a Hugging Face causal LM of its own in this process.

Which memory it keeps between turns is decided once, by comparing its log-probabilities on a short
conversation with those of the plain model: the first of ``METHODS`` that agrees is used. They are
compared in float32, where rounding hides nothing.
"""

import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, DynamicCache, PreTrainedModel

from agentgym_train.data.batching import Batch
from agentgym_train.engine.logps import Forward, token_logps
from agentgym_train.errors import ModelError
from agentgym_train.generators import probe
from agentgym_train.generators.memory import Memory
from agentgym_train.generators.no_cache import NoCache
from agentgym_train.generators.padded_cache import PaddedCache
from agentgym_train.generators.ragged_cache import RaggedCache
from agentgym_train.generators.sampling import choose, noise
from agentgym_train.generators.weights import drop, make_room, take_over
from agentgym_train.protocols import Generator, GeneratorPlugin, Sample, Sampling, Session

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class HF(GeneratorPlugin):
    """The options of the embedded generator: none."""

    def build(self, model_folder: str, device: torch.device, dtype: torch.dtype) -> "HFGenerator":
        """Loads a second copy of the model, whole on every process, so that sharded training never blocks generation."""
        model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=dtype)
        return HFGenerator(model.to(device))


@dataclass(frozen=True)
class Method:
    """A way to remember."""

    name: str
    memory: Callable[[PreTrainedModel, Iterable[int]], Memory]
    lasts: bool
    """One memory serves all turns; otherwise each turn starts from the whole history."""


WHOLE = {"DynamicLayer", "DummyLayer"}
"""Layers of transformers that keep the whole history, or nothing: the second, new in 5.23, sees what another layer keeps."""

METHODS = (
    Method("one cache for all turns", RaggedCache, lasts=True),
    Method("one padded cache for all turns", PaddedCache, lasts=True),
    Method("the history computed again each turn", PaddedCache, lasts=False),
    Method("the history computed again for each token", NoCache, lasts=True),
)


class HFGenerator(Generator):
    """Samples from a model in this process.

    Raises:
        ModelError: no way of generating reproduces the model's own log-probabilities.
    """

    def __init__(self, model: PreTrainedModel):
        self._model = model.eval().requires_grad_(False)
        self.method = exact_method(self._model)
        """How it remembers."""
        self._version = 0

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Copies weights in place; see :func:`~agentgym_train.generators.weights.take_over`."""
        take_over(self._model, weights)
        self._version = version

    def session(self, seeds: Sequence[int], sampling: Sampling) -> "HFSession":
        """Starts one episode a seed."""
        return HFSession(self._model, self.method, seeds, sampling, self._version)

    def sleep(self) -> None:
        """Frees the memory of its weights."""
        drop(self._model)

    def wake(self) -> None:
        """Allocates it again."""
        make_room(self._model)


class HFSession(Session):
    """Episodes in progress; all rows that are submitted are sampled as one batch, by ``poll``."""

    def __init__(
        self,
        model: PreTrainedModel,
        method: Method,
        seeds: Sequence[int],
        sampling: Sampling,
        version: int = 0,
    ):
        self._model, self._method, self._seeds, self._sampling, self._version = (
            model,
            method,
            seeds,
            sampling,
            version,
        )
        self._submitted: dict[int, Sequence[int]] = {}
        self._history: dict[int, list[int]] = {row: [] for row in range(len(seeds))}
        self._turn = dict.fromkeys(self._history, 0)
        self._memory = method.memory(model, self._history)

    def submit(self, row: int, ids: Sequence[int]) -> None:
        """Puts a row into the next batch."""
        self._submitted[row] = ids

    def poll(self) -> dict[int, Sample]:
        """Samples the batch, its rows in the order of their numbers: the order in which they were submitted changes nothing."""
        prompts, self._submitted = dict(sorted(self._submitted.items())), {}
        return self._sample(prompts) if prompts else {}

    @torch.inference_mode()
    def _sample(self, prompts: Mapping[int, Sequence[int]]) -> dict[int, Sample]:
        """Appends ``prompts`` to their rows and samples an action for each."""
        if not self._method.lasts:
            self._memory = self._method.memory(self._model, self._history.keys() & prompts.keys())
        for row, ids in prompts.items():
            self._history[row] += ids
        samples = {row: Sample([], [], self._version) for row in prompts}
        going = list(prompts)
        for place in range(self._sampling.max_new_tokens):
            # The last sampled token of a turn is not in the memory yet: it comes with the next
            # prompt.
            logits_RV = self._memory.append(
                {row: self._history[row][self._memory.known[row] :] for row in going}
            )
            noise_R = [noise(self._seeds[row], self._turn[row], place) for row in going]
            for row, token, logp in zip(
                going,
                *choose(logits_RV, noise_R, temperature=self._sampling.temperature),
                strict=True,
            ):
                self._history[row].append(token)
                samples[row].ids.append(token)
                samples[row].logps.append(logp)
            going = [row for row in going if samples[row].ids[-1] not in self._sampling.stop_ids]
            if not going:
                break
        for row in prompts:
            self._turn[row] += 1
        return samples

    @torch.inference_mode()
    def restart(self, row: int) -> None:
        """Forgets a row; its noise begins again too."""
        self._history[row], self._turn[row] = [], 0
        if self._method.lasts:
            self._memory.forget(row)

    @torch.inference_mode()
    def finish(self, row: int) -> None:
        """Drops a row."""
        del self._history[row], self._turn[row]
        if self._method.lasts:
            self._memory.drop(row)


def exact_method(model: PreTrainedModel) -> Method:
    """Returns the fastest method whose log-probabilities are those of a forward pass over each row alone."""
    kind = model.config.model_type
    reasons: list[str] = []
    for method in METHODS:
        reason = _by_structure(model, method) or _by_trial(model, method)
        if reason is None:
            if reasons:
                log.warning(
                    "%s generates more slowly, with %s: %s", kind, method.name, "; ".join(reasons)
                )
            return method
        reasons.append(f"with {method.name} {reason}")
    raise ModelError(f"models of type {kind!r} cannot be sampled from: {'; '.join(reasons)}")


def _by_structure(model: PreTrainedModel, method: Method) -> str | None:
    """Says why a model cannot work with a method, whatever its weights and however long its windows are."""
    if method.memory is NoCache:
        return None
    if "past_key_values" not in inspect.signature(model.forward).parameters:
        return "there are no keys and values to keep"
    layers = {type(layer).__name__ for layer in DynamicCache(config=model.config).layers}
    if method.lasts and not layers <= WHOLE:
        return "some layers would be wrong, as they do not attend to the whole history"
    return None


def _by_trial(model: PreTrainedModel, method: Method) -> str | None:
    """Says what went wrong when a model was tried with a method."""
    sampling = Sampling(temperature=1.0, max_new_tokens=probe.NEW_TOKENS, stop_ids=frozenset())
    ids, length = range(model.config.get_text_config().vocab_size), probe.length(model.config)
    start, forward = partial(HFSession, model, method), partial(_alone, model)
    try:
        with _in_float32(model):
            drift = probe.measure(start, forward, sampling=sampling, ids=ids, length=length)
    except torch.OutOfMemoryError:
        raise
    except (
        Exception
    ) as error:  # models fail in ways of their own where they do not support padding or continuing
        return f"the model fails ({type(error).__name__}: {error})"
    if drift.fits("float32"):
        return None
    return (
        f"log-probabilities are off by {drift.mean:.4f} nats in the mean and by {drift.worst:.4f}"
        " at most, in float32"
    )


@contextmanager
def _in_float32(model: PreTrainedModel) -> Iterator[None]:
    """Widens a model's numbers for a while, which loses nothing; twice the memory of bfloat16."""
    narrow = {
        t: t.dtype
        for t in (*model.parameters(), *model.buffers())
        if t.is_floating_point() and t.dtype != torch.float32
    }
    for tensor in narrow:
        tensor.data = tensor.data.float()
    try:
        yield
    finally:
        for tensor, dtype in narrow.items():
            tensor.data = tensor.data.to(dtype)


def _alone(model: PreTrainedModel, batch: Batch) -> Forward:
    """Returns the log-probabilities of each row by itself, without padding."""
    logp_BT = torch.zeros_like(batch.logp_BT)
    for row in range(len(logp_BT)):
        alone = batch.take([row]).to(model.device)
        logp_BT[row, : alone.id_BT.shape[1]] = token_logps(model, alone, 1.0).logp_BT[0]
    return Forward(logp_BT, torch.zeros_like(logp_BT))
