"""The base classes of plugins.

Each plugin is loaded by name through an entry point (see ``plugins.py``).

All kinds follow one pattern. An entry point names a frozen dataclass of options: its fields are
keys of the configuration file, and an unknown key is an error. The method ``build`` returns the
object that works in the run. An algorithm, a curriculum or a scorer without state is its own
options: ``build`` returns itself by default.

The options of a kind inherit from ``AlgorithmPlugin``, ``CurriculumPlugin``, ``GeneratorPlugin``,
``SourcePlugin``, ``ScorerPlugin`` or ``TrackerPlugin``. The working objects inherit from
``Algorithm``, ``Curriculum``, ``Generator`` (which starts a ``Session``), ``Source``, ``Scorer`` or
``Tracker``.

A method without ``@abstractmethod`` is a hook: override it only if its default does not fit.

This module imports no torch; types that need it are imported for type checkers only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from agentgym_train.generator_protocol import Generator as Generator
from agentgym_train.generator_protocol import GeneratorContext as GeneratorContext
from agentgym_train.generator_protocol import GeneratorPlugin as GeneratorPlugin
from agentgym_train.generator_protocol import Sample as Sample
from agentgym_train.generator_protocol import Sampling as Sampling
from agentgym_train.generator_protocol import Session as Session

if TYPE_CHECKING:
    from torch import Tensor

    from agentgym_envs.pool import Description
    from agentgym_train.config import Config
    from agentgym_train.data.batching import Batch, Forward
    from agentgym_train.data.types import Failure, Group, Trajectory
    from agentgym_train.distributed import Distributed
    from agentgym_train.models.chat import Chat

STREAMS = {
    "reference": "log-probabilities under the initial policy",
    "old": (
        "log-probabilities under the policy before the update, computed by the trainer and not by"
        " the generator"
    ),
    "value": (
        "estimates of the return by a critic before the update; the loss gets ``forward.value_BT``,"
        " with gradient"
    ),
    "next_value": (
        "the critic's estimate of the return after the last action of an episode that was truncated"
        ' at the horizon, on the last action token; needs "value" too'
    ),
    "entropy": "no stream: the loss gets ``forward.bonus_BT``, an entropy with gradient",
}
"""The streams that an algorithm can require, and their contents."""


class AlgorithmPlugin(ABC):
    """The options of an algorithm."""

    @abstractmethod
    def build(self) -> Algorithm:
        """Returns the algorithm of a run."""


class Algorithm(AlgorithmPlugin):
    """Computes advantages and a loss.

    ``algorithms.policy_gradient.PolicyGradient`` is a base class for most algorithms.
    """

    whole_groups: ClassVar[bool] = False
    """The loss couples the trajectories of a group, so they must be in one micro-batch."""
    group_size: ClassVar[int | None] = None
    """The number of episodes per group that the algorithm needs; None: any number from
    ``min_group_size`` on."""
    min_group_size: ClassVar[int] = 1
    """The smallest number of episodes per group from which the algorithm learns: 2 if it compares
    the episodes of a group. A run with smaller groups is refused before any work."""
    per_weight: ClassVar[Collection[str]] = frozenset()
    """Logged sums that are divided by ``weight``, as the loss is.

    All other sums are divided by the number of action tokens.
    """

    def build(self) -> Self:
        """Returns itself: an algorithm keeps no state."""
        return self

    @property
    def required_streams(self) -> Collection[str]:
        """Keys of :data:`STREAMS` to fill before ``compute_advantages``; none by default."""
        return ()

    @abstractmethod
    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Returns the batch with the streams that ``loss`` reads, usually "advantage".

        All processes call it, each with its groups; ``distributed`` sums over processes.
        ``batch.episode_B`` numbers the trajectories of ``groups`` in order.
        """

    @abstractmethod
    def weight(self, batch: Batch) -> float:
        """Returns this process's part of the divisor of the loss: tokens, trajectories or pairs.

        The trainer sums it over processes. A mini-batch of weight 0 is skipped.
        """

    def zero_loss_B(self, batch: Batch) -> Tensor:
        """Returns which trajectories have a loss of 0 under any policy, as bool of shape (B,).

        The trainer calls it after ``compute_advantages``. It runs no forward and no backward pass
        for these trajectories. Their weight still counts. By default there are none.
        """
        import torch

        return torch.zeros(len(batch.group_B), dtype=torch.bool)

    @abstractmethod
    def loss(self, forward: Forward, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the summed loss of a micro-batch, and sums to log.

        The loss must depend on ``forward.logp_BT``, and on ``forward.value_BT`` if "value" is
        required. That holds for an idle micro-batch too: every process runs the same number of
        micro-batches.
        """


class CurriculumPlugin(ABC):
    """The options of a curriculum."""

    @abstractmethod
    def build(self) -> Curriculum:
        """Returns a curriculum with the state of a new run."""


class Curriculum(CurriculumPlugin):
    """Sets the horizon of a step, and can choose its tasks.

    The defaults fit a curriculum that depends only on the step.
    """

    def build(self) -> Curriculum:
        """Returns itself: a curriculum that depends only on the step has no state."""
        return self

    @abstractmethod
    def horizon(self, step: int) -> int:
        """Returns the number of turns that an episode may take at a step (counted from 0).

        Must not change the state.
        """

    def difficulties(self, step: int) -> tuple[int, int] | None:
        """Returns the lowest and the highest difficulty of a step's tasks (counted from 0).

        None: all tasks. Must not change the state.
        """
        return None

    def observe(self, metrics: Mapping[str, float]) -> None:
        """Receives the metrics of each step; ignored by default."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a resumed run needs, as JSON data; empty by default."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned; does nothing by default."""


@dataclass(frozen=True)
class RunContext:
    """The parts of a run, in one process, from which sources and scorers are built."""

    config: Config
    distributed: Distributed
    generator: Generator
    chat: Chat
    training: Description
    """The training environment, its tasks and their difficulties."""
    groups: Sequence[int]
    """The numbers of the environment's groups in a step, over all processes."""
    difficulties: Callable[[int], tuple[int, int] | None]
    """Difficulty range of a step's tasks, from the curriculum; None: all tasks."""
    playing: Callable[[int], Collection[int]] | None = None
    """The numbers of the groups of a step, from ``env.tokens_per_step``; None: all."""

    def plays(self, number: int, step: int) -> bool:
        """Returns whether a group is part of a step (counted from 0)."""
        return self.playing is None or number in self.playing(step)

    @property
    def mine(self) -> dict[int, int]:
        """This process's group numbers in a step, each with its position in ``groups``.

        The number of a group decides which process has it.
        """
        places = enumerate(self.groups)
        size, rank = self.distributed.size, self.distributed.rank
        return {number: place for place, number in places if number % size == rank}


class Source(ABC):
    """Provides the episodes of a step.

    They depend on the run's seed, the step and the policy only.

    With ``rollout.ahead``, ``next`` runs in another thread while the policy learns. It therefore
    uses no collective operation and no global random numbers.
    """

    @property
    def failures(self) -> Sequence[Failure]:
        """Environment failures of the latest step; none by default. A failure is never a reward."""
        return ()

    @abstractmethod
    def next(self, step: int, horizon: int) -> list[Group]:
        """Returns this process's groups of a step (counted from 0).

        Group numbers are unique over all processes.

        A group that the policy did not just play is marked ``from_dataset``: it does not count in
        the policy's success rate.

        Args:
            step: the step, from 0.
            horizon: the number of turns that an episode may take.
        """

    def close(self) -> None:
        """Ends everything that the source started; nothing by default.

        After an error of the run, ``next`` can still be running in another thread. Its result is
        not used.
        """


class SourcePlugin(ABC):
    """The options of a source."""

    def check(self, config: Config, training: Description) -> None:
        """Raises an error if the source cannot provide episodes for this configuration.

        The trainer calls it before any work.
        """

    def group_sizes(self, config: Config) -> Collection[int] | None:
        """Returns every possible number of episodes per group, failed episodes included.

        None: unknown.
        """
        return None

    @abstractmethod
    def build(self, context: RunContext) -> Source:
        """Returns the source of one process."""


class ScorerPlugin(ABC):
    """The options of a scorer."""

    learned: ClassVar[bool] = False
    """The score comes from a trained model.

    The metrics then include the KL divergence from the initial policy.
    """

    def check(self, config: Config, training: Description) -> None:
        """Raises an error if the scorer cannot work with this configuration.

        The trainer calls it before any work.
        """

    @abstractmethod
    def build(self, context: RunContext) -> Scorer:
        """Returns the scorer of one process."""


class Scorer(ScorerPlugin):
    """Changes the rewards of episodes before the update.

    Scores and successes stay the environment's.
    """

    def build(self, context: RunContext) -> Scorer:
        """Returns itself: a scorer without state is its own options."""
        return self

    @abstractmethod
    def score(self, groups: Sequence[Group]) -> list[Group]:
        """Returns this process's groups of a step with new rewards.

        The groups are new objects (see ``scorers.rewards.rewarded``). Equal groups get equal
        rewards at any time. An exception stops the run, since a default reward would be wrong.
        """


class Tracker(ABC):
    """Shows a run in another program. Only the main process calls it."""

    @abstractmethod
    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Receives the metrics of a step (counted from 1) and a few of its episodes."""

    def finish(self) -> None:
        """Writes all pending data; nothing by default."""


class TrackerPlugin(ABC):
    """The options of a tracker."""

    @abstractmethod
    def build(self, config: Mapping[str, Any], folder: Path) -> Tracker:
        """Starts or resumes a tracked run.

        Args:
            config: the run's configuration as plain data.
            folder: the run folder.
        """
