"""Parses an observation; scripts act by the ids that an agent sees."""

import ast
import re
from itertools import pairwise
from typing import NamedTuple

LINE = re.compile(r"^(\t*)\[(\d+)\] (\w+) ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(.*)$", re.M)


class ShownElement(NamedTuple):
    """A line of the tree.

    Attributes:
        id: number for actions.
        role: role in the accessibility tree.
        name: the name without quotes and superfluous blanks.
        properties: as written in the line.
        depth: levels below the page.
        text: content of a field: the typed text.
    """

    id: int
    role: str
    name: str
    properties: str
    depth: int
    text: str = ""


class NotShown(LookupError):
    """The observation does not show such an element."""


def elements(text: str) -> list[ShownElement]:
    """Returns the elements of an observation, in its order."""
    found = [
        ShownElement(int(number), role, _words(ast.literal_eval(name)), properties, len(tabs))
        for tabs, number, role, name, properties in LINE.findall(text)
    ]
    for i, (above, below) in enumerate(pairwise(found)):
        if below.role == "StaticText" and below.depth == above.depth + 1:
            found[i] = above._replace(text=below.name)
    return found


def _words(name: str) -> str:
    return " ".join(name.split())


def find(
    text: str,
    name: str | None = None,
    *,
    role: str | None = None,
    after: str | int | None = None,
    nth: int = 0,
) -> ShownElement:
    """Returns the nth element with a name and a role.

    Args:
        text: the observation.
        name: name of the element; None for any.
        role: role of the element; None for any.
        after: count only behind the first element with this name or id.
        nth: index among the elements that fit, from 0.

    Raises:
        NotShown: the observation has no such element.
    """
    shown = elements(text)
    if after is not None:
        shown = shown[
            next((i for i, e in enumerate(shown) if after in (e.name, e.id)), len(shown)) + 1 :
        ]
    fitting = [e for e in shown if name in (None, e.name) and role in (None, e.role)]
    if len(fitting) <= nth:
        raise NotShown(f"{role or 'element'} {name!r} number {nth} is not shown")
    return fitting[nth]
