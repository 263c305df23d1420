"""Finds the author's line in the traceback of an exception."""

import inspect
import os
import sys
import traceback
from collections.abc import Iterator

from agentgym_envs import core, registry
from agentgym_envs.errors import AgentGymError, ConformanceError, message_of

_MACHINERY = ("agentgym_envs.core.", "agentgym_envs.multi.", "gymnasium.", "builtins.", "typing.")
# The author's methods, by the methods of TextEnv that call them.
_CALLED = {"__init__": "make_tasks", "reset": "begin", "step": "act", "_info": "act"}


def cause_of(error: BaseException) -> BaseException | None:
    """Returns the exception behind a failed check; None if the check itself found the breach."""
    seen: BaseException | None = error
    while isinstance(seen, ConformanceError):
        seen = seen.__cause__
    return seen


def failure(error: BaseException, env_id: str) -> str:
    """Returns the type and the message of an exception, and the author's line."""
    kind = "" if isinstance(error, ConformanceError) else f"{type(error).__name__}: "
    cause = cause_of(error)
    place = place_of(cause, env_id) if cause else ""
    return f"{kind}{message_of(error)}{f' ({place})' * bool(place)}"


def place_of(error: BaseException, env_id: str) -> str:
    """Returns ``FILE:LINE`` of the author's code that raised an exception; empty without a file.

    A wrong return value raises outside of that code. The line is then that of the method or, for
    unknown methods, of the class.

    Args:
        error: the exception.
        env_id: the environment.
    """
    try:
        kind = registry.author_class(env_id)
    except AgentGymError:
        return ""
    own, frames = [*_files(kind)], [*_frames(error)]
    lines = [
        (frame.filename, frame.lineno)
        for frame in frames
        if any(frame.filename == file or frame.filename.startswith(file + os.sep) for file in own)
    ]
    called = [_CALLED.get(frame.name) for frame in frames if frame.filename == core.__file__]
    method = getattr(kind, (called or [None])[-1] or "", kind)
    try:
        file, line = (
            lines[-1] if lines else (inspect.getfile(method), inspect.getsourcelines(method)[1])
        )
    except (OSError, TypeError):  # the class has no source file
        return ""
    below = os.path.relpath(file)
    return f"{file if below.startswith(os.pardir) else below}:{line}"


def _frames(error: BaseException | None) -> Iterator[traceback.FrameSummary]:
    """Yields the frames of an exception and of its causes; Gymnasium raises some a second time."""
    while error is not None:
        yield from traceback.extract_tb(error.__traceback__)
        error = error.__cause__


def _files(kind: type) -> Iterator[str]:
    """Yields the files of an author's class and its base classes; for a package, its folder."""
    for base in inspect.getmro(kind) if inspect.isclass(kind) else (kind,):
        if f"{base.__module__}.".startswith(_MACHINERY):
            continue
        module = sys.modules.get(base.__module__)
        file = getattr(module, "__file__", None)
        if file:
            yield os.path.dirname(file) if getattr(module, "__package__", "") else file
