"""Every error a user can meet, in one flat tree.

AgentGymError
├── UnknownName        a name that is registered nowhere; says what exists and the nearest
├── DuplicateName      two distributions claim one name
├── BrokenPlugin       an installed plugin that does not import
├── MissingExtra       an environment whose extra is not installed; names the pip command
├── TaskError          an unknown task id, or a filter that leaves no task
├── EnvFailure         an environment raised, hung or died; never a reward
│   ├── EnvRaised
│   ├── EnvTimeout
│   └── WorkerDied
└── ConformanceError   an environment that breaks the contract
"""

import difflib
from collections.abc import Iterable


class AgentGymError(Exception):
    """Base of all errors of both packages: the message is one line that a user can act on."""


class UnknownName(AgentGymError, ValueError):
    """A name that nothing is registered under."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"unknown {kind} {name!r}.{hint} Known: {_some(names)}.")


class DuplicateName(AgentGymError, ValueError):
    """Two installed distributions register the same name in one entry-point group."""


class BrokenPlugin(AgentGymError, ImportError):
    """A registered plugin could not be imported."""


class MissingExtra(AgentGymError, ImportError):
    """An environment needs an optional dependency that is not installed."""

    def __init__(self, env: str, extra: str):
        super().__init__(f"{env} needs an extra that is not installed. Run: {pip_command(extra)}")
        self.extra = extra


class MissingBrowser(AgentGymError, RuntimeError):
    """No browser is installed where we look for one."""


class TaskError(AgentGymError, ValueError):
    """An unknown task id, or a task filter that selects nothing."""


class EnvFailure(AgentGymError, RuntimeError):
    """An environment failed. A failure is neither an observation nor a reward."""


class EnvRaised(EnvFailure):
    """The environment raised an exception."""


class EnvTimeout(EnvFailure):
    """The environment did not answer within its time."""


class WorkerDied(EnvFailure):
    """The process that held the environment ended."""


class NeighbourFailed(WorkerDied):
    """The environment was lost with its worker because of another one."""


class ConformanceError(AgentGymError, AssertionError):
    """An environment breaks the contract of :mod:`agentgym_envs.core`."""


def pip_command(extra: str) -> str:
    """Returns the command that installs an extra of this package."""
    return f'python -m pip install "agentgym-envs[{extra}]"'


def _some(names: list[str], most: int = 12) -> str:
    shown = ", ".join(names[:most]) or "nothing"
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
