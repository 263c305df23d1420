"""Evaluates and trains models in AgentGym environments with verifiers."""

from agentgym_verifiers.env import AgentGymEnv
from agentgym_verifiers.harness import AgentGymHarness
from agentgym_verifiers.taskset import AgentGymTaskset

# verifiers looks here for one class of each kind. The harness is the default of the taskset.
__all__ = ["AgentGymEnv", "AgentGymHarness", "AgentGymTaskset"]
