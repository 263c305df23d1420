"""What a plugin implements. Each is loaded by name through an entry point (see ``plugins.py``).

A plugin class is a dataclass: its fields are its options in the configuration file, unknown keys are errors.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from agentgym_envs.pool import Description
from agentgym_train.config import Config
from agentgym_train.data.batching import Batch
from agentgym_train.data.types import Failure, Group, Trajectory
from agentgym_train.engine.distributed import World
from agentgym_train.engine.logps import Forward
from agentgym_train.models.chat import Chat


@dataclass(frozen=True)
class Sample:
    """An action that a generator sampled for one row."""

    ids: list[int]
    """Token ids, a stop token at the end included."""
    logps: list[float]
    """One a token, in nats."""
    version: int
    """Optimizer steps behind the weights that sampled it, as ``load`` was told; 0 before the first ``load``."""


@dataclass(frozen=True)
class Sampling:
    """How to sample."""

    temperature: float
    max_new_tokens: int
    stop_ids: frozenset[int]


class Session(Protocol):
    """Episodes in progress, one a row; keeps whatever makes continuing cheap.

    A row that was submitted is polled before anything else is asked of it. A session may be dropped at any time.
    """

    def submit(self, row: int, ids: Sequence[int]) -> None:
        """Appends token ids to a row and asks for its next action: up to a stop token, which is part of it, or the limit."""
        ...

    def poll(self) -> dict[int, Sample]:
        """Returns what has been sampled since: at least one row if any is submitted, and blocks until then; else nothing."""
        ...

    def restart(self, row: int) -> None:
        """Forgets what a row holds; its noise begins again."""
        ...

    def finish(self, row: int) -> None:
        """Says that a row will not be continued."""
        ...


class Generator(Protocol):
    """Token ids in, token ids and log-probabilities out. The trainer uses nothing else of it.

    It is built with the model's own weights and can sample at once. It sleeps while the policy learns; between ``sleep`` and
    ``load`` nothing is sampled.
    """

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Takes over the policy's weights.

        Args:
            weights: (name, full tensor) pairs, a tied weight under one of its names or both. The tensors are the policy's: they
                are copied.
            version: optimizer steps behind them.

        Raises:
            ModelError: a weight that the model does not have, of another shape, or that is missing.
        """
        ...

    def session(self, seeds: Sequence[int], sampling: Sampling) -> Session:
        """Starts one episode a seed, in rows 0, 1, ….

        The noise of a token is a function of its episode's seed, its turn (submits of the row since it began or was restarted)
        and its place in the turn, and of nothing else.
        """
        ...

    def sleep(self) -> None:
        """Gives its memory back; its weights need not be kept. No session is in progress."""
        ...

    def wake(self) -> None:
        """Makes ready for ``load``, after which it samples as before."""
        ...


class GeneratorPlugin(Protocol):
    """The options of a generator."""

    def build(self, model_folder: str, device: torch.device, dtype: torch.dtype) -> Generator:
        """Makes the generator for a model in Hugging Face format."""
        ...


STREAMS = {
    "reference": "log-probabilities under the initial policy",
    "old": "log-probabilities under the policy before the update, computed by the trainer and not by the generator",
    "value": "estimates of the return by a critic before the update; the forward pass of the loss has ``value_BT``, with gradient",
    "entropy": "no stream: the forward pass of the loss has ``bonus_BT``, an entropy with gradient",
}
"""What an algorithm may need, and what it is."""


class Algorithm(Protocol):
    """Gives credit and a loss. The trainer knows nothing else of it; ``algorithms.policy_gradient`` is a base for most."""

    @property
    def needs(self) -> Collection[str]:
        """Keys of :data:`STREAMS` that are filled before ``credit``."""
        ...

    @property
    def whole_groups(self) -> bool:
        """The loss couples the trajectories of a group: they come in one micro-batch."""
        ...

    def credit(self, batch: Batch, groups: Sequence[Group], world: World) -> Batch:
        """Returns the batch with the streams that ``loss`` wants, usually "advantage".

        All processes call it, each with its own groups; ``world`` sums over them. ``batch.episode_B`` counts the trajectories of
        ``groups`` in order.
        """
        ...

    def weight(self, batch: Batch) -> float:
        """Returns what the summed loss is divided by, once it is summed over all processes: tokens, trajectories, pairs.

        A mini-batch of weight 0 is skipped.
        """
        ...

    def loss(self, forward: Forward, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the summed loss of a micro-batch, and sums to log, which are divided by its action tokens.

        Those that an algorithm names in ``per_weight``, if it has such a set, are divided by ``weight`` as the loss is.
        It depends on ``forward.logp_BT``, and on ``forward.value_BT`` if it needs "value", also where there is nothing to learn:
        every process runs as many micro-batches.
        """
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


@dataclass(frozen=True)
class Stage:
    """What sources and scorers are built from: a run, as one process sees it."""

    config: Config
    world: World
    generator: Generator
    chat: Chat
    training: Description
    """The environment, its tasks and their difficulties."""
    groups: Sequence[int]
    """The numbers of its groups in a step, over all processes."""
    difficulties: Callable[[int], tuple[int, int] | None]
    """Of the tasks of a step, as the curriculum has it; None: of all."""

    @property
    def mine(self) -> dict[int, int]:
        """The numbers of this process's groups in a step, and the place of each among ``groups``.

        A group's number says which process has it.
        """
        places = enumerate(self.groups)
        return {number: place for place, number in places if number % self.world.size == self.world.rank}


class Source(Protocol):
    """Where the episodes of a step come from. What it gives is a function of the run's seed, the step and the policy alone."""

    @property
    def failures(self) -> Sequence[Failure]:
        """Of environments, in the latest step; none of them is a reward."""
        ...

    def next(self, step: int, horizon: int) -> list[Group]:
        """Returns this process's groups of a step (counted from 0), numbered among those of all processes.

        What the policy has not played now is ``recorded``: it says nothing of the policy's success.

        Args:
            step: which.
            horizon: turns that an episode may take.
        """
        ...

    def close(self) -> None:
        """Ends what it started."""
        ...


class SourcePlugin(Protocol):
    """The options of a source."""

    def check(self, config: Config, training: Description) -> None:
        """Refuses, before any work, what it could give nothing for."""
        ...

    def build(self, stage: Stage) -> Source:
        """Makes the source of one process."""
        ...


class Scorer(Protocol):
    """Changes what episodes earn before anything learns from them. Scores and successes stay the environment's."""

    def score(self, groups: Sequence[Group]) -> list[Group]:
        """Returns this process's groups of a step with other rewards of their turns, as new objects (see ``rewards.rewarded``).

        The same groups get the same rewards, whenever they are scored. What it raises stops the run: there is no reward by default.
        """
        ...


class ScorerPlugin(Protocol):
    """The options of a scorer."""

    def check(self, config: Config, training: Description) -> None:
        """Refuses, before any work, what it could not score with."""
        ...

    def build(self, stage: Stage) -> Scorer:
        """Makes the scorer of one process."""
        ...


class SizedSource(Protocol):
    """What a source may have besides: it knows how many episodes a group has. An algorithm with a ``group_size`` needs as many."""

    def group_sizes(self, config: Config) -> Collection[int]:
        """Returns every number of episodes that a group may have, those that fail included."""
        ...


class TaskCurriculum(Protocol):
    """What a curriculum may have besides: it chooses tasks."""

    def difficulties(self, step: int) -> tuple[int, int] | None:
        """Returns the least and the greatest difficulty of the tasks of a step (counted from 0), or None for all. Pure."""
        ...


class Tracker(Protocol):
    """Shows a run elsewhere. The first process alone calls it."""

    def start(self, config: Mapping[str, Any], folder: Path) -> None:
        """Begins, or goes on, with a run: its configuration as plain data and its folder."""
        ...

    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Takes the metrics of a step (counted from 1) and some of its episodes, to be read."""
        ...

    def finish(self) -> None:
        """Writes what is not written yet."""
        ...
