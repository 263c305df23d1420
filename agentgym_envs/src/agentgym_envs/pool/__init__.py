"""EnvPool: many environments in few processes, with failures kept apart from rewards."""

from agentgym_envs.pool.asynchronous import AsyncEnvPool
from agentgym_envs.pool.description import Description, describe
from agentgym_envs.pool.pool import EnvPool
from agentgym_envs.pool.result import Result

__all__ = ["AsyncEnvPool", "Description", "EnvPool", "Result", "describe"]
