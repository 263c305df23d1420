"""Wrappers for any text environment."""

from agentgym_envs.wrappers.action_format import ActionFormat
from agentgym_envs.wrappers.formats import FORMATS, Format, FormatError

__all__ = ["FORMATS", "ActionFormat", "Format", "FormatError"]
