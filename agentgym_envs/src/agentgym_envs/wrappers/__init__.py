"""Wrappers for any text environment."""

from agentgym_envs.wrappers.action_format import ActionFormat
from agentgym_envs.wrappers.formats import FORMATS, ResponseFormat
from agentgym_envs.wrappers.responses import FormatError

__all__ = ["FORMATS", "ActionFormat", "FormatError", "ResponseFormat"]
