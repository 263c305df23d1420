"""The solver that plays an episode."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError

from agentgym_envs.evaluate.plan import EvalEnv, PlannedEpisode
from agentgym_envs.pool import AsyncEnvPool, PoolResult
from agentgym_envs.scores import above
from agentgym_envs.wrappers import FORMATS
from agentgym_inspect.pools import shared_pool

OUTCOME = "agentgym"
"""The key of a sample's outcome in its store; there is none after a failure."""


@solver
def play(items: Mapping[str, PlannedEpisode], action_format: str) -> Solver:
    """Plays the episode of a sample until it ends or the model has no room for more.

    A failure of the environment or of the model's server is an error of the sample.

    Args:
        items: the episodes by the ids of samples.
        action_format: a key of ``agentgym_envs.wrappers.FORMATS``.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        item = items[str(state.sample_id)]
        async with shared_pool(item.env, action_format).environment() as (pool, number):
            result = _checked(await pool.reset(number, **item.start))
            state.messages = _opening(item.env, action_format, result.observation)
            _note(state, result, 0.0, "limit")  # of Inspect, if it stops the sample
            try:
                return await _turns(state, generate, pool, number)
            except LimitExceededError:
                raise  # the episode counts as far as it was played
            except Exception:
                state.store.delete(OUTCOME)
                raise

    return solve


async def _turns(
    state: TaskState, generate: Generate, pool: AsyncEnvPool, number: int
) -> TaskState:
    total = 0.0
    while True:
        state = await generate(state)
        if state.output.stop_reason == "model_length":
            state.store.set(OUTCOME, state.store.get(OUTCOME) | {"end": "context"})
            return state
        result = _checked(await pool.send(number, state.output.completion))
        total += result.reward
        end = "terminated" if result.terminated else "truncated" if result.truncated else ""
        _note(state, result, total, end or "limit")
        state.messages.append(ChatMessageUser(content=result.observation))
        if end:
            state.completed = True
            return state


def _opening(env: EvalEnv, action_format: str, observation: str) -> list[ChatMessage]:
    rules = (env.instructions, FORMATS[action_format](env.tools).describe())
    head = "\n\n".join(filter(None, rules))
    system: list[ChatMessage] = [ChatMessageSystem(content=head)] if head else []
    return [*system, ChatMessageUser(content=observation)]


def _note(state: TaskState, result: PoolResult, total: float, end: str) -> None:
    """Notes the outcome so far, for a sample that Inspect stops at a limit."""
    info: dict[str, Any] = result.info or {}
    success = bool(info.get("success", result.terminated and above(total, 0.0)))
    outcome = {"success": success, "score": float(info.get("score", total)), "end": end}
    state.store.set(OUTCOME, outcome)


def _checked(result: PoolResult) -> PoolResult:
    result.check()
    return result
