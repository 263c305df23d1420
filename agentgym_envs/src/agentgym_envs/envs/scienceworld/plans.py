"""Solutions to try: upstream's gold path, and what mends it in the few variations where it fails."""

import re
from collections.abc import Iterator

WAITS = 10  # moves: the bees of a greenhouse are late sometimes


def plans(name: str, path: list[str], goal: str) -> Iterator[list[str]]:
    """Yields the gold path and, for a task that has variations in which it fails, changed ones for the caller to try.

    Args:
        name: the task's.
        path: upstream's actions.
        goal: upstream's description of the task, which names the boxes.
    """
    yield path
    if name.startswith(("measure-melting-point", "mendelian-genetics")) or name == "test-conductivity":
        yield from _other_box(path, goal)
    elif name == "freeze":
        yield from _shorter_in_furnace(path)
    elif name == "grow-fruit":
        yield from _later_focus(path)


def _other_box(path: list[str], goal: str) -> Iterator[list[str]]:
    """The path decides on a box too early, as with mercury at 7 degrees, from a circuit not connected, or from too few plants."""
    boxes = dict.fromkeys(re.findall(r"\w+ box\b", goal))
    last = next((n for n in reversed(range(len(path))) if path[n].endswith(tuple(boxes))), None)
    if last is None:
        return
    chosen = next(box for box in boxes if path[last].endswith(box))
    for box in boxes:
        if box != chosen:
            yield [*path[:last], path[last].replace(chosen, box), *path[last + 1 :]]


def _shorter_in_furnace(path: list[str]) -> Iterator[list[str]]:
    """The path reads the thermometer until the substance burns, and what burns does not freeze."""
    if "activate blast furnace" not in path:
        return
    start = end = path.index("activate blast furnace") + 1
    while end < len(path) and path[end].startswith(("examine ", "use thermometer ")):
        end += 1
    for kept in reversed(range(start, end)):
        yield path[:kept] + path[end:]


def _later_focus(path: list[str]) -> Iterator[list[str]]:
    """The path focuses on a fruit that is not there yet."""
    last = next((n for n in reversed(range(len(path))) if path[n].startswith("focus on ")), None)
    if last is not None:
        yield [*path, *["wait1"] * WAITS, *path[last : last + 2]]
