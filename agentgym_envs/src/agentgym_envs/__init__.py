"""A Gymnasium suite of text environments.

Importing it registers the ids and loads no environment.
"""

import sys
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, Tool
from agentgym_envs.errors import MissingExtra
from agentgym_envs.platforms import check_platform
from agentgym_envs.registry import register_all
from agentgym_envs.tasks import Task, TaskSet

__all__ = [
    "Outcome",
    "Task",
    "TaskSet",
    "TextEnv",
    "TextGame",
    "Tool",
    "make_aec",
    "make_parallel",
    "suites",
]
__version__ = "0.1.0"

check_platform(sys.platform)
register_all()


def __getattr__(name: str) -> Any:
    """Imports slow modules on first use."""
    if name == "suites":
        from agentgym_envs.evaluate.suites import suites

        return suites
    if name == "TextGame":
        from agentgym_envs.multi import TextGame

        return TextGame
    if name in ("make_aec", "make_parallel"):
        try:
            from agentgym_envs.multi import zoo
        except ModuleNotFoundError as error:
            if error.name != "pettingzoo":
                raise
            raise MissingExtra(f"agentgym_envs.{name}", "multi") from error
        return getattr(zoo, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
