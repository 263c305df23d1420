"""Evaluation: any agent on any environment or suite, recorded episode by episode."""

from agentgym_envs.evaluate.frames import ResultFrames, ResultTables, read, read_rows

__all__ = ["ResultFrames", "ResultTables", "read", "read_rows"]
