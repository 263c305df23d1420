"""Error messages of the checks, each in one line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from agentgym_envs.errors import AgentGymError, ConformanceError

Fail = Callable[[str], NoReturn]


def failing(plugin: str) -> Fail:
    """Returns a function that raises a ConformanceError about a plugin."""

    def fail(message: str) -> NoReturn:
        raise ConformanceError(f"{plugin}: {message}")

    return fail


@contextmanager
def reporting(fail: Fail, method: str) -> Iterator[None]:
    """Turns an exception of the block into a failure that names the method.

    Errors of AgentGym pass unchanged, since their messages are complete.
    """
    try:
        yield
    except AgentGymError:
        raise
    except Exception as error:
        fail(f"{method} raised {error!r}")
