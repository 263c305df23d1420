"""Facts that the agent must tell the user, and their forms in a message."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

MOST = 6  # a message with more values of a kind tells none of them: it could be a list of guesses
_MONTHS = "january february march april may june july august september october november december"
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_MONTH = "|".join([*(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS.split()), "sept"])
_ISO = re.compile(r"\b[0-9]{4}-([0-9]{2})-([0-9]{2})\b")
_DAY_MONTH = re.compile(rf"\b([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b")
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.? ([0-9]{{1,2}})(?:st|nd|rd|th)?\b")
_TIME = re.compile(r"(?<![0-9:])([0-9]{1,2}):([0-9]{2})(?![0-9:])(?: ?([ap])\.?m\b)?")
_NUMBER = re.compile(r"(?<![\w.,:-])([0-9]{1,5})(?:[.,]([0-9]{1,2}))?(?![0-9:-]|[.,][0-9])")
_SHELF = re.compile(r"\b[a-f][1-9]\b")
KINDS = ("date", "time", "money", "number", "shelf")


@dataclass(frozen=True)
class RequiredFact:
    """A value that the user must learn.

    Attributes:
        kind: one of ``KINDS``.
        value: as the tools write it.
    """

    kind: str
    value: str

    def told_in(self, message: str) -> bool:
        """Returns whether a message states the value.

        >>> RequiredFact("date", "2031-05-14").told_in("It is due on May 14th.")
        True
        """
        return values(self.kind, self.value) <= values(self.kind, message)


def values(kind: str, message: str) -> frozenset[str]:
    """Returns the values of a kind in a message; none if there are more than ``MOST``.

    Dates have no year, and money is in cents.

    >>> sorted(values("money", "It costs 12.50, or 8 with a card."))
    ['1250', '800']
    """
    found = frozenset(_READERS[kind](" ".join(message.casefold().split())))
    return found if len(found) <= MOST else frozenset()


def _dates(text: str) -> Iterable[str]:
    yield from (f"{month}-{day}" for month, day in _ISO.findall(text))
    yield from (f"{_month(month)}-{int(day):02}" for day, month in _DAY_MONTH.findall(text))
    yield from (f"{_month(month)}-{int(day):02}" for month, day in _MONTH_DAY.findall(text))


def _month(name: str) -> str:
    starts = [month[:3] for month in _MONTHS.split()]
    return f"{starts.index(name[:3]) + 1:02}"


def _times(text: str) -> Iterable[str]:
    for hour, minute, half in _TIME.findall(text):
        hours = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
        yield f"{hours:02}:{minute}"


def _money(text: str) -> Iterable[str]:
    return (str(int(whole) * 100 + int(f"{part:0<2}")) for whole, part in _NUMBER.findall(text))


def _numbers(text: str) -> Iterable[str]:
    yield from (str(int(whole)) for whole, part in _NUMBER.findall(text) if not part)
    words = enumerate(_NUMBER_WORDS.split())
    yield from (str(n) for n, word in words if re.search(rf"\b{word}\b", text))


_READERS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "date": _dates,
    "time": _times,
    "money": _money,
    "number": _numbers,
    "shelf": _SHELF.findall,
}
