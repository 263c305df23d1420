"""The checks in their order; those without a simulator come first."""

import difflib
import logging
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple, TypeVar

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import ConformanceError
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
from agentgym_envs.testing.author import cause_of, failure
from agentgym_envs.testing.limits import CallTimeout
from agentgym_envs.testing.side_effects import recorded
from agentgym_envs.testing.subject import NOT_APPLICABLE, TestedEnv

S = TypeVar("S")
logger = logging.getLogger(__name__)
_ID = re.compile(r"([^:]+:)?([\w-]+/)?[\w.-]+-v\d+")
NOT_CHECKED = "not checked"  # begins the answer of a check that another failure made impossible
# These checks replay the solutions that the oracle's check keeps.
_OF_SOLUTIONS: Sequence[Callable[[TestedEnv], str | None]] = (
    solutions.unrevealed,
    contents.contents,
    hints.hints,
    hints.needed_information,
    mistakes.mistakes,
    policies.blind_policies,
)
_CHECKS: Sequence[Callable[[TestedEnv], str | None]] = (
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
    *_OF_SOLUTIONS,
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


class CheckResult(NamedTuple):
    """The result of one check.

    Attributes:
        title: the property.
        looked: the checked sample; it begins with ``NOT_APPLICABLE`` or ``NOT_CHECKED`` if there
            was nothing to check.
        fault: the breach; None if the property holds or was not checked.
    """

    title: str
    looked: str = ""
    fault: ConformanceError | None = None

    def __str__(self) -> str:
        """Returns the title with the sample or the breach."""
        if self.fault:
            return str(self.fault)
        return f"{self.title} ({self.looked})" if self.looked else self.title

    @property
    def checked(self) -> bool:
        """Returns whether the check had something to look at."""
        return not self.looked.startswith((NOT_APPLICABLE, NOT_CHECKED))


def check_text_env(env_id: str, **kwargs: Any) -> list[str]:
    """Checks that an environment keeps the contract.

    Args:
        env_id: a registered id with its version, "module:id", "module:Class" or "./file.py:Class".
        **kwargs: constructor keywords, JSON-able.

    Returns:
        One line per property that holds, with the checked sample in parentheses.

    Raises:
        UnknownName: no such id.
        ConformanceError: the first property that does not hold, with the reason.
    """
    return _held(properties(env_id, **kwargs))


def properties(env_id: str, **kwargs: Any) -> Generator[CheckResult, None, None]:
    """Yields the result of each check of :func:`check_text_env`, also after a failure.

    While a caller handles a result, the output of this process is captured.
    """
    _check_id(env_id)
    registry.spec(env_id)
    with recorded(str(kwargs)) as evidence:
        subject = TestedEnv(env_id, kwargs, evidence)
        try:
            yield from _run(_CHECKS, subject, env_id)
        finally:
            _close(subject)


def check_text_parallel_env(game_id: str, **kwargs: Any) -> list[str]:
    """Checks a game with all of its seats.

    :func:`check_text_env` checks the same game as an environment with one agent.

    Args:
        game_id: a registered id with its version, "module:id", "module:Class" or
            "./file.py:Class".
        **kwargs: the game's keywords, JSON-able.

    Returns:
        One line per property that holds, with the checked sample in parentheses.

    Raises:
        UnknownName: no such game.
        MissingExtra: PettingZoo is not installed.
        ConformanceError: the first property that does not hold, with the reason.
    """
    return _held(game_properties(game_id, **kwargs))


def game_properties(game_id: str, **kwargs: Any) -> Generator[CheckResult, None, None]:
    """Yields the result of each check of :func:`check_text_parallel_env`, also after a failure."""
    from agentgym_envs import make_parallel
    from agentgym_envs.testing import games, zoo
    from agentgym_envs.testing.checked_match import TestedGame

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
        yield from _run(checks, TestedGame(game_id, kwargs, evidence), game_id)


def _held(results: Generator[CheckResult, None, None]) -> list[str]:
    """Returns the lines of properties that hold; raises the first breach."""
    held = []
    with closing(results):  # the capture of output ends before an error leaves
        for result in results:
            if result.fault:
                raise result.fault
            held.append(str(result))
    return held


def _run(
    checks: Sequence[Callable[[S], str | None]], subject: S, env_id: str
) -> Iterator[CheckResult]:
    """Yields the results of the checks. After a call that never returned, no check follows."""
    unsolved = hung = False
    for check in checks:
        title = _title(check)
        if hung or (unsolved and check in _OF_SOLUTIONS):
            why = "a call never returned" if hung else "the oracle's check failed"
            yield CheckResult(title, f"{NOT_CHECKED}: {why}")
            continue
        try:
            looked = check(subject)
        except KeyboardInterrupt:
            raise
        # This includes SystemExit, which would end the process without a message.
        except BaseException as error:
            unsolved = unsolved or check is solutions.oracle
            hung = isinstance(cause_of(error), CallTimeout)
            fault = ConformanceError(f"{env_id}: {title}: {failure(error, env_id)}")
            fault.__cause__ = error
            yield CheckResult(title, fault=fault)
        else:
            yield CheckResult(title, looked or "")


def _close(subject: TestedEnv) -> None:
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
    if _ID.fullmatch(env_id) or registry.names_class(env_id):
        return
    near = difflib.get_close_matches(env_id.rpartition(":")[2], gymnasium.registry, n=1, cutoff=0.4)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    raise ConformanceError(
        f"{env_id!r} is not an id with a version, such as 'namespace/Name-v0'{hint}"
    )


def _title(check: Callable[..., str | None]) -> str:
    """Returns the first line of a check's docstring without its full stop."""
    return (check.__doc__ or "").strip().partition("\n")[0].rstrip(".")
