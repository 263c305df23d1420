"""Repeated layouts: how many mazes of a kind are listed, and which of them would repeat another.

Small sizes have few layouts, and different numbers would name the same layout. ``repeats.txt`` holds the result of
``find_repeats.py``, because the search takes too long for a constructor. A line is ``KIND SPLIT COUNT NUMBER:SKIPPED …``: the
split lists ``COUNT`` mazes of the kind, and the maze of ``NUMBER`` comes after ``SKIPPED`` layouts that lower numbers have.
A kind without a line lists ``LISTED`` mazes and repeats none.
"""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

LISTED = {"train": 1000, "dev": 100, "test": 100}
"""Mazes of a kind that ``task_ids`` lists if the kind has enough layouts. Training draws from endless numbers."""


class Listed(NamedTuple):
    """The listed mazes of a kind and split.

    Attributes:
        mazes: their number; their ids end with 0 to ``mazes - 1``.
        skipped: by number, how many layouts of lower numbers come before its own.
    """

    mazes: int
    skipped: dict[int, int]


@cache
def listed(kind: str, split: str) -> Listed:
    """Returns the listed mazes of a kind."""
    count, *skipped = _lines().get(f"{kind} {split}", str(LISTED[split])).split()
    return Listed(int(count), {int(number): int(skips) for number, _, skips in (pair.partition(":") for pair in skipped)})


@cache
def _lines() -> dict[str, str]:
    text = files("agentgym_envs.envs.maze").joinpath("repeats.txt").read_text(encoding="utf-8")
    return {f"{kind} {split}": rest for kind, split, rest in (line.split(" ", 2) for line in text.splitlines())}
