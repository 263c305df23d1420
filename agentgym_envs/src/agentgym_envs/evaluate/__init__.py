"""Evaluation: any agent on any environment or suite, recorded episode by episode."""

from agentgym_envs.evaluate.frames import Frames, Results, read, read_rows

__all__ = ["Frames", "Results", "read", "read_rows"]
