"""Solutions to try: upstream's gold path, and corrections for the few variations where it fails."""

import re
from collections.abc import Iterator

WAITS = 10  # moves, because the bees of a greenhouse sometimes come late


def plans(name: str, path: list[str], goal: str) -> Iterator[list[str]]:
    """Yields the gold path, then corrected paths for the caller to try.

    Only tasks with variations in which the gold path fails have corrected paths.

    Args:
        name: name of the task.
        path: actions of upstream's gold path.
        goal: upstream's description of the task, which names the boxes.
    """
    yield path
    if (
        name.startswith(("measure-melting-point", "mendelian-genetics"))
        or name == "test-conductivity"
    ):
        yield from _other_box(path, goal)
    elif name == "freeze":
        yield from _shorter_in_furnace(path)
    elif name == "grow-fruit":
        yield from _later_focus(path)


def _other_box(path: list[str], goal: str) -> Iterator[list[str]]:
    """Yields the path with each other box.

    The gold path can choose a box too early: from a temperature that still falls (mercury at 7
    degrees), from a circuit that is not connected, or from too few plants.
    """
    boxes = dict.fromkeys(re.findall(r"\w+ box\b", goal))
    last = next((n for n in reversed(range(len(path))) if path[n].endswith(tuple(boxes))), None)
    if last is None:
        return
    chosen = next(box for box in boxes if path[last].endswith(box))
    for box in boxes:
        if box != chosen:
            yield [*path[:last], path[last].replace(chosen, box), *path[last + 1 :]]


def _shorter_in_furnace(path: list[str]) -> Iterator[list[str]]:
    """Yields the path with fewer readings of the thermometer.

    The gold path reads it until the substance burns. A burnt substance cannot freeze.
    """
    if "activate blast furnace" not in path:
        return
    start = end = path.index("activate blast furnace") + 1
    while end < len(path) and path[end].startswith(("examine ", "use thermometer ")):
        end += 1
    for stop in reversed(range(start, end)):
        yield path[:stop] + path[end:]


def _later_focus(path: list[str]) -> Iterator[list[str]]:
    """Yields the path with a wait and a second focus.

    The gold path can focus on a fruit that does not exist yet.
    """
    last = next((n for n in reversed(range(len(path))) if path[n].startswith("focus on ")), None)
    if last is not None:
        yield [*path, *["wait1"] * WAITS, *path[last : last + 2]]
