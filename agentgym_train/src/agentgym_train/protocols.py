"""The base classes of plugins.

All kinds follow one pattern: a plugin is one class. It inherits from ``Algorithm``,
``Curriculum``, ``Generator`` (which starts a ``GeneratorSession``), ``Source``, ``Scorer`` or
``Tracker``. An entry point names it, or its place: "module:Class" or "./file.py:Class" (see
``plugins.py``).

Its options are the fields of a frozen dataclass. They are keys of the configuration file, and an
unknown key is an error. A plugin without state is this dataclass itself. A plugin with state has a
nested dataclass ``Options``; its constructor gets the options and the parts of the run that
``build`` names.

The class methods ``check`` and ``group_sizes`` get the options before any work. The class method
``build`` makes the object of a run from the options. A method without ``@abstractmethod`` is a
hook: override it only if its default does not fit.

This module imports no torch; types that need it are imported for type checkers only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from agentgym_train.generator_protocol import ActionSample as ActionSample
from agentgym_train.generator_protocol import Generator as Generator
from agentgym_train.generator_protocol import GeneratorContext as GeneratorContext
from agentgym_train.generator_protocol import GeneratorSession as GeneratorSession
from agentgym_train.generator_protocol import SamplingOptions as SamplingOptions

if TYPE_CHECKING:
    from torch import Tensor

    from agentgym_envs.pool import EnvDescription
    from agentgym_train.config import Config
    from agentgym_train.data.batching import Batch, ForwardOutput
    from agentgym_train.data.types import EpisodeFailure, Group, Trajectory
    from agentgym_train.distributed import Distributed
    from agentgym_train.models.chat import ChatTokens

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


class Algorithm(ABC):
    """Computes advantages and a loss.

    ``algorithms.policy_gradient.PolicyGradient`` is a base class for most algorithms.
    """

    Options: ClassVar[Any] = None
    """The dataclass of the options; None: the class itself has them."""
    whole_groups: ClassVar[bool] = False
    """The loss couples the episodes of a group, so they must be in one micro-batch."""
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

    @classmethod
    def build(cls, options: Any) -> Self:
        """Returns the algorithm of a run: its options, or an object that is made of them."""
        return options if isinstance(options, cls) else cls(options)  # type: ignore[call-arg]

    @property
    def whole_episodes(self) -> bool:
        """Whether the loss couples the samples of an episode; then one micro-batch has all of them.

        False by default: the loss is a sum over tokens.
        """
        return False

    @property
    def required_streams(self) -> Collection[str]:
        """Keys of :data:`STREAMS` to fill before ``compute_advantages``; none by default."""
        return ()

    @abstractmethod
    def compute_advantages(
        self, batch: Batch, groups: Sequence[Group], distributed: Distributed
    ) -> Batch:
        """Returns the batch with the streams that ``loss`` reads, usually "advantage".

        All processes call it, each with its groups; ``distributed`` sums over processes. A row of
        the batch is a whole episode: the tokens of all its samples, in order of time.
        ``batch.episode_B`` numbers the trajectories of ``groups`` in order. All other methods get
        one row per sample.
        """

    @abstractmethod
    def weight(self, batch: Batch) -> float:
        """Returns this process's part of the divisor of the loss: tokens, episodes or pairs.

        The trainer sums it over processes. A mini-batch of weight 0 is skipped. An episode can have
        several rows; its weight does not depend on their number.
        """

    def zero_loss_B(self, batch: Batch) -> Tensor:
        """Returns which rows have a loss of 0 under any policy, as bool of shape (B,).

        The trainer calls it after ``compute_advantages``. It runs no forward and no backward pass
        for these rows. Their weight still counts. By default there are none.
        """
        import torch

        return torch.zeros(len(batch.group_B), dtype=torch.bool)

    @abstractmethod
    def loss(self, forward: ForwardOutput, micro: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Returns the summed loss of a micro-batch, and sums to log.

        A row is a sample. The loss of an episode must not depend on the samples that it was cut
        into: sum over tokens, and divide by ``micro.episode_tokens_B`` for a mean over an episode.
        The loss must depend on ``forward.logp_BT``, and on ``forward.value_BT`` if "value" is
        required. That holds for an idle micro-batch too: every process runs the same number of
        micro-batches.
        """


class Curriculum(ABC):
    """Sets the horizon of a step, and can choose its tasks.

    The defaults fit a curriculum that depends only on the step.
    """

    Options: ClassVar[Any] = None
    """The dataclass of the options; None: the class itself has them."""

    @classmethod
    def build(cls, options: Any) -> Curriculum:
        """Returns a curriculum with the state of a new run.

        It is the options themselves, or an object that is made of them.
        """
        return options if isinstance(options, cls) else cls(options)  # type: ignore[call-arg]

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
class StepPlan:
    """The decisions about a step of one environment, made before its episodes are collected."""

    step: int
    """Counted from 0."""
    horizon: int
    """The number of turns that an episode may take."""
    groups: Sequence[int]
    """The numbers of the step's groups, over all processes: all of ``RunContext.groups``, or the
    part that ``env.tokens_per_step`` allows."""
    difficulties: tuple[int, int] | None = None
    """The lowest and the highest difficulty of the step's tasks; None: all tasks."""


@dataclass(frozen=True)
class RunContext:
    """The parts of a run, in one process, from which sources and scorers are built."""

    config: Config
    distributed: Distributed
    generator: Generator
    chat: ChatTokens
    training: EnvDescription
    """The training environment, its tasks and their difficulties."""
    groups: Sequence[int]
    """The numbers of the environment's groups, over all processes."""
    algorithm: Algorithm

    @property
    def mine(self) -> dict[int, int]:
        """This process's group numbers, each with its position in ``groups``.

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

    Options: ClassVar[Any] = None
    """The dataclass of the options; None: there are none."""

    @classmethod
    def check(cls, options: Any, config: Config, training: EnvDescription) -> None:
        """Raises an error if the source cannot provide episodes for this configuration.

        The trainer calls it before any work.
        """

    @classmethod
    def group_sizes(cls, options: Any, config: Config) -> Collection[int] | None:
        """Returns every possible number of episodes per group, failed episodes included.

        None: unknown.
        """
        return None

    @classmethod
    def build(cls, options: Any, context: RunContext) -> Source:
        """Returns the source of one process."""
        return cls(options, context)  # type: ignore[call-arg]

    @property
    def failures(self) -> Sequence[EpisodeFailure]:
        """Environment failures of the latest step; none by default. A failure is never a reward."""
        return ()

    @abstractmethod
    def next(self, plan: StepPlan) -> list[Group]:
        """Returns this process's groups of a step: those of ``RunContext.mine`` in ``plan.groups``.

        A group that the policy did not just play is marked ``from_dataset``: it does not count in
        the policy's success rate.
        """

    def close(self) -> None:
        """Ends everything that the source started; nothing by default.

        After an error of the run, ``next`` can still be running in another thread. Its result is
        not used.
        """


class Scorer(ABC):
    """Changes the rewards of episodes before the update.

    Scores and successes stay the environment's.
    """

    Options: ClassVar[Any] = None
    """The dataclass of the options; None: the class itself has them."""
    learned: ClassVar[bool] = False
    """The score comes from a trained model.

    The metrics then include the KL divergence from the initial policy.
    """

    @classmethod
    def check(cls, options: Any, config: Config, training: EnvDescription) -> None:
        """Raises an error if the scorer cannot work with this configuration.

        The trainer calls it before any work.
        """

    @classmethod
    def build(cls, options: Any, context: RunContext) -> Scorer:
        """Returns the scorer of one process: its options, or an object that is made of them."""
        if isinstance(options, cls):
            return options
        return cls(options, context)  # type: ignore[call-arg]

    @abstractmethod
    def score(self, groups: Sequence[Group]) -> list[Group]:
        """Returns this process's groups of a step with new rewards.

        The groups are new objects (see ``scorers.rewards.rewarded``). Equal groups get equal
        rewards at any time. An exception stops the run, since a default reward would be wrong.
        """


class Tracker(ABC):
    """Shows a run in another program. Only the main process calls it."""

    Options: ClassVar[Any] = None
    """The dataclass of the options; None: there are none."""

    @classmethod
    def build(cls, options: Any, config: Mapping[str, Any], folder: Path) -> Tracker:
        """Starts or resumes a tracked run.

        Args:
            options: the options.
            config: the run's configuration as plain data.
            folder: the run folder.
        """
        return cls(options, config, folder)  # type: ignore[call-arg]

    @abstractmethod
    def log(self, step: int, metrics: Mapping[str, float], episodes: Sequence[Trajectory]) -> None:
        """Receives the metrics of a step (counted from 1) and a few of its episodes."""

    def finish(self) -> None:
        """Writes all pending data; nothing by default."""
