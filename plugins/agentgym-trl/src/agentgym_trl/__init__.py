"""Trains in AgentGym environments with TRL's ``GRPOTrainer``."""

from agentgym_trl.rollouts import Rollouts

__all__ = ["Rollouts"]
