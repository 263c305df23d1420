"""Writes ``repeats.txt``, the table of repeated layouts.

The search generates the maze of every listed number and records the layouts that occur again.

python -m agentgym_envs.envs.maze.find_repeats agentgym_envs/src/agentgym_envs/envs/maze/repeats.txt
"""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from agentgym_envs.envs.maze.locked_tasks import LEAST, LockedMazeTasks
from agentgym_envs.envs.maze.repeats import LISTED, ListedMazes
from agentgym_envs.envs.maze.tasks import (
    LARGEST,
    SMALLEST,
    THINGS,
    Grow,
    MazeTasks,
    NumberedMazes,
    layouts,
)
from agentgym_envs.envs.maze.tiered_tasks import TIERS, TieredMazeTasks

MOST_SKIPPED = 20
"""Number of repeated layouts in a row that ends the list of a kind."""
TRIES = 2000
"""Mazes to generate for one number before the split counts as exhausted."""


def find(kind: str, split: str, grow_one: Grow) -> ListedMazes:
    """Returns the listed mazes of a kind by searching, without the table."""
    seen: set[str] = set()
    skipped: dict[int, int] = {}
    for number in range(LISTED[split]):
        found = enumerate(
            islice(layouts(f"{kind}-{split}-{number}", grow_one, split, TRIES), MOST_SKIPPED)
        )
        skips, new = next(
            ((skips, maze.key()) for skips, maze in found if maze.key() not in seen), (0, None)
        )
        if new is None:
            return ListedMazes(number, skipped)
        seen.add(new)
        if skips:
            skipped[number] = skips
    return ListedMazes(LISTED[split], skipped)


def kinds() -> Iterator[tuple[str, NumberedMazes]]:
    """Yields the name of every kind with a task set that can read the name."""
    mazes, locked = MazeTasks((SMALLEST,), 1), LockedMazeTasks({"open": (SMALLEST,)})
    sizes = range(SMALLEST, LARGEST + 1)
    yield from (
        (f"rooms{rooms}-things{things}", mazes)
        for rooms in sizes
        for things in range(1, min(len(THINGS), rooms - 1) + 1)
    )
    yield from (
        (f"{name}{rooms}", locked)
        for name, least in LEAST.items()
        for rooms in range(least, LARGEST + 1)
    )
    yield from ((name, TieredMazeTasks((tier,))) for name, tier in TIERS.items())


def line(kind: str, split: str, found: ListedMazes) -> str:
    """Returns a line of the table, or an empty text for a kind that needs no line."""
    if found == ListedMazes(LISTED[split], {}):
        return ""
    return (
        " ".join(
            [
                kind,
                split,
                str(found.mazes),
                *(f"{number}:{skips}" for number, skips in found.skipped.items()),
            ]
        )
        + "\n"
    )


def main(path: Path) -> None:
    """Writes the table of all kinds."""
    with path.open("w", encoding="utf-8") as file:
        for kind, tasks in kinds():
            _, grow_one = tasks.kind(kind) or (0, None)
            file.writelines(
                line(kind, split, find(kind, split, grow_one)) for split in LISTED if grow_one
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
