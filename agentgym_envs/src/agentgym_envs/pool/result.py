"""What the pool answers."""

from dataclasses import dataclass
from typing import Any

from agentgym_envs.errors import EnvFailure


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
        error: what failed, or None. Whoever trains must look at it first.
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
