"""The environments of the samples: one pool per environment, shared by all samples."""

import asyncio

from inspect_ai.hooks import Hooks, RunEnd, hooks

from agentgym_envs.evaluate.plan import EvalEnv
from agentgym_envs.pool import SharedPool

_pools: dict[tuple[asyncio.AbstractEventLoop, int, str], SharedPool] = {}


def shared_pool(env: EvalEnv, action_format: str) -> SharedPool:
    """Returns the pool of an environment of a plan in the running event loop."""
    key = (asyncio.get_running_loop(), id(env), action_format)
    if key not in _pools:
        _pools[key] = SharedPool(env.env_id, action_format=action_format, **env.kwargs)
    return _pools[key]


@hooks("agentgym_environments", "Ends the environments of AgentGym after a run.")
class EndEnvironments(Hooks):
    """Ends the environments after a run."""

    async def on_run_end(self, data: RunEnd) -> None:
        """Closes the pools of this event loop."""
        loop = asyncio.get_running_loop()
        for key in [key for key in _pools if key[0] is loop]:
            await _pools.pop(key).close()
