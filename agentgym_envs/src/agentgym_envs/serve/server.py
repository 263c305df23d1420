"""Puts the server together: the sessions of each id, and the protocols."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs import __version__
from agentgym_envs.errors import ArgumentError
from agentgym_envs.serve.agentgym import AgentGym
from agentgym_envs.serve.app import App, Part
from agentgym_envs.serve.families import family_of
from agentgym_envs.serve.limits import Limits
from agentgym_envs.serve.mcp_server import Mcp
from agentgym_envs.serve.metrics import Metrics
from agentgym_envs.serve.openenv import OpenEnv
from agentgym_envs.serve.rate import Rate
from agentgym_envs.serve.sessions import Sessions


def make_app(
    env_ids: Sequence[str],
    *,
    limits: Limits,
    workers: int | None = None,
    keywords: Mapping[str, Any],
) -> App:
    """Returns the server's application.

    Args:
        env_ids: registered ids, or other forms of :func:`agentgym_envs.registry.spec`.
        limits: see :class:`Limits`.
        workers: processes per id.
        keywords: constructor keywords of every environment.

    Raises:
        ArgumentError: an id is named twice.
    """
    if len(set(env_ids)) < len(env_ids):
        raise ArgumentError(f"env_ids={list(env_ids)}: name each id once")
    metrics = Metrics()
    served = [
        Sessions(env_id, limits=limits, metrics=metrics, workers=workers, keywords=keywords)
        for env_id in env_ids
    ]
    families = [
        (family, sessions)
        for sessions in served
        if (family := family_of(sessions.name, keywords)) is not None
    ]
    rate = Rate(limits.rate) if limits.rate else None
    parts: list[Part] = [
        AgentGym(families),
        OpenEnv(served, limits=limits, metrics=metrics, rate=rate, version=__version__),
        Mcp(served, limits=limits, version=__version__),
    ]
    return App(served, parts, limits=limits, metrics=metrics, rate=rate)
