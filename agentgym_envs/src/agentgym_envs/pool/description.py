"""What an environment says of itself, asked in a worker: a constructor that hangs or exits is an error like any other."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from agentgym_envs.pool.pool import EnvPool


class Description(NamedTuple):
    """What is known of an environment before its first episode."""

    instructions: str
    """The rules, and those of the action format, as a system prompt; may be empty."""
    task_ids: list[str] | None
    """The tasks of its split; None where it lists none."""
    difficulties: list[int] | None
    """Of each of them."""
    tools: dict[str, str]
    """Functions that write an action: see :class:`agentgym_envs.TextEnv`."""
    text_env: bool
    """It keeps our contract, and so has an oracle; otherwise it is a plain Gymnasium environment."""
    seats: Sequence[str] = ()
    """That its actions are for, in the games that it is a seat or several of; empty where there is no other agent."""

    @property
    def several(self) -> Sequence[str]:
        """Returns the seats that are asked one after the other; none where there is one."""
        return self.seats if len(self.seats) > 1 else ()


def describe(env_id: str, *, action_format: str | None = None, **kwargs: Any) -> Description:
    """Constructs an environment and asks it, within :class:`EnvPool`'s ``start_timeout``.

    Args:
        env_id: a registered id, or "module:id".
        action_format: see :class:`EnvPool`.
        **kwargs: for :class:`EnvPool`.

    Raises:
        UnknownName: no such id.
        BrokenPlugin: its package is broken.
        ArgumentError: a keyword that it does not take.
        TaskError: a task filter that selects nothing.
        EnvFailure: the constructor raised, hung or ended the process.
    """
    with EnvPool(env_id, 1, action_format=action_format, **kwargs) as pool:
        pool.ask_description(0)
        (result,) = pool.recv()
        result.check()
        return Description(**result.info or {})
