"""The result folders of a report, and their names."""

import os
from collections.abc import Sequence
from pathlib import Path

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.record import EPISODES, read_settings


def expanded(folders: Sequence[Path]) -> list[Path]:
    """Returns result folders without duplicates.

    A folder of results is replaced by the results in it, in order of their names. A run of
    agentgym-train is replaced by its evaluations, in order of the training step.

    Raises:
        ArgumentError: a run of agentgym-train that has no evaluation yet, or an unreadable folder.
    """
    listed = [found for folder in folders for found in _evaluations(folder)]
    return list({folder.resolve(): folder for folder in reversed(listed)}.values())[::-1]


def named(folders: Sequence[Path]) -> list[str]:
    """Returns distinct names for folders: last parts, else given paths, else absolute paths."""
    whole = [folder.resolve() for folder in folders]
    last = [folder.name or str(folder) for folder in whole]
    given = [
        str(folder) if folder.name not in ("", "..") else str(path)
        for folder, path in zip(folders, whole, strict=True)
    ]
    return next(
        names
        for names in (last, given, [str(path) for path in whole])
        if len(set(names)) == len(names)
    )


def _evaluations(folder: Path) -> list[Path]:
    inside = folder / "episodes"
    if os.path.exists(folder / EPISODES) or not os.path.isdir(folder):
        return [folder]
    if not os.path.isdir(inside):
        return sorted(_results_in(folder)) or [folder]
    if found := _results_in(inside):
        return sorted(found, key=_when)
    raise ArgumentError(f"{folder} holds no results: no evaluation is in {inside} yet")


def _results_in(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise ArgumentError(f"cannot read {folder}: {error.strerror}") from error
    return [folder / name for name in names if os.path.exists(folder / name / EPISODES)]


def _when(folder: Path) -> tuple[float, str]:
    step = read_settings(folder).get("step")
    return step if isinstance(step, int | float) else 0, folder.name
