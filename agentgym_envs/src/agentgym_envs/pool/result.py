"""The result of a request to the pool."""

from dataclasses import dataclass
from typing import Any

from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    EnvFailure,
    EnvRaised,
    EnvTimeout,
    NeighbourFailed,
    TaskError,
    WorkerDied,
)

REFUSALS: dict[str, type[AgentGymError]] = {"ArgumentError": ArgumentError, "TaskError": TaskError}
"""Errors of the caller that a reset can raise, by name."""

FAILURES: dict[str, type[EnvFailure]] = {
    kind.__name__: kind for kind in (EnvRaised, EnvTimeout, WorkerDied, NeighbourFailed)
}
"""Failures of a pool of worker processes, by name."""


@dataclass(frozen=True)
class PoolResult:
    """The answer to one request.

    Attributes:
        index: the environment, from 0 to ``num_envs - 1``.
        observation: the text; empty after an error.
        reward: the reward; 0.0 after a reset.
        terminated: the task is decided.
        truncated: a step limit of the environment was reached.
        info: see the contract.
        error: the failure, or None. A training loop must check it first. If the arguments of a
            reset
            were wrong (an unknown task id), the caller's error is its ``__cause__``.
        action: the action that :meth:`EnvPool.ask_oracle`, or :meth:`EnvPool.send` with ``bare``,
            passed
            to the environment. None after other requests, and if the oracle had no more actions, so
            that
            no step was taken.
    """

    index: int
    observation: str = ""
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any] | None = None
    error: EnvFailure | None = None
    action: str | None = None

    def check(self) -> None:
        """Raises the error, if there is one.

        Raises:
            ArgumentError: the reset had an unknown option.
            TaskError: the reset had an unknown task id.
            EnvFailure: the environment failed.
        """
        if self.error is not None:
            raise self.error.__cause__ or self.error


@dataclass(frozen=True)
class ForwardedResult(PoolResult):
    """A worker's answer that a host passes on without reading it.

    Attributes:
        rest: the JSON text after the answer's number. The other fields tell only whether it is a
            failure.
    """

    rest: bytes = b""
