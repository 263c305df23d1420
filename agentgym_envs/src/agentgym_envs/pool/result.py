"""What the pool answers."""

from dataclasses import dataclass
from typing import Any

from agentgym_envs.errors import AgentGymError, ArgumentError, EnvFailure, TaskError

REFUSALS: dict[str, type[AgentGymError]] = {"ArgumentError": ArgumentError, "TaskError": TaskError}
"""What a reset raises that was asked for what cannot be: the caller's errors, by name."""


@dataclass(frozen=True)
class Result:
    """The answer to one request.

    Attributes:
        index: the environment, from 0 to ``num_envs - 1``.
        observation: the text; empty after an error.
        reward: 0.0 after a reset.
        terminated: the task is decided.
        truncated: a step limit of the environment was reached.
        info: see the contract.
        error: what failed, or None. Whoever trains must look at it first. Where a reset was asked for what the environment does not
            have, such as an unknown task id, the caller's error is its ``__cause__``.
        action: what :meth:`EnvPool.ask_oracle`, or :meth:`EnvPool.send` with ``bare``, handed to the environment; None in other
            answers, and where the oracle had nothing more to say and no step was taken.
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
            ArgumentError: the reset was asked for an unknown option.
            TaskError: the reset was asked for an unknown task id.
            EnvFailure: the environment failed.
        """
        if self.error is not None:
            raise self.error.__cause__ or self.error
