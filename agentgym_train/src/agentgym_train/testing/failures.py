"""How the checks say what went wrong: in one line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from agentgym_envs.errors import AgentGymError, ConformanceError

Fail = Callable[[str], NoReturn]


def failing(who: str) -> Fail:
    """Returns what raises a ConformanceError about a plugin."""

    def fail(what: str) -> NoReturn:
        raise ConformanceError(f"{who}: {what}")

    return fail


@contextmanager
def told(fail: Fail, what: str) -> Iterator[None]:
    """Says in one line where a method failed."""
    try:
        yield
    except AgentGymError:
        raise
    except Exception as error:
        fail(f"{what} raised {error!r}")
