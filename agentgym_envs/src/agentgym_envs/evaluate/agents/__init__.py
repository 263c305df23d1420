"""Agents of an evaluation: models with several strategies, random play, the oracle, and your agents."""

from agentgym_envs.evaluate.agents.base import ASK_ORACLE, Agent, Ending, Opening, load

__all__ = ["ASK_ORACLE", "Agent", "Ending", "Opening", "load"]
