"""Lines on the map, in metres: their curves, points along them, and their form in an SVG."""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import dist

Point = tuple[float, float]
Line = Sequence[Point]


def smooth(points: Line, steps: int = 5) -> list[Point]:
    """Returns a smooth line through some points (Catmull and Rom, 1974).

    Each stretch between two points gets ``steps`` points.
    """
    known = [points[0], *points, points[-1]]
    found = [points[0]]
    for i in range(len(points) - 1):
        found += [_between(known[i : i + 4], step / steps) for step in range(1, steps + 1)]
    return found


def _between(four: Line, t: float) -> Point:
    def along(a: float, b: float, c: float, d: float) -> float:
        return 0.5 * (
            2 * b
            + (c - a) * t
            + (2 * a - 5 * b + 4 * c - d) * t**2
            + (3 * b - a - 3 * c + d) * t**3
        )

    (ax, ay), (bx, by), (cx, cy), (dx, dy) = four
    return along(ax, bx, cx, dx), along(ay, by, cy, dy)


def bent(a: Point, b: Point, by: float, steps: int = 16) -> list[Point]:
    """Returns an arc from one point to another.

    ``by`` is its height as a part of the distance.
    """
    x, y = (a[0] + b[0]) / 2 - by * (b[1] - a[1]), (a[1] + b[1]) / 2 + by * (b[0] - a[0])
    return [
        (
            (1 - t) ** 2 * a[0] + 2 * t * (1 - t) * x + t**2 * b[0],
            (1 - t) ** 2 * a[1] + 2 * t * (1 - t) * y + t**2 * b[1],
        )
        for t in (step / steps for step in range(steps + 1))
    ]


def length(line: Line) -> float:
    """Returns the length of a line."""
    return sum(dist(a, b) for a, b in pairwise(line))


def at(line: Line, metres: float, aside: float = 0.0) -> Point:
    """Returns the point some metres along a line, ``aside`` metres to its left.

    If the line is shorter, it is the last point.
    """
    for a, b in pairwise(line):
        step = dist(a, b)
        if metres <= step or b == line[-1]:
            t = min(1.0, metres / step)
            left = (-(b[1] - a[1]) / step, (b[0] - a[0]) / step)
            return a[0] + t * (b[0] - a[0]) + aside * left[0], a[1] + t * (
                b[1] - a[1]
            ) + aside * left[1]
        metres -= step
    return line[-1]


def dots(line: Line, every: float) -> list[Point]:
    """Returns points of a line that are at most ``every`` metres apart, its corners included."""
    found = [line[0]]
    for (ax, ay), (bx, by) in pairwise(line):
        count = int(dist((ax, ay), (bx, by)) / every) + 1
        found += [
            (ax + (bx - ax) * n / count, ay + (by - ay) * n / count) for n in range(1, count + 1)
        ]
    return found


def path(line: Line, *, closed: bool = False) -> str:
    """Writes a line for the ``d`` of an SVG's path, rounded to metres."""
    points = [(round(x), round(y)) for x, y in line]
    steps = "".join(f"l{c - a} {d - b}" for (a, b), (c, d) in pairwise(points) if (a, b) != (c, d))
    return f"M{points[0][0]} {points[0][1]}{steps}{'z' * closed}"


def points(path: str) -> list[Point]:
    """Reads a line that :func:`path` has written."""
    numbers = [int(n) for n in re.findall(r"-?\d+", path)]
    found = [(numbers[0], numbers[1])]
    for x, y in zip(numbers[2::2], numbers[3::2], strict=True):
        found.append((found[-1][0] + x, found[-1][1] + y))
    return [(float(x), float(y)) for x, y in found]
