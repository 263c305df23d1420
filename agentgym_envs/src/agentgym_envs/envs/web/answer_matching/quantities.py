"""Finds the numbers of a text with sign, scale and unit: "$1,299", "six hundred", "87.8 km"."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

COUNT = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
WORDS = {word: number for number, word in enumerate(COUNT)} | {
    word: 10 * (number + 2) for number, word in enumerate(TENS)
}
WORD = "|".join(sorted([*WORDS, *SCALES], key=len, reverse=True))
FIRST = "|".join(sorted(WORDS, key=len, reverse=True))  # a scale alone belongs to digits
PHRASE = re.compile(rf"\b(?:{FIRST})(?:(?:[ -]| and )(?:{WORD}))*\b")
IDIOMS = (
    (r"\bhalf a dozen\b", "6"), (r"\ba dozen\b", "12"), (r"\bhalf an hour\b", "30 min"),
    (r"\ban hour\b", "1 h"), (r"\bone of\b", "some of"),
)  # fmt: skip

IDENTIFIER = re.compile(r"[a-z]+[-_]?\d[\w-]*|\d+(?:\.\d+){2,}(?!,)")
DIGITS = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
CURRENCY = re.compile(
    r"(?P<dollar>(?:us ?)?\$ ?|\busd ?)$|(?:[€£¥]|\b(?:eur|gbp|cad|aud|chf|jpy)) ?$"
)
SCALE = re.compile(r" ?(k|hundred|thousand|million|billion|dozen)(?![a-z])")
FACTORS = SCALES | {"k": 1000, "billion": 10**9, "dozen": 12}
UNITS = tuple(
    (dimension, Decimal(factor), re.compile(rf"[ -]?(?:{pattern})(?![a-z/\d])"))
    for dimension, factor, pattern in (
        ("speed", "1", r"km/h|kph|kmh|kilomet\w+ (?:per|an) hour"),
        ("speed", "1.609344", r"mph|mi/h|miles (?:per|an) hour"),
        ("speed", "3.6", r"m/s|met\w+ per second"),
        ("length", "1000", r"km|kms|kilomet\w+"),
        ("length", "1609.344", r"mi|miles?"),
        ("length", "1", r"m|met(?:er|re)s?"),
        ("length", "1852", r"nautical miles?|nmi"),
        ("length", "0.01", r"cm|centimet\w+"),
        ("length", "0.3048", r"ft|feet|foot"),
        ("length", "0.9144", r"yd|yards?"),
        ("time", "60", r"h|hours?|hrs?"),
        ("time", "1", r"min|minutes?|mins|'"),
        ("time", "0", r"ms|milliseconds?"),
        ("time", "1440", r"d|days?"),
        ("time", "10080", r"weeks?"),
        ("mass", "1000", r"kg|kgs|kilo(?:gram)?\w*"),
        ("mass", "1", r"g|gram\w*"),
        ("mass", "453.6", r"lbs?|pounds?"),
        ("mass", "28.35", r"oz|ounces?"),
        ("money", "1", r"\$|dollars?|usd|bucks"),
        ("money", "0.01", r"cents?|¢"),
        ("foreign", "1", r"euros?|eur|€|gbp|£|yen|cad|aud|chf|jpy"),
        ("share", "1", r"%|percent|per cent"),
        ("time", str(Decimal(1) / 60), r"s|sec|secs|seconds?"),
    )
)
"""Dimension, factor to the dimension's base unit (km/h, m, min, g, $) and the unit's words."""


class Quantity(NamedTuple):
    """A number of a text.

    Attributes:
        number: as it is written, with its scale.
        dimension: of its unit; None without a unit.
        factor: of its unit.
        start: where it begins, with its currency.
        end: where it ends, with its unit.
    """

    number: Decimal
    dimension: str | None
    factor: Decimal
    start: int
    end: int

    def per(self, factor: Decimal) -> Decimal:
        """Returns the number in a unit with this factor."""
        return round(self.number * self.factor / factor, 6)


def joined(text: str, found: Sequence[Quantity]) -> Iterator[Quantity]:
    """Yields quantities with times of several units as one: "1 h 5 min", "2 min and 23 s"."""
    last: Quantity | None = None
    for q in found:
        together = last and "time" == last.dimension == q.dimension and last.factor > q.factor
        if last and together and re.fullmatch(r",? ?(?:and )?", text[last.end : q.start]):
            whole = last.number * last.factor + q.number * q.factor
            last = Quantity(whole, "time", Decimal(1), last.start, q.end)
            continue
        if last:
            yield last
        last = q
    if last:
        yield last


def in_digits(text: str) -> str:
    """Returns a text with digits for number words: "thirty-six" is 36; a lone "one" stays.

    "One" is a number only where the text has no other: "One leaves the town after 3 km".
    """
    for pattern, digits in IDIOMS:
        text = re.sub(pattern, digits, text)
    others = re.search(r"\d", text) or {m[0] for m in PHRASE.finditer(text)} - {"one"}

    def digits_of(found: re.Match[str]) -> str:
        return found[0] if found[0] == "one" and others else str(_total(found[0]))

    return PHRASE.sub(digits_of, text)


def _total(words: str) -> int:
    total = part = 0
    for word in re.findall(WORD, words):
        if word not in SCALES:
            part += WORDS[word]
        elif word == "hundred":
            part = max(part, 1) * 100
        else:
            total, part = total + max(part, 1) * SCALES[word], 0
    return total + part


def _numbers(digits: str) -> Iterator[Decimal]:
    """Yields the number of a run of digits and signs; several if the run is a list: "12,13,14"."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?", digits):
        yield Decimal(digits.replace(",", ""))
    elif re.fullmatch(r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,2}", digits):  # a decimal comma
        yield Decimal(digits.replace(".", "").replace(",", "."))
    else:
        yield from map(Decimal, re.findall(r"\d+", digits))


def unit_at(text: str, place: int) -> tuple[str | None, Decimal, int]:
    """Returns the dimension and factor of the unit that begins at a place, and where it ends."""
    for dimension, factor, pattern in UNITS:
        if found := pattern.match(text, place):
            return dimension, factor, found.end()
    return None, Decimal(1), place


def quantities(text: str) -> Iterator[Quantity]:
    """Yields the quantities of a text; "3rd", "6-digit" and parts of an identifier are none."""
    text = IDENTIFIER.sub(lambda found: "_" * len(found[0]), text)
    for found in DIGITS.finditer(text):
        scale = SCALE.match(text, found.end())
        end = scale.end() if scale else found.end()
        dimension, factor, end = unit_at(text, end)
        if re.match(r"-[a-z]|\w", text[end : end + 2]):
            continue
        start = found.start()
        ahead = text[max(0, start - 6) : start]
        if currency := CURRENCY.search(ahead):
            start -= len(currency[0])
            dimension, factor = ("money" if currency["dollar"] else "foreign"), Decimal(1)
        sign = -1 if re.search(r"(?:^|[\s(])-$", text[max(0, start - 2) : start]) else 1
        for number in _numbers(found[0]):
            scaled = sign * number * (FACTORS[scale[1]] if scale else 1)
            yield Quantity(scaled, dimension, factor, start, end)
