"""Registers AgentGym environments in skyrl-gym."""

from agentgym_skyrl.env import AgentGymEnv, register, rows

__all__ = ["AgentGymEnv", "register", "rows"]
