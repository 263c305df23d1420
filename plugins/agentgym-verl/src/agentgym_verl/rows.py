"""Rows of a data set for verl."""

from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.pool import describe


def rows(target: str, count: int | None = None, **kwargs: Any) -> list[dict[str, Any]]:
    """Returns the rows of a data set, in the order of the environment's tasks.

    Args:
        target: a registered id, or "module:id".
        count: number of rows; by default one per task.
        **kwargs: keywords of the environment; the agent loop needs the same.

    Raises:
        ArgumentError: no number, and the environment lists no tasks.
        AgentGymError: the environment cannot be made.
    """
    ids = describe(target, **kwargs).task_ids
    if not (count or ids):
        raise ArgumentError(f"{target} lists no tasks: give rows a number")
    # verl drops rows with a long prompt. The first observation replaces this one.
    fixed = {
        "data_source": target,
        "agent_name": "agentgym",
        "prompt": [{"role": "user", "content": ""}],
        "reward_model": {"style": "rule", "ground_truth": ""},
    }
    return [
        fixed | {"extra_info": {"index": n, "task_id": ids[n % len(ids)] if ids else None}}
        for n in range(count or len(ids or ()))
    ]
