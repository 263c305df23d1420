"""The conformance kit: checks that environments and games keep their contract.

:func:`check_text_env` checks an environment against the contract of ``agentgym_envs.core``.
:func:`check_text_parallel_env` checks all seats of a game against that of
``agentgym_envs.multi.game``.

Plugin authors call either function in one line of a test. The built-in environments pass the same
checks.
"""

from agentgym_envs.testing.kit import check_text_env, check_text_parallel_env
from agentgym_envs.testing.transcripts import transcript

__all__ = ["check_text_env", "check_text_parallel_env", "transcript"]
