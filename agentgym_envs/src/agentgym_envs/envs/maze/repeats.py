"""The number of listed mazes per kind, and the repeated layouts to skip.

Small sizes have few layouts, so different numbers would name the same layout. ``repeats.txt`` holds
the result of ``find_repeats.py``, because the search takes too long for a constructor.

A line is ``KIND SPLIT COUNT NUMBER:SKIPPED …``. The split lists ``COUNT`` mazes of the kind. The
maze of ``NUMBER`` follows ``SKIPPED`` layouts that belong to lower numbers. A kind without a line
lists ``LISTED`` mazes, and all of them differ.
"""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

LISTED = {"train": 1000, "dev": 100, "test": 100}
"""Mazes per kind in ``task_ids`` if the kind has enough layouts.

Training also draws from higher numbers.
"""


class ListedMazes(NamedTuple):
    """The listed mazes of a kind and split.

    Attributes:
        mazes: number of listed mazes. Their ids end with 0 to ``mazes - 1``.
        skipped: maze number -> number of layouts to skip, because lower numbers have them.
    """

    mazes: int
    skipped: dict[int, int]


@cache
def listed(kind: str, split: str) -> ListedMazes:
    """Returns the listed mazes of a kind and split."""
    count, *skipped = _lines().get(f"{kind} {split}", str(LISTED[split])).split()
    return ListedMazes(
        int(count),
        {int(number): int(skips) for number, _, skips in (pair.partition(":") for pair in skipped)},
    )


@cache
def _lines() -> dict[str, str]:
    text = files("agentgym_envs.envs.maze").joinpath("repeats.txt").read_text(encoding="utf-8")
    return {
        f"{kind} {split}": rest
        for kind, split, rest in (line.split(" ", 2) for line in text.splitlines())
    }
