"""Who acts in an evaluation: models in several manners, random play, the oracle, and agents of yours."""

from agentgym_envs.evaluate.agents.base import ASK_ORACLE, Agent, Ending, Opening, load

__all__ = ["ASK_ORACLE", "Agent", "Ending", "Opening", "load"]
