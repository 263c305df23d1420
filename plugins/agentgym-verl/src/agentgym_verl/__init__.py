"""Trains in AgentGym environments with verl."""

from agentgym_verl.loop import AgentGymLoop
from agentgym_verl.rows import rows

__all__ = ["AgentGymLoop", "rows"]
