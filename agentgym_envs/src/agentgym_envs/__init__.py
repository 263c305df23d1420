"""A Gymnasium suite of text environments. Importing it registers the ids and loads no environment."""

from typing import Any

from agentgym_envs.core import Outcome, TextEnv
from agentgym_envs.registry import register_all
from agentgym_envs.tasks import Task, TaskSet

__all__ = ["Outcome", "Task", "TaskSet", "TextEnv", "suites"]
__version__ = "0.1.0"

register_all()


def __getattr__(name: str) -> Any:
    """Loads the named task lists when they are asked for: they know the families' tasks."""
    if name == "suites":
        from agentgym_envs.suite import suites

        return suites
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
