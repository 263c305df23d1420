"""Python processes that find the modules that this one finds, and nothing that happens to lie where it was started."""

import os
import sys
from collections.abc import Sequence


def python_command(module: str, *args: str) -> list[str]:
    """Returns the command that runs a module with the working directory off ``sys.path``."""
    return [sys.executable, "-P", "-m", module, *args]


def python_environment(**variables: str) -> dict[str, str]:
    """Returns the environment of such a process: ``sys.path`` without the working directory, and ``variables``."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(module_folders()[0]), **variables}


def module_folders(path: Sequence[str] | None = None) -> tuple[list[str], list[str]]:
    """Splits ``sys.path`` into the entries that are not the working directory, and those that are, as absolute paths."""
    here = os.getcwd()
    folders = [os.path.abspath(entry) for entry in (sys.path if path is None else path)]
    return [f for f in folders if f != here], [f for f in folders if f == here][:1]
