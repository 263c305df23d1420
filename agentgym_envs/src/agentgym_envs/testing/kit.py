"""The checks in their order; those without a simulator come first."""

import difflib
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import ConformanceError, message_of
from agentgym_envs.testing import (
    contents,
    episodes,
    form,
    growth,
    hints,
    hostile,
    mistakes,
    policies,
    processes,
    replays,
    solutions,
)
from agentgym_envs.testing.side_effects import recorded
from agentgym_envs.testing.subject import Subject

S = TypeVar("S")
logger = logging.getLogger(__name__)
_ID = re.compile(r"([\w.]+:)?([\w-]+/)?[\w.-]+-v\d+")
_CHECKS: Sequence[Callable[[Subject], str | None]] = (
    form.spec_and_spaces,
    form.methods,
    form.construction,
    form.splits,
    form.gymnasium_check,
    episodes.info_and_reward,
    episodes.walks,
    form.tools,
    episodes.render,
    episodes.named_tasks,
    episodes.seeds,
    episodes.chosen_tasks,
    solutions.oracle,
    solutions.unrevealed,
    contents.contents,
    hints.hints,
    hints.needed_information,
    mistakes.mistakes,
    policies.blind_policies,
    growth.growth,
    episodes.end,
    hostile.hostility,
    processes.determinism,
    replays.alongside,
    processes.vector,
    processes.untouched,
    processes.silence,
    replays.closing,
    processes.leftovers,
)


def check_text_env(env_id: str, **kwargs: Any) -> list[str]:
    """Checks that an environment keeps the contract.

    Args:
        env_id: a registered id with its version, or "module:id".
        **kwargs: constructor keywords, JSON-able.

    Returns:
        One line per property that holds, with the checked sample in parentheses.

    Raises:
        UnknownName: no such id.
        ConformanceError: the first property that does not hold, with the reason.
    """
    _check_id(env_id)
    registry.spec(env_id)
    with recorded(str(kwargs)) as evidence:
        subject = Subject(env_id, kwargs, evidence)
        try:
            return _run(_CHECKS, subject, env_id)
        finally:
            _close(subject)


def check_text_parallel_env(game_id: str, **kwargs: Any) -> list[str]:
    """Checks a game with all of its seats.

    :func:`check_text_env` checks the same game as an environment with one agent.

    Args:
        game_id: a registered id with its version, or "module:id".
        **kwargs: the game's keywords, JSON-able.

    Returns:
        One line per property that holds, with the checked sample in parentheses.

    Raises:
        UnknownName: no such game.
        MissingExtra: PettingZoo is not installed.
        ConformanceError: the first property that does not hold, with the reason.
    """
    from agentgym_envs import make_parallel
    from agentgym_envs.testing import games, zoo
    from agentgym_envs.testing.checked_match import GameSubject

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
        processes.untouched,
        processes.silence,
        processes.remains,
    )
    with recorded(str(kwargs)) as evidence:
        return _run(checks, GameSubject(game_id, kwargs, evidence), game_id)


def _run(checks: Sequence[Callable[[S], str | None]], subject: S, env_id: str) -> list[str]:
    held = []
    for check in checks:
        title = _title(check)
        try:
            looked = check(subject)
        except KeyboardInterrupt:
            raise
        # This includes SystemExit, which would end the process without a message.
        except BaseException as error:
            kind = "" if isinstance(error, ConformanceError) else f"{type(error).__name__}: "
            raise ConformanceError(f"{env_id}: {title}: {kind}{message_of(error)}") from error
        held.append(f"{title} ({looked})" if looked else title)
    return held


def _close(subject: Subject) -> None:
    """Closes everything and only logs an error, which would hide the failure of a check.

    If all checks passed, the last one has already closed everything twice.
    """
    try:
        subject.close()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        logger.debug("close failed once more: %r", error)


def _check_id(env_id: str) -> None:
    if _ID.fullmatch(env_id):
        return
    near = difflib.get_close_matches(env_id.rpartition(":")[2], gymnasium.registry, n=1, cutoff=0.4)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    raise ConformanceError(
        f"{env_id!r} is not an id with a version, such as 'namespace/Name-v0'{hint}"
    )


def _title(check: Callable[..., str | None]) -> str:
    """Returns the first line of a check's docstring without its full stop."""
    return (check.__doc__ or "").strip().partition("\n")[0].rstrip(".")
