"""The results of an environment's step for one agent."""

from typing import NamedTuple

from agentgym_envs.pool import PoolResult
from agentgym_envs.scores import above


class StepResult(NamedTuple):
    """The results of a step for one agent."""

    reward: float
    invalid: bool
    score: float
    success: bool


def step_result(result: PoolResult, agent: str, total: float) -> StepResult:
    """Returns the results of a step for an agent.

    Args:
        result: the response of the environment. With several agents its ``info`` has the results by
            agent; see :class:`agentgym_envs.multi.env.SeatsEnv`.
        agent: empty in an environment with one agent.
        total: the agent's rewards before the step.
    """
    info = result.info or {}
    if agent:
        return StepResult(
            *(info[key][agent] for key in ("rewards", "invalids", "scores", "successes"))
        )
    total += result.reward
    success = bool(info.get("success", result.terminated and above(total, 0.0)))
    return StepResult(
        float(result.reward),
        bool(info.get("invalid", False)),
        float(info.get("score", total)),
        success,
    )
