"""The base classes of generators; :mod:`agentgym_train.protocols` has those of other plugins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from agentgym_train.distributed import Distributed


@dataclass(frozen=True)
class ActionSample:
    """An action that a generator sampled for one row."""

    ids: list[int]
    """Token ids, a stop token at the end included."""
    logps: list[float]
    """One log-probability per token, in nats."""
    version: int
    """The ``version`` of the latest ``load``: optimizer steps of the sampling weights.

    It is 0 before the first ``load``.
    """


@dataclass(frozen=True)
class SamplingOptions:
    """Sampling options."""

    temperature: float
    max_new_tokens: int
    stop_ids: frozenset[int]


class GeneratorSession(ABC):
    """Episodes in progress, one per row.

    It keeps the state that makes continuing cheap, such as a key-value cache.

    A submitted row is polled before any other call for it, except ``close``.
    """

    @abstractmethod
    def submit(self, row: int, ids: Sequence[int]) -> None:
        """Appends token ids to a row and requests its next action.

        An action ends with a stop token, or at ``max_new_tokens``.
        """

    @abstractmethod
    def poll(self, timeout: float | None = None) -> dict[int, ActionSample]:
        """Returns the new samples by row.

        It blocks until at least one submitted row is sampled, or until the time is over. Without a
        submitted row it returns an empty dictionary at once.

        Args:
            timeout: time limit in seconds; None: no limit. A step of the model that has begun is
                finished.
        """

    @abstractmethod
    def restart(self, row: int) -> None:
        """Clears a row. Its sampling noise starts again."""

    def rewind(self, row: int, length: int) -> None:
        """Cuts a row back to its first ``length`` tokens; the next ``submit`` continues from there.

        The tokens are those of prompts and actions. The sampling noise goes on: the next action has
        the noise of the row's next turn. The next ``submit`` can have no ids if ``length`` is at
        least 1; the action then follows the prefix. A row that was never submitted has 0 tokens.

        A generator without this method works with agents whose conversations only grow.

        Raises:
            ValueError: ``length`` is negative, or the row has fewer tokens.
            ConfigError: the generator does not implement the method; this is the default.
        """
        # The contract's import is cheap; that of errors loads gymnasium.
        from agentgym_train.errors import ConfigError

        raise ConfigError(
            f"the generator cannot cut a conversation back: {type(self).__name__} has no method"
            " 'rewind', and the agent or the chat template drops or rewrites earlier messages."
            " Implement GeneratorSession.rewind(row, length), use the generator 'hf' or 'vllm', or"
            " use an agent and a template that only add messages"
        )

    def finish(self, row: int) -> None:
        """Ends a row: it will not be continued. Nothing by default."""

    def close(self) -> None:
        """Ends the session and aborts the actions in progress; nothing by default.

        No call follows, except another ``close``.
        """


class Generator(ABC):
    """Token ids in, token ids and log-probabilities out.

    A generator is built with the initial weights and can sample at once. It sleeps while the policy
    learns, except with ``rollout.ahead``: it then samples in another thread and never sleeps.
    Between ``sleep`` and ``load`` the trainer samples nothing.
    """

    Options: ClassVar[Any] = None
    """The dataclass of the options; None: there are none."""
    in_background: ClassVar[bool] = False
    """Whether sampling goes on between the calls of ``poll``.

    The collector then waits for environments only while nothing is sampled, and the clock decides
    which rows are sampled together. Several environments are collected at the same time, so each
    session can be used by another thread; they poll with a time limit. No session is in progress
    during ``load``.
    """

    @classmethod
    def check(cls, options: Any) -> None:
        """Raises an error if the generator cannot work on this machine.

        The trainer calls it before any work.
        """

    @classmethod
    def build(cls, options: Any, context: GeneratorContext) -> Generator:
        """Returns the generator of one process."""
        return cls(options, context)  # type: ignore[call-arg]

    @property
    def method_name(self) -> str:
        """How the history of a row is kept between turns, in a few words; empty by default.

        The first lines of a run and ``metrics.jsonl`` name it.
        """
        return ""

    @abstractmethod
    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Copies the policy's weights.

        Args:
            weights: (name, full tensor) pairs; a tied weight comes under one of its names or under
                both. The tensors belong to the policy, so they must be copied.
            version: optimizer steps of these weights.

        Raises:
            ModelError: a weight is unknown, has another shape, or is missing.
        """

    @abstractmethod
    def session(self, seeds: Sequence[int], sampling: SamplingOptions) -> GeneratorSession:
        """Starts one episode per seed, in rows 0, 1, ….

        The noise of a token is a function of three things only: its episode's seed, its turn
        (submits of the row since it started or was restarted), and its position in the turn. A
        rewind does not change the count of submits.
        """

    def sleep(self) -> None:
        """Frees the generator's memory; nothing by default. No session is in progress.

        The weights need not be kept.
        """

    def wake(self) -> None:
        """Prepares for ``load``, after which the generator samples as before.

        Nothing by default.
        """

    def close(self) -> None:
        """Frees everything that the generator holds, such as processes; nothing by default.

        No call follows, except another ``close``.
        """


@dataclass(frozen=True, kw_only=True)
class GeneratorContext:
    """The parts of a run, in one process, from which a generator is built."""

    model_folder: str
    """The model with the initial weights, in Hugging Face format: a folder or a hub name."""
    device: torch.device
    """The device of this process."""
    dtype: torch.dtype
    max_context: int
    """Maximum tokens of a row, its actions included."""
    max_rows: int
    """Maximum number of rows in progress at a time; 0: no limit. A row is in progress from its
    first ``submit`` to its ``finish``."""
    sampling: SamplingOptions
    """The options of the run's sessions."""
    seed: int
    """The seed of the run."""
    distributed: Distributed
    """The processes of the run; each builds a generator."""
