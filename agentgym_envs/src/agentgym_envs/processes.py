"""Python subprocesses that import the same modules as this process.

They never import from the working directory by accident.
"""

import os
import sys
import tempfile
from collections.abc import Sequence

LONGEST = 40  # characters of a temporary folder in which a process can still make sockets
_appended: list[str] = []  # folders that this package has added to sys.path


def temporary_folder() -> str:
    """Makes a folder for the temporary files of a process; the caller removes it.

    Browsers make sockets there. A socket's path has at most 104 characters on macOS, so a long
    temporary folder is replaced by /tmp.
    """
    above = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="agentgym-", dir=above if len(above) <= LONGEST else "/tmp")


def python_command(module: str, *args: str) -> list[str]:
    """Returns the command that runs a module without the working directory on ``sys.path``."""
    return [sys.executable, "-P", "-m", module, *args]


def python_environment(**variables: str) -> dict[str, str]:
    """Returns the environment variables of such a process, with ``variables`` added.

    ``PYTHONPATH`` is this process's ``sys.path`` without the working directory and the folders of
    :func:`append_folder`.
    """
    return {**os.environ, "PYTHONPATH": os.pathsep.join(module_folders()[0]), **variables}


def append_folder(folder: str) -> None:
    """Makes the modules of a folder importable; they hide no other module."""
    if folder not in sys.path:
        sys.path.append(folder)
        _appended.append(folder)


def module_folders(path: Sequence[str] | None = None) -> tuple[list[str], list[str]]:
    """Splits ``sys.path``, as absolute paths.

    Returns:
        The entries that come first, and those that other processes append: the working directory,
        if it is an entry, and the folders of :func:`append_folder`.
    """
    own = {os.getcwd(), *_appended}
    folders = [os.path.abspath(entry) for entry in (sys.path if path is None else path)]
    return [f for f in folders if f not in own], list(dict.fromkeys(f for f in folders if f in own))
