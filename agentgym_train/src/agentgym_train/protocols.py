"""What a plugin implements. Each is loaded by name through an entry point (see ``plugins.py``).

A plugin class is a dataclass: its fields are its options in the configuration file, unknown keys are errors.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from agentgym_train.batching import Batch


@dataclass(frozen=True)
class Sample:
    """What a generator sampled for one row: token ids and their log-probabilities in nats, of the same length."""

    ids: list[int]
    logps: list[float]


@dataclass(frozen=True)
class Sampling:
    """How to sample."""

    temperature: float
    max_new_tokens: int
    stop_ids: frozenset[int]


class Session(Protocol):
    """Episodes in progress, one a row; keeps whatever makes continuing cheap."""

    def generate(self, prompts: Mapping[int, Sequence[int]]) -> dict[int, Sample]:
        """Appends token ids to some rows and samples until a stop token or the limit. Stop tokens are part of the sample."""
        ...

    def restart(self, row: int) -> None:
        """Forgets a row."""
        ...

    def finish(self, row: int) -> None:
        """Says that a row will not be continued."""
        ...


class Generator(Protocol):
    """Token ids in, token ids and log-probabilities out. The trainer uses nothing else of it."""

    def load(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Takes over the policy's weights: (name, full tensor) pairs."""
        ...

    def session(self, seeds: Sequence[int], sampling: Sampling) -> Session:
        """Starts one episode a seed, in rows 0, 1, ….

        The noise of a token is a function of its episode's seed, its turn (calls of ``generate`` for the row since it began or
        was restarted) and its place in the turn, and of nothing else.
        """
        ...


class GeneratorPlugin(Protocol):
    """The options of a generator."""

    def build(self, model_folder: str, device: torch.device, dtype: torch.dtype) -> Generator:
        """Makes the generator for a model in Hugging Face format."""
        ...


class Algorithm(Protocol):
    """Picks an advantage and a loss. The trainer knows nothing else of it."""

    kl_coef: float
    """Weight of the divergence from the initial policy; 0 spares the reference model."""

    def advantages(self, batch: Batch) -> Batch:
        """Returns the batch with ``advantage_BT`` set."""
        ...

    def loss(self, logp_BT: Tensor, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the loss summed over the micro-batch's action tokens, and sums to log under the same normalisation."""
        ...


class Curriculum(Protocol):
    """Sets the horizon."""

    def horizon(self, step: int) -> int:
        """Returns the turns an episode may take at a step (counted from 0). Pure."""
        ...

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Sees the metrics of each step."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Returns what must be restored to go on; JSON-able."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores what ``state_dict`` returned."""
        ...
