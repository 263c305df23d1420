"""Evaluates models in AgentGym environments with Inspect AI."""

from agentgym_inspect.pools import EndEnvironments
from agentgym_inspect.scoring import interval, score, success
from agentgym_inspect.solver import play
from agentgym_inspect.tasks import environment, family, suite

__all__ = [
    "EndEnvironments",
    "environment",
    "family",
    "interval",
    "play",
    "score",
    "success",
    "suite",
]
