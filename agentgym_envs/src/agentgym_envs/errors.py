"""Every error a user can meet, in one flat tree.

AgentGymError
├── ArgumentError      a value that cannot be: a count below one, an unknown keyword
├── UnknownName        a name that is registered nowhere; says what exists and the nearest
├── DuplicateName      two distributions claim one name
├── BrokenPlugin       an installed plugin that does not import, lacks a method, or is registered wrongly
├── MissingExtra       an environment or a plugin whose extra is not installed; names the pip command
├── MissingBrowser     no browser for an environment that needs one
├── UnsupportedPlatform  an operating system other than Linux and macOS
├── TaskError          an unknown task id, or a filter that leaves no task
├── EnvFailure         an environment raised, hung or died; never a reward
│   ├── EnvRaised
│   ├── EnvTimeout
│   └── WorkerDied
│       └── NeighbourFailed   its process ended by the fault of another
├── ProviderError      the server of a model failed, however often it was asked
│   ├── ProviderRefused   it refuses what it is asked: an unknown model, a wrong key, a bad request
│   └── ContextExceeded   the conversation is too long for the model: an episode ends with it
└── ConformanceError   an environment, or a plugin of the trainer, that breaks its contract
"""

import difflib
import os
import traceback
from collections.abc import Iterable

SHOWN = 200  # characters of a value that an error repeats


class AgentGymError(Exception):
    """Base of all errors of both packages: the message is one line that a user can act on."""


class ArgumentError(AgentGymError, ValueError):
    """A value that an argument, a keyword or an option cannot have."""


class UnknownName(AgentGymError, ValueError):
    """A name that nothing is registered under."""

    def __init__(self, kind: str, name: object, known: Iterable[str]):
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.4) if isinstance(name, str) else []
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"unknown {kind} {shown(name)}.{hint} Known: {_some(names)}.")


class DuplicateName(AgentGymError, ValueError):
    """Two installed distributions register the same name in one entry-point group."""


class BrokenPlugin(AgentGymError, ImportError):
    """A registered plugin could not be imported, lacks a method, or is registered wrongly; names the distribution."""


class MissingExtra(AgentGymError, ImportError):
    """An environment or a plugin needs an optional dependency that is not installed."""

    def __init__(self, who: str, extra: str, distribution: str = "agentgym-envs"):
        super().__init__(f"{who} needs an extra that is not installed. Run: {pip_command(extra, distribution)}")
        self.extra = extra


class MissingBrowser(AgentGymError, RuntimeError):
    """No browser is installed where we look for one."""


class UnsupportedPlatform(AgentGymError, ImportError):
    """The operating system is neither Linux nor macOS."""


class TaskError(AgentGymError, ValueError):
    """An unknown task id, or a task filter that selects nothing."""


class EnvFailure(AgentGymError, RuntimeError):
    """An environment failed. A failure is neither an observation nor a reward."""


class EnvRaised(EnvFailure):
    """The environment raised an exception."""

    @classmethod
    def of(cls, who: str, error: BaseException) -> "EnvRaised":
        """Returns the failure that an exception is, in one line: whose, what, and where it was raised."""
        frames = traceback.extract_tb(error.__traceback__)
        where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
        return cls(f"{who} raised {type(error).__name__}{where}: {message_of(error)}")


class EnvTimeout(EnvFailure):
    """The environment did not answer within its time."""


class WorkerDied(EnvFailure):
    """The process that held the environment ended, by its fault, or by nobody knows whose."""


class NeighbourFailed(WorkerDied):
    """The process that held the environment ended by the fault of another, which died or hung in it."""


class ProviderError(AgentGymError, RuntimeError):
    """The server of a model failed, and kept failing however often it was asked.

    Args:
        message: one line.
        status: of the last answer; ``None`` if there was none.
    """

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.status = status


class ProviderRefused(ProviderError):
    """The server of a model refuses what it is asked: the same request will always be refused."""


class ContextExceeded(ProviderError):
    """The conversation is too long for the model. It ends the episode and says nothing bad about the server."""


class ConformanceError(AgentGymError, AssertionError):
    """An environment breaks the contract of :mod:`agentgym_envs.core`, or a plugin of the trainer that of its protocol."""


def message_of(error: BaseException) -> str:
    """Returns ``str(error)``, whatever that raises: an exception of an environment may have any ``__str__``."""
    try:
        return str(error)
    except (Exception, SystemExit) as second:
        return f"its message cannot be had ({type(second).__name__})"


def shown(value: object) -> str:
    """Returns a value as an error names it: on one line, cut at ``SHOWN`` characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def pip_command(extra: str, distribution: str = "agentgym-envs") -> str:
    """Returns the command that installs an extra of a distribution."""
    return f'python -m pip install "{distribution}[{extra}]"'


def _some(names: list[str], most: int = 12) -> str:
    shown = ", ".join(names[:most]) or "nothing"
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
