"""The conformance kit: :func:`check_text_env` proves that an environment keeps the contract of ``agentgym_envs.core``.

:func:`check_text_parallel_env` proves that a game keeps that of ``agentgym_envs.multi.game``, for
all of its seats.

Plugin authors run it in one line of a test; the built-in environments pass the same checks.
"""

from agentgym_envs.testing.kit import check_text_env, check_text_parallel_env
from agentgym_envs.testing.transcripts import transcript

__all__ = ["check_text_env", "check_text_parallel_env", "transcript"]
