"""Judges an answer to a task of our own sites by its meaning: any fair wording counts, a second guess or a hedge does not.

A task names the kind of its answer and the value: ``{"kind": "number", "value": "12"}``. Every kind
has two rules. The answer must state the value, and it must state no other value of this kind,
unless the task's text does so too or the answer sets it aside ("the bookcase, not the shelf").
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

Query = Callable[[str], str]
"""Answers a query to a database of the episode: rows are parted by line breaks."""

COUNT = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen",
    "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
WORDS = {word: number for number, word in enumerate(COUNT)} | {
    word: 10 * (number + 2) for number, word in enumerate(TENS)
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SIGNS = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\xa0": " ", "‑": "-"}
)
HEDGE = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|probably|likely|might|guess\w*|unsure|uncertain|unclear|unknown|cannot|can't|couldn't"
    r"|n/a)(?![\w/])|\bnot (?:sure|certain|known|found|available)\b|\?"
)
ROUGH = re.compile(
    r"~|\b(?:about|around|approximately|approx|roughly|circa|almost|nearly|at least|at most|up to)\b|[<>≤≥]"
    r"|\b(?:over|under|above|below|beyond|before|after|until|since|past|(?:more|less|fewer|greater|later|earlier|longer) than)"
    rf"(?= \W?(?:\d|(?:{'|'.join(MONTHS)})))"  # "6 comments under the post" is no bound
)
DENIED = re.compile(
    r"^['\w]*,? (?:is|was|are|were|does|did|do|has|have|had|can|could|would|will)(?: not\b|n't)|^\W* (?:is|are|was|were) (?:wrong|false|incorrect)\b"
)
ASIDE = re.compile(
    r"\b(?:not|never|neither|nor|than|unlike|rather than|instead of|isn't|wasn't|aren't|doesn't|didn't|except)\b|\bno$"
)
CLAUSE = re.compile(r"[,;:.()]\s|\bbut\b|-\s")
NUMBER = re.compile(r"(?<![\w.])(?:(?<![a-z0-9])-)?\d+(?:[.,]\d+)*")
IDENTIFIER = re.compile(r"[a-z]+-?\d[\w-]*|\d+(?:\.\d+){2,}")
RANGE = re.compile(r"\d\s*(?:-|to|and)\s*\$?\d")
SCALED = r" ?(?:k|%|percent|dozen|thousand|million|billion|cents?|¢)(?![a-z])|\+"
"""Words behind a number that change its value."""
UNITS = (
    r" ?(?:km/h|kph|kmh|kilomet\w+ (?:per|an) hour)\b", r" ?(?:mph|miles (?:per|an) hour)\b", r" ?m/s\b", r" ?(?:km|kilomet\w+)\b",
    r" ?(?:mi|miles?)\b", r" ?(?:m|met(?:er|re)s?)\b(?!in)", r" ?(?:min|minutes?|mins)\b", r" ?(?:h|hours?|hrs?)\b", r" ?(?:s|sec|seconds?)\b",
    r" ?(?:d|days?)\b", r" ?(?:g|gram\w*)\b", r" ?(?:kg|kilo(?:gram)?\w*)\b", r" ?(?:cm|centimet\w+)\b", r" ?(?:weeks?)\b", r" ?(?:euros?|pounds?)\b",
)  # fmt: skip
EXAMPLE = re.compile(r"\banswer (?:like|as)\b.*$")  # at the end of a task's text
OPPOSITES = (
    "heavier lighter", "cheaper dearer", "farther nearer", "farther closer", "longer shorter", "more less", "more fewer", "larger smaller",
    "higher lower", "earlier later", "older newer", "older younger", "better worse", "most least", "most fewest", "best worst", "cheapest dearest",
    "nearest farthest", "newest oldest", "first last", "highest lowest", "longest shortest", "heaviest lightest",
)  # fmt: skip


def accepts(spec: Mapping[str, Any], said: str, intent: str, query: Query | None = None) -> bool:
    """Says whether an answer is right.

    Args:
        spec: ``kind``, a key of ``KINDS``, and ``value``; ``among`` for names: a list, or ``tables:sql`` whose rows are the names; ``also``: other wordings.
        said: the answer.
        intent: the task's text; an answer may repeat its numbers and names.
        query: answers ``among``.
    """
    kind, text, asked = spec["kind"], plain(said), EXAMPLE.sub("", plain(intent))
    if kind == "none":
        return _nothing(text, asked)
    if not text or _opposite(text, asked):
        return False
    if kind == "name":
        among = spec["among"]
        names = query(among).split("\n") if isinstance(among, str) and query else among
        return _named([spec["value"], *spec.get("also", ())], names, text, asked)
    return not HEDGE.search(text) and KINDS[kind](spec["value"], text, asked)


def plain(text: str) -> str:
    """Returns a text in small letters with simple quotes, dashes and blanks, without quotes or a period around it."""
    found = " ".join(text.translate(SIGNS).lower().split())
    for quote in "'\"`":
        if len(found) > 1 and found.startswith(quote) and found.endswith(quote):
            found = found[1:-1].strip()
    return found.removesuffix(".") if not found.endswith(("a.m.", "p.m.")) else found


def _opposite(text: str, intent: str) -> bool:
    """Says whether an answer speaks of the lighter of two where the task asks for the heavier."""
    said, asked = set(re.findall(r"[a-z]+", text)), set(re.findall(r"[a-z]+", intent))
    pairs = [pair.split() for pair in OPPOSITES]
    return any(
        b in said - asked and a in asked - said for x, y in pairs for a, b in ((x, y), (y, x))
    )


def _nothing(text: str, intent: str) -> bool:
    """N/A at the beginning, perhaps with a reason that offers no answer after all."""
    found = re.match(
        r"(?:the answer is:? |answer: )?[\"'(\[]?n/?a\b[\"')\]]?(?P<reason>\W.*)?$", text
    )
    if found is None:
        return False
    reason = found["reason"] or ""
    return not re.search(r"\b(?:or|but|however|maybe|perhaps|unless)\b", reason) and set(
        _numbers(reason)
    ) <= set(_numbers(intent))


def _shortened(name: str) -> str:
    return plain(name).removeprefix("the ")


def _mentions(names: Sequence[str], text: str) -> Iterator[tuple[str, int, int]]:
    """Yields the names of a text with where they begin and end, the longest first where one holds another."""
    taken = [False] * len(text)
    for name in sorted(
        {n for n in names if n and n.rstrip("?!.") in text}, key=lambda n: (-len(n), n)
    ):
        stem = name.rstrip("?!.")
        end = re.escape(name[len(stem) :])  # a title's question mark may be left out
        for found in re.finditer(rf"(?<![\w-]){re.escape(stem)}(?:{end})?(?![\w]|[.,-]\w)", text):
            if not any(taken[found.start() : found.end()]):
                taken[found.start() : found.end()] = [True] * len(found[0])
                yield name, found.start(), found.end()


def _dismissed(text: str, place: int, end: int | None = None) -> bool:
    """Says whether the words around a place set aside what stands there.

    Examples: "not the lamp", "cheaper than the lamp", "the lamp is not heavier", "the lamp is wrong".

    Args:
        text: the answer.
        place: where the value begins.
        end: where it ends; None: the words behind it are not read.
    """
    return bool(ASIDE.search(CLAUSE.split(text[:place])[-1])) or bool(
        end is not None and DENIED.search(text[end:])
    )


def _named(values: Sequence[str], among: Sequence[str], text: str, intent: str) -> bool:
    """One of the values stands in the text, and of the other names only those that are set aside or stand in the task's text."""
    wanted = {_shortened(v) for v in values}
    shared = (
        {n for n in map(_shortened, among) if n not in wanted and n in intent}
        if not any(w in intent for w in wanted)
        else set()
    )
    found = list(_mentions([*wanted, *map(_shortened, among)], text))
    claimed = {name for name, place, end in found if not _dismissed(text, place, end)} - shared
    rest = text
    for _, place, end in found:
        rest = rest[:place] + "_" * (end - place) + rest[end:]
    return bool(claimed & wanted) and claimed <= wanted and not HEDGE.search(rest)


def _numbers(text: str) -> Iterator[Decimal]:
    """Yields the numbers of a text; those within an identifier, such as CA-1826 or 1.4.2, are none."""
    for found in NUMBER.finditer(IDENTIFIER.sub(" ", text)):
        if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?", found[0]):
            yield Decimal(found[0].replace(",", ""))
        else:
            yield from map(Decimal, re.findall(r"\d+", found[0]))


def _only(wanted: Any, found: Sequence[Any], asked: Sequence[Any]) -> bool:
    """Says whether a value was found, and no other but those that the task's text holds."""
    return wanted in found and all(f == wanted or f in asked for f in found)


def _in_digits(text: str) -> str:
    """Returns a text with its number words as digits: "thirty-six" is 36, "six hundred" 600; "one" beside digits stays a word."""
    word = "|".join([*WORDS, *SCALES])

    def digits(found: re.Match[str]) -> str:
        total = part = 0
        for name in re.findall(word, found[0]):
            if name in SCALES:
                part = max(part, 1) * SCALES[name]
                total, part = (total, part) if name == "hundred" else (total + part, 0)
            else:
                part += WORDS[name]
        return str(total + part)

    if re.search(r"\d", text):
        return text
    without_pronouns = re.sub(r"\bone of\b", "some of", text)
    return re.sub(rf"\b(?:{word})\b(?:(?:[ -]| and )(?:{word})\b)*", digits, without_pronouns)


def _vague(text: str, intent: str) -> bool:
    """Says whether a text holds a range, a bound or an estimate that the task's text does not hold."""
    return any(
        found[0].strip() not in intent
        for pattern in (ROUGH, RANGE)
        for found in pattern.finditer(text)
    )


def _clear(value: str, text: str, intent: str) -> bool:
    """Says whether the numbers of a text are meant: no range, nothing rough, nothing denied, no larger scale."""
    same = [found for found in NUMBER.finditer(text) if Decimal(value) in set(_numbers(found[0]))]
    denied = any(_dismissed(text, found.start(), found.end()) for found in same)
    scaled = any(re.match(SCALED, text[found.end() :]) for found in same)
    return not denied and not scaled and not _vague(text, intent)


def _unit(text: str, place: int) -> str | None:
    """Returns the pattern of the unit of measure behind a number; None without one."""
    return next((unit for unit in UNITS if re.match(unit, text[place:])), None)


def _number(value: str, text: str, intent: str) -> bool:
    text = _in_digits(text)
    found, wanted = list(_numbers(text)), Decimal(value)
    stated = {
        _unit(text, match.end())
        for match in NUMBER.finditer(text)
        if wanted in set(_numbers(match[0]))
    } - {None}
    asked = [unit for unit in UNITS if re.search(rf"(?:^|[ (]){unit.removeprefix(' ?')}", intent)]
    fitting = not asked or stated <= set(asked)
    return fitting and _clear(value, text, intent) and _only(wanted, found, list(_numbers(intent)))


def _money(value: str, text: str, intent: str) -> bool:
    text = _in_digits(text)
    if re.search(r"[€£]|\b(?:euros?|pounds?)\b|-\$", text):
        return False
    marked = re.findall(r"\$ ?(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?) ?(?:dollars|usd|\$)", text)
    found = [n for pair in marked for n in _numbers(" ".join(pair))] or list(
        _numbers(text.replace("$", " "))
    )
    asked = list(_numbers(intent.replace("$", " ")))
    return _clear(value, text, intent) and _only(Decimal(value), found, asked)


DAY = re.compile(
    r"(?P<y>\d{4})[-/](?P<m>\d\d?)[-/](?P<d>\d\d?)\b|(?P<m2>\d\d?)/(?P<d2>\d\d?)/(?P<y2>\d{4})\b|(?P<d3>\d\d?)\.(?P<m3>\d\d?)\.(?P<y3>\d{4})\b"
    r"|(?P<n>[a-z]{3,9})\.? (?P<d4>\d\d?)(?:st|nd|rd|th)?,? (?P<y4>\d{4})\b|(?P<d5>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<n5>[a-z]{3,9})\.?,? (?P<y5>\d{4})\b"
)


def _days(text: str) -> Iterator[date]:
    """Yields the days of a text, in any common form."""
    for found in DAY.finditer(text):
        part = {key[0]: value for key, value in found.groupdict().items() if value}
        month = (
            MONTHS.index(part["n"][:3]) + 1
            if part.get("n", "")[:3] in MONTHS
            else int(part.get("m", 0))
        )
        try:
            yield date(int(part["y"]), month, int(part["d"]))
        except ValueError:
            continue


def _meant(text: str, intent: str) -> bool:
    """Says whether an answer's date or time is meant: it is neither denied nor bounded."""
    digits = list(re.finditer(r"\d", text))
    before, behind = (text[: digits[0].start()], text[digits[-1].end() :]) if digits else (text, "")
    denied = ASIDE.search(before) or re.match(
        r"\W*(?:[a-z.]+ )?(?:is|are|was|were)(?: not| wrong| false|n't)\b", behind
    )
    return not denied and not any(found[0].strip() not in intent for found in ROUGH.finditer(text))


def _date(value: str, text: str, intent: str) -> bool:
    return _meant(text, intent) and _only(
        date.fromisoformat(value), list(_days(text)), list(_days(intent))
    )


def _months(text: str) -> Iterator[str]:
    for year, month in re.findall(r"\b(\d{4})[-/](\d\d)\b(?!-)", text):
        yield f"{year}-{month}"
    for name, year in re.findall(r"\b([a-z]{3,9})\.?,? (?:of )?(\d{4})\b", text):
        if name[:3] in MONTHS:
            yield f"{year}-{MONTHS.index(name[:3]) + 1:02}"


def _month(value: str, text: str, intent: str) -> bool:
    return _meant(text, intent) and _only(value, list(_months(text)), list(_months(intent)))


def _clocks(text: str) -> Iterator[int]:
    """Yields the times of day of a text, in minutes."""
    for hour, minute, half in re.findall(
        r"\b(\d\d?)(?:[:.](\d\d))? ?([ap]\.?m\b|o'clock|(?<=\d\d)(?!\d))", text
    ):
        if half or minute:
            shift = (
                12
                if half.startswith("p") and int(hour) < 12
                else -12
                if half.startswith("a") and int(hour) == 12
                else 0
            )
            if minute or half[0] in "apo":
                yield (int(hour) + shift) * 60 + int(minute or 0)


def _clock(value: str, text: str, intent: str) -> bool:
    hour, minute = value.split(":")
    return _meant(text, intent) and _only(
        60 * int(hour) + int(minute), list(_clocks(text)), list(_clocks(intent))
    )


SPAN = re.compile(
    r"(?P<h>\d+) ?(?:h|hr|hrs|hours?)\b(?:,? ?(?:and )?(?P<m>\d+) ?(?:m|min|mins|minutes?)\b)?|(?P<only>\d+) ?(?:m|min|mins|minutes?)\b"
)


def _spans(text: str) -> Iterator[int]:
    for found in SPAN.finditer(text):
        yield int(found["only"] or 0) + 60 * int(found["h"] or 0) + int(found["m"] or 0)


def _duration(value: str, text: str, intent: str) -> bool:
    found = list(_spans(text)) or [int(n) for n in _numbers(text) if n == int(n)]
    rest = (
        [n for n in _numbers(SPAN.sub(" ", text)) if n not in set(_numbers(intent))]
        if list(_spans(text))
        else []
    )
    if not list(_spans(text)) and any(_unit(text, match.end()) for match in NUMBER.finditer(text)):
        return False  # seconds, days or kilometres
    return _meant(text, intent) and not rest and _only(int(value), found, list(_spans(intent)))


def _shape(value: str) -> str:
    """Returns a pattern of the codes that look like one: digits for digits, letters for letters, signs between them or not."""
    if re.fullmatch(r"\d+(?:\.\d+)+", value):
        return r"(?<![\d.])" + r"\.".join([r"\d+"] * len(value.split("."))) + r"(?![\d]|\.\d)"
    parts = [
        ("[a-z]" if run[0].isalpha() else r"\d") + f"{{{len(run)}}}"
        for run in re.findall(r"[a-z]+|\d+", value)
    ]
    return r"(?<![a-z0-9])" + r"[-. ()/]{0,2}".join(parts) + r"(?![a-z0-9])"


def _bare(code: str) -> str:
    return code if re.fullmatch(r"[\d.]+", code) else re.sub(r"[^a-z0-9]", "", code)


def _codes(value: str, text: str, intent: str) -> bool:
    """All codes of the value, parted by blanks, and no others."""
    wanted = [plain(code) for code in value.split()]
    found = {
        _bare(match[0])
        for code in wanted
        for match in re.finditer(_shape(code), text.replace(", ", " , "))
    }
    asked = {_bare(match[0]) for code in wanted for match in re.finditer(_shape(code), intent)}
    denied = any(
        _dismissed(text, text.find(code), text.find(code) + len(code))
        for code in wanted
        if code in text
    )
    return (
        not denied
        and {_bare(code) for code in wanted} <= found
        and found - asked <= {_bare(code) for code in wanted}
    )


def _point(value: str, text: str, intent: str) -> bool:
    """Two coordinates; a letter for the hemisphere may stand in place of a sign."""
    wanted = [Decimal(part) for part in value.split(",")]
    found = [
        Decimal(n) * (-1 if side in ("s", "w") else 1)
        for n, side in re.findall(r"(-?\d+\.\d+)°? ?([nsew]\b)?", text)
    ]
    return _meant(text, intent) and found == wanted


def _yes(value: str, text: str, intent: str) -> bool:
    said = re.findall(r"\b(yes|no)\b", text)
    return said == [value] and text.startswith(value)


KINDS: Mapping[str, Callable[[str, str, str], bool]] = {
    "number": _number,
    "money": _money,
    "date": _date,
    "month": _month,
    "time": _clock,
    "duration": _duration,
    "codes": _codes,
    "point": _point,
    "yes": _yes,
}
"""Each kind's rule: the value, the answer and the task's text, all as :func:`plain` writes them."""
