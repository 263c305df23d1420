"""A Gymnasium suite of text environments. Importing it registers the ids and loads no environment."""

from agentgym_envs.core import Outcome, TextEnv
from agentgym_envs.registry import register_all
from agentgym_envs.suite import suites
from agentgym_envs.tasks import Task, TaskSet

__all__ = ["Outcome", "Task", "TaskSet", "TextEnv", "suites"]
__version__ = "0.1.0"

register_all()
