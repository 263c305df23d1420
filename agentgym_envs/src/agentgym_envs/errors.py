"""All errors of the package, in one flat tree.

AgentGymError
├── ArgumentError      an invalid value: a count below one, an unknown keyword
├── UnknownName        a name that is not registered; lists the known names and the nearest
├── DuplicateName      two distributions register the same name
├── BrokenPlugin       a plugin fails to import, lacks a method, or is registered wrongly
├── MissingExtra       an extra is not installed; names the pip command
├── MissingBrowser     no browser for an environment that needs one
├── UnsupportedPlatform  an operating system other than Linux and macOS
├── TaskError          an unknown task id, or a filter that leaves no task
├── EnvFailure         an environment raised, hung or died; never a reward
│   ├── EnvRaised
│   ├── EnvTimeout
│   └── WorkerDied
│       ├── NeighbourFailed   another environment ended the process
│       │   └── HostLost      the machine that ran the environment cannot be reached
│       └── NoHost            no machine that can run the environment can be reached
├── AgentFailure       an agent raised, hung or returned an invalid value; never a score
├── ProviderError      the server of a model failed after all retries
│   ├── ProviderRefused   it refuses the request: an unknown model, a wrong key, a bad request
│   ├── ContextExceeded   the conversation is too long for the model: the episode ends
│   └── ConversationRefused   a filter or the model refuses the conversation: the episode ends
└── ConformanceError   an environment or a trainer plugin breaks its contract
"""

import difflib
import os
import traceback
from collections.abc import Iterable, Sequence

SHOWN = 200  # characters of a value that an error repeats


class AgentGymError(Exception):
    """Base of all errors of both packages.

    The message is one line: the fault, the value and the remedy.
    """


class ArgumentError(AgentGymError, ValueError):
    """An invalid value of an argument, a keyword or an option."""


class UnknownName(AgentGymError, ValueError):
    """A name that is not registered."""

    def __init__(self, kind: str, name: object, known: Iterable[str]):
        names = sorted(known)
        super().__init__(f"unknown {kind} {shown(name)}.{hint(name, names)} Known: {some(names)}.")


class DuplicateName(AgentGymError, ValueError):
    """Two installed distributions register the same name in one entry-point group."""


class BrokenPlugin(AgentGymError, ImportError):
    """A plugin fails to import, lacks a method, or is registered wrongly.

    The message names the distribution.
    """


class MissingExtra(AgentGymError, ImportError):
    """An environment or a plugin needs an optional dependency that is not installed."""

    def __init__(self, who: str, extra: str, distribution: str = "agentgym-envs"):
        super().__init__(
            f"{who} needs an extra that is not installed. Run: {pip_command(extra, distribution)}"
        )
        self.extra = extra


class MissingBrowser(AgentGymError, RuntimeError):
    """No browser is installed in the expected places."""


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
        """Returns the failure for an exception.

        The message is one line: the environment, the exception, and the file and line that raised
        it.
        """
        return cls(f"{who} raised {raised(error)}")


class EnvTimeout(EnvFailure):
    """The environment did not answer within its time limit."""


class WorkerDied(EnvFailure):
    """The environment's process ended, because of this environment or for an unknown cause."""


class NeighbourFailed(WorkerDied):
    """The environment's process ended because another environment in it died or hung."""


class HostLost(NeighbourFailed):
    """The machine that ran the environment cannot be reached any more; no environment caused it."""


class NoHost(WorkerDied):
    """No machine that can run the environment could be reached within the time limit of a start."""


class AgentFailure(AgentGymError, RuntimeError):
    """An agent raised, hung or returned an invalid value. A failure is never a score.

    Args:
        message: one line.
        trace: the end of the traceback; empty without one.
    """

    def __init__(self, message: str, trace: str = ""):
        super().__init__(message)
        self.trace = trace


class ProviderError(AgentGymError, RuntimeError):
    """The server of a model failed after all retries.

    Args:
        message: one line.
        status: HTTP status of the last response; ``None`` without a response.
        answer: the server's own text, which ``message`` shortens.
    """

    def __init__(self, message: str, status: int | None = None, answer: str = ""):
        super().__init__(message)
        self.status, self.answer = status, answer


class ProviderRefused(ProviderError):
    """The server of a model refuses the request; a retry would fail too."""


class ContextExceeded(ProviderError):
    """The conversation is too long for the model.

    The episode ends; the server is not at fault.
    """


class ConversationRefused(ProviderError):
    """A filter or the model refuses the conversation; others are not affected.

    The episode ends; the server is not at fault.
    """


class ConformanceError(AgentGymError, AssertionError):
    """An environment or a trainer plugin breaks its contract.

    The environments' contract is in :mod:`agentgym_envs.core`; each kind of trainer plugin has a
    protocol.
    """


def raised(error: BaseException) -> str:
    """Returns the type of an exception, the file and line that raised it, and its message."""
    frames = traceback.extract_tb(error.__traceback__)
    known = frames and not frames[-1].filename.startswith("<frozen")  # as for a wrong syntax
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if known else ""
    return f"{type(error).__name__}{where}: {message_of(error)}"


def message_of(error: BaseException) -> str:
    """Returns ``str(error)`` with escaped control characters, or a placeholder if that raises.

    An environment's exception can have any ``__str__``.
    """
    try:
        return escaped(str(error))
    except (Exception, SystemExit) as second:
        return f"its message cannot be had ({type(second).__name__})"


def escaped(text: str) -> str:
    r"""Returns a text for a terminal: control characters become visible, except line breaks.

    >>> escaped("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return "".join(
        c if c.isprintable() or c in "\n\t" or (c.isspace() and c > "\x9f") else ascii(c)[1:-1]
        for c in text
    )


def shown(value: object) -> str:
    """Returns a value's ``repr`` for an error message: on one line, cut at ``SHOWN`` characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def not_taken(who: str, keyword: str, known: Iterable[str]) -> ArgumentError:
    """Returns the error for a keyword that a constructor does not have.

    Args:
        who: the owner of the constructor.
        keyword: the unknown keyword.
        known: the keywords of the constructor; the message suggests the nearest.
    """
    names = sorted(known)
    near = hint(keyword, names, 0.6)
    return ArgumentError(f"{who} does not take {shown(keyword)}.{near} It takes: {some(names)}.")


def pip_command(extra: str, distribution: str = "agentgym-envs") -> str:
    """Returns the command that installs an extra of a distribution."""
    return f'python -m pip install "{distribution}[{extra}]"'


def hint(name: object, known: Iterable[str], similar: float = 0.4) -> str:
    """Returns a suggestion of the nearest name; empty if none has the similarity (0 to 1)."""
    if not isinstance(name, str):
        return ""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=similar)
    return f" Did you mean {near[0]!r}?" if near else ""


def some(names: Sequence[str], most: int = 12) -> str:
    """Returns the first names, and the number of the others."""
    shown = ", ".join(names[:most]) or "nothing"
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
