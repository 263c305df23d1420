"""Describes an environment from a worker process: a constructor that hangs or exits is an error."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from agentgym_envs.core import Tool
from agentgym_envs.pool.pool import EnvPool


class EnvDescription(NamedTuple):
    """Facts about an environment that are known before its first episode."""

    rules: str
    """The rules of the environment; can be empty."""
    task_ids: list[str] | None
    """The tasks of the split; None if the environment lists none."""
    difficulties: list[int] | None
    """The difficulty of each task."""
    tools: dict[str, str | Tool]
    """Tools by name: see :class:`agentgym_envs.TextEnv`."""
    text_env: bool
    """Whether it is a ``TextEnv``, with an oracle, or a plain Gymnasium environment."""
    seats: Sequence[str] = ()
    """The seats of a game that the actions are for; empty in an environment with one agent."""
    format_rules: str = ""
    """The rules of the action format; empty if a response is the action."""

    @property
    def instructions(self) -> str:
        """Both kinds of rules, as a system prompt; can be empty."""
        return "\n\n".join(filter(None, (self.rules, self.format_rules)))

    @property
    def several(self) -> Sequence[str]:
        """The seats, if there is more than one; otherwise empty."""
        return self.seats if len(self.seats) > 1 else ()


def describe(env_id: str, *, action_format: str | None = None, **kwargs: Any) -> EnvDescription:
    """Creates an environment in a worker and returns its description.

    The time limit is :class:`EnvPool`'s ``start_timeout``.

    Args:
        env_id: a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        action_format: see :class:`EnvPool`.
        **kwargs: for :class:`EnvPool`.

    Raises:
        UnknownName: no such id.
        BrokenPlugin: the environment's package is broken.
        ArgumentError: a keyword that the environment does not take.
        TaskError: a task filter that selects nothing.
        EnvFailure: the constructor raised, hung or ended the process.
    """
    with EnvPool(env_id, 1, action_format=action_format, **kwargs) as pool:
        pool.ask_description(0)
        (result,) = pool.recv()
        result.check()
        return EnvDescription(**result.info or {})
