"""The checks in their order, those that start no simulator first."""

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing import episodes, form, hostile, processes
from agentgym_envs.testing.subject import Subject

_ID = re.compile(r"([\w.]+:)?([\w-]+/)?[\w.-]+-v\d+")
_CHECKS: Sequence[Callable[[Subject], None]] = (
    form.spec_and_spaces,
    form.methods,
    form.splits,
    form.gymnasium_check,
    episodes.info_and_reward,
    episodes.walks,
    form.tools,
    episodes.render,
    episodes.named_tasks,
    episodes.oracle,
    episodes.end,
    hostile.hostility,
    processes.determinism,
    processes.vector,
    processes.leftovers,
)


def check_text_env(env_id: str, **kwargs: Any) -> list[str]:
    """Checks everything that the contract promises.

    Args:
        env_id: a registered id with its version, or "module:id".
        **kwargs: constructor keywords, JSON-able.

    Returns:
        One line for each property that holds.

    Raises:
        UnknownName: no such id.
        ConformanceError: the first property that does not hold, with what was seen.
    """
    _check_id(env_id)
    registry.spec(env_id)
    subject = Subject(env_id, kwargs)
    held = []
    try:
        for check in _CHECKS:
            try:
                check(subject)
            except ConformanceError as error:
                raise ConformanceError(f"{env_id}: {_title(check)}: {error}") from error
            except Exception as error:
                raise ConformanceError(f"{env_id}: {_title(check)}: {type(error).__name__}: {error}") from error
            held.append(_title(check))
    finally:
        subject.close()
    return held


def _check_id(env_id: str) -> None:
    if _ID.fullmatch(env_id):
        return
    near = difflib.get_close_matches(env_id.rpartition(":")[2], gymnasium.registry, n=1, cutoff=0.4)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    raise ConformanceError(f"{env_id!r} is not an id with a version, such as 'namespace/Name-v0'{hint}")


def _title(check: Callable[..., None]) -> str:
    return (check.__doc__ or "").strip().rstrip(".")
