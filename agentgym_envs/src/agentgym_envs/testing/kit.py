"""The checks in their order, those that start no simulator first."""

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing import episodes, form, hostile, processes
from agentgym_envs.testing.subject import Subject

S = TypeVar("S")
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
    try:
        return _run(_CHECKS, subject, env_id)
    finally:
        subject.close()


def check_text_parallel_env(game_id: str, **kwargs: Any) -> list[str]:
    """Checks a game with all of its seats; :func:`check_text_env` checks it as an environment of one.

    Args:
        game_id: a registered id with its version, or "module:id".
        **kwargs: the game's own keywords, JSON-able.

    Returns:
        One line for each property that holds.

    Raises:
        UnknownName: no such game.
        MissingExtra: PettingZoo is not installed.
        ConformanceError: the first property that does not hold, with what was seen.
    """
    from agentgym_envs import make_parallel
    from agentgym_envs.testing import games, zoo
    from agentgym_envs.testing.watched import Played

    _check_id(game_id)
    make_parallel(game_id, **kwargs)
    checks = (
        games.seats,
        games.oracle,
        games.walks,
        games.hostility,
        zoo.parallel_tests,
        zoo.aec_tests,
        zoo.forms,
        zoo.determinism,
    )
    return _run(checks, Played(game_id, kwargs), game_id)


def _run(checks: Sequence[Callable[[S], None]], subject: S, env_id: str) -> list[str]:
    held = []
    for check in checks:
        try:
            check(subject)
        except ConformanceError as error:
            raise ConformanceError(f"{env_id}: {_title(check)}: {error}") from error
        except Exception as error:
            raise ConformanceError(f"{env_id}: {_title(check)}: {type(error).__name__}: {error}") from error
        held.append(_title(check))
    return held


def _check_id(env_id: str) -> None:
    if _ID.fullmatch(env_id):
        return
    near = difflib.get_close_matches(env_id.rpartition(":")[2], gymnasium.registry, n=1, cutoff=0.4)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    raise ConformanceError(f"{env_id!r} is not an id with a version, such as 'namespace/Name-v0'{hint}")


def _title(check: Callable[..., None]) -> str:
    return (check.__doc__ or "").strip().rstrip(".")
