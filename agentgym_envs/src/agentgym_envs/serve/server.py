"""Puts the server together: the sessions of each id, and the protocols."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.serve.agentgym import AgentGym
from agentgym_envs.serve.app import App
from agentgym_envs.serve.families import family_of
from agentgym_envs.serve.limits import Limits
from agentgym_envs.serve.metrics import Metrics
from agentgym_envs.serve.sessions import Sessions


def make_app(
    env_ids: Sequence[str],
    *,
    limits: Limits,
    token: str | None = None,
    workers: int | None = None,
    keywords: Mapping[str, Any],
) -> App:
    """Returns the server's application.

    Args:
        env_ids: registered ids, or "module:id".
        limits: see :class:`Limits`.
        token: the clients' password; None: only clients on this machine.
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
    return App(served, [AgentGym(families)], limits=limits, metrics=metrics, token=token)
