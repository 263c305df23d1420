"""Puts the server together: the sessions of each id, and the protocols."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs import __version__
from agentgym_envs.errors import ArgumentError
from agentgym_envs.serve.agentgym import AgentGymProtocol
from agentgym_envs.serve.app import AsgiApp, ServedProtocol
from agentgym_envs.serve.families import family_of
from agentgym_envs.serve.limits import ServerLimits
from agentgym_envs.serve.mcp_server import McpProtocol
from agentgym_envs.serve.metrics import ServerMetrics
from agentgym_envs.serve.openenv import OpenEnvProtocol
from agentgym_envs.serve.rate import RateLimit
from agentgym_envs.serve.sessions import EnvSessions


def make_app(
    env_ids: Sequence[str],
    *,
    limits: ServerLimits,
    workers: int | None = None,
    keywords: Mapping[str, Any],
) -> AsgiApp:
    """Returns the server's application.

    Args:
        env_ids: registered ids, or other forms of :func:`agentgym_envs.registry.spec`.
        limits: see :class:`ServerLimits`.
        workers: processes per id.
        keywords: constructor keywords of every environment.

    Raises:
        ArgumentError: an id is named twice.
    """
    if len(set(env_ids)) < len(env_ids):
        raise ArgumentError(f"env_ids={list(env_ids)}: name each id once")
    metrics = ServerMetrics()
    served = [
        EnvSessions(env_id, limits=limits, metrics=metrics, workers=workers, keywords=keywords)
        for env_id in env_ids
    ]
    families = [
        (family, sessions)
        for sessions in served
        if (family := family_of(sessions.name, keywords)) is not None
    ]
    rate = RateLimit(limits.rate) if limits.rate else None
    parts: list[ServedProtocol] = [
        AgentGymProtocol(families),
        OpenEnvProtocol(served, limits=limits, metrics=metrics, rate=rate, version=__version__),
        McpProtocol(served, limits=limits, version=__version__),
    ]
    return AsgiApp(served, parts, limits=limits, metrics=metrics, rate=rate)
