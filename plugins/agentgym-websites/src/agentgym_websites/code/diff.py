"""Differences between two texts in hunks, as in a unified diff, and the author of each line."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

T = TypeVar("T")
CONTEXT = 3  # lines around a change


class Line(NamedTuple):
    """A line of a hunk: "+", "-" or a blank, its numbers before and after, its text."""

    sign: str
    old: int | None
    new: int | None
    text: str


class Diff(NamedTuple):
    """The differences between two versions of a file."""

    path: str
    what: str
    hunks: list[tuple[str, list[Line]]]
    added: int
    removed: int


def _span(start: int, end: int) -> str:
    return f"{start + (start < end)},{end - start}"


def compare(path: str, before: str | None, after: str | None) -> Diff:
    """Returns the differences between two versions of a file; None stands for a missing file."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    hunks = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        lines: list[Line] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [Line(" ", a + n + 1, c + n + 1, old[a + n]) for n in range(b - a)]
                continue
            lines += [Line("-", n + 1, None, old[n]) for n in range(a, b)]
            lines += [Line("+", None, n + 1, new[n]) for n in range(c, d)]
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        hunks.append((f"@@ -{_span(a, b)} +{_span(c, d)} @@", lines))
    what = "added" if before is None else "deleted" if after is None else "changed"
    signs = [line.sign for _, lines in hunks for line in lines]
    return Diff(path, what, hunks, signs.count("+"), signs.count("-"))


def blame(versions: Iterable[tuple[T, str]]) -> list[tuple[T, list[str]]]:
    """Returns the lines of the last version in runs, each with the version that brought it.

    Args:
        versions: the label and text of each version, oldest first.
    """
    owners: list[T] = []
    lines: Sequence[str] = []
    for name, text in versions:
        new, kept = text.splitlines(), list[T]()
        for tag, a, b, c, d in SequenceMatcher(None, lines, new, autojunk=False).get_opcodes():
            kept += owners[a:b] if tag == "equal" else [name] * (d - c)
        owners, lines = kept, new
    runs: list[tuple[T, list[str]]] = []
    for owner, line in zip(owners, lines, strict=True):
        if runs and runs[-1][0] == owner:
            runs[-1][1].append(line)
        else:
            runs.append((owner, [line]))
    return runs
