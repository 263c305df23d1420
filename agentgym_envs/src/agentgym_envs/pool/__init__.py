"""EnvPool: many environments in a few processes. A failure is an error, never a reward."""

from typing import TYPE_CHECKING, Any

from agentgym_envs.pool.description import EnvDescription, describe
from agentgym_envs.pool.pool import EnvPool
from agentgym_envs.pool.result import PoolResult

if TYPE_CHECKING:
    from agentgym_envs.pool.asynchronous import AsyncEnvPool
    from agentgym_envs.pool.shared import SharedPool

__all__ = ["AsyncEnvPool", "EnvDescription", "EnvPool", "PoolResult", "SharedPool", "describe"]


def __getattr__(name: str) -> Any:
    """Imports on first use what a worker process does not need."""
    if name == "AsyncEnvPool":
        from agentgym_envs.pool.asynchronous import AsyncEnvPool

        return AsyncEnvPool
    if name == "SharedPool":
        from agentgym_envs.pool.shared import SharedPool

        return SharedPool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
