"""Names of things: ALFWorld makes them from the ids, such as "mug 2" from ``mug_bar_plus_00``."""

from collections import Counter
from collections.abc import Iterable

_BAR = "_bar_"


def names(ids: Iterable[str]) -> dict[str, str]:
    """Returns the name of each id.

    Things of one kind are numbered. The first id in the order of the letters has the highest
    number. An id without ``_bar_`` is not numbered and its name ends with a blank.

    >>> names(["mug_bar_2", "mug_bar_1"])
    {'mug_bar_1': 'mug 2', 'mug_bar_2': 'mug 1'}
    """
    ordered = sorted(ids)
    left = Counter(_kind(one) for one in ordered if _BAR in one)
    named = {}
    for one in ordered:
        kind = _kind(one)
        named[one] = f"{kind} {left[kind]}" if _BAR in one else f"{_signs(one)} "
        left[kind] -= _BAR in one
    return named


def _kind(one: str) -> str:
    """Returns the first part of an id; a basin is named after the sink or bathtub around it."""
    return _signs(one.partition(_BAR)[0]) + ("basin" if "basin" in one else "")


def _signs(text: str) -> str:
    for word, sign in (("_minus_", "-"), ("_plus_", "+"), ("_dot_", "."), ("_comma_", ",")):
        text = text.replace(word, sign)
    return text
