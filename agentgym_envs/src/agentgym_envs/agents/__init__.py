"""Agents: models, random play, the oracle, and agents of plugins."""

from agentgym_envs.agents.base import (
    ASK_ORACLE,
    Agent,
    AgentFactory,
    EpisodeEnding,
    EpisodeOpening,
    load,
    open_episode,
)

__all__ = [
    "ASK_ORACLE",
    "Agent",
    "AgentFactory",
    "EpisodeEnding",
    "EpisodeOpening",
    "load",
    "open_episode",
]
