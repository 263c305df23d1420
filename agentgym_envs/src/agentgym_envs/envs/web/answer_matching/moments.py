"""Judges dates, months and times of day in their common forms."""

import re
from collections.abc import Iterator
from datetime import date

from agentgym_envs.envs.web.answer_matching.wording import Mention, beside, states

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAME = (
    r"(?P<{}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
ORDINAL = r"(?:st|nd|rd|th)?"
WEEKDAY = r"(?:\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?,? (?:the )?)?"
FORMS = (
    r"(?<![\w-])(?P<y>\d{4})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)",
    r"(?<![\w-])(?P<y>\d{4})(?P<m>[01]\d)(?P<d>[0-3]\d)",
    r"(?<![\w/.-])(?P<a>\d\d?)(?P<sign>[-/.])(?P<b>\d\d?)(?P=sign)(?P<y>\d{4})",
    WEEKDAY + NAME.format("n") + rf",? (?P<d>\d\d?){ORDINAL},? \(?(?P<y>\d{{4}})",
    WEEKDAY
    + rf"\b(?P<d>\d\d?){ORDINAL}(?: of)?[ -]"
    + NAME.format("n")
    + r"[ ,-]{1,2}(?P<y>\d{4})",
    r"\b(?P<y>\d{4})[ ,-]{1,2}" + NAME.format("n") + rf"[ -](?P<d>\d\d?){ORDINAL}",
    NAME.format("n") + rf" (?P<d>\d\d?){ORDINAL}",  # the year is missing
    rf"\b(?P<d>\d\d?){ORDINAL}(?: of)?[ -]" + NAME.format("n"),
)
DAYS = tuple(re.compile(rf"{form}(?![\w/]|[-.:]\d)(?:\b|\))") for form in FORMS)
MONTH_FORMS = tuple(
    re.compile(rf"(?<![\w/.-]){form}(?![\w/]|[-.:]\d)")
    for form in (
        r"(?P<y>\d{4})[-/.](?P<m>\d\d?)",
        r"(?P<m>\d\d?)[-/.](?P<y>\d{4})",
        NAME.format("n") + r",? (?:of )?\(?(?P<y>\d{4})",
        r"(?P<y>\d{4})[ ,]{1,2}" + NAME.format("n"),
        NAME.format("n").replace("|may|", "|"),  # "may" alone is a verb
    )
)
CLOCK = re.compile(
    r"(?<![\w:.])(?P<h>\d\d?)(?:[:.h](?P<m>\d\d)(?::00)?)?(?![:.]?\d)"
    r"(?: ?(?P<half>[ap])\.?m\b\.?"
    r"| ?(?P<hour>o'clock|h\b|hrs\b|hours\b)(?: (?P<late>[ap])\.?m\b\.?)?)?"
)
NEAR = beside(
    r"before|after|since|till|by|from|prior to|following|to|\d+ ?(?:-|to|and|till|until|through)",
    r"to\b|till\b|until\b|through\b|- ?\d|onwards?\b",
)


def _taken(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[re.Match[str]]:
    """Yields the matches of several patterns; an earlier pattern takes its part of the text."""
    for pattern in patterns:
        yield from pattern.finditer(text)
        text = pattern.sub(lambda found: "_" * len(found[0]), text)


def _readings(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yields what a match may be: month and day in digits. "4/5/2026" has two readings."""
    part = found.groupdict()
    if "a" in part:
        yield from ((part["a"], part["b"]), (part["b"], part["a"]))
    elif "n" in part:
        yield str(MONTHS.index(part["n"][:3]) + 1), part["d"]
    else:
        yield part["m"], part["d"]


def days(text: str, wanted: date | None = None) -> Iterator[Mention]:
    """Yields the days of a text; of two readings the wanted one. A day without a year is a text."""
    for found in _taken(DAYS, text):
        readings, year = list(_readings(found)), found.groupdict().get("y")
        values = [v for month, day in readings if (v := _day(year, month, day))]
        partly = next((f"{m}-{d}" for m, d in readings if wanted and not year), None)
        same = wanted in values or (wanted and partly == f"{wanted.month}-{wanted.day}")
        if partly and same:
            continue  # it repeats the wanted day, and alone it does not answer
        value = wanted if same else values[0] if values else partly
        if value:
            yield Mention(value, found.start(), found.end())


def _day(year: str | None, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day)) if year else None
    except ValueError:
        return None


def judge_date(value: str, text: str, intent: str) -> bool:
    """Judges a day: "Jun 2, 2026", "2 June 2026", "2026-06-02", "6/2/2026", "2.6.2026"."""
    wanted = date.fromisoformat(value)
    asked = {mention.value for mention in days(intent)}
    return states(wanted, list(days(text, wanted)), text, asked, NEAR)


def months(text: str) -> Iterator[Mention]:
    """Yields the months of a text as 2026-06; a name without a year as -06."""
    for found in _taken(MONTH_FORMS, text):
        part = found.groupdict()
        number = MONTHS.index(part["n"][:3]) + 1 if part.get("n") else int(part["m"])
        yield Mention(f"{part.get('y') or ''}-{number:02}", found.start(), found.end())


def judge_month(value: str, text: str, intent: str) -> bool:
    """The month may lack its year if only one such month lies in the time that the task names."""
    dates = sorted(mention.value for mention in days(intent))
    alone = len(dates) == 2 and (dates[1] - dates[0]).days < 335
    found = [m._replace(value=value) if m.value == value[4:] and alone else m for m in months(text)]
    named = [m for m in found if m.value == value[4:]]  # it repeats the month without its year
    asked = {mention.value for mention in months(intent)} - {value}
    return states(value, [m for m in found if m not in named], text, asked, NEAR)


def clocks(text: str) -> Iterator[Mention]:
    """Yields the times of day of a text, in minutes; "18:00 am" is none."""
    for found in CLOCK.finditer(re.sub(r"\b(?:12 )?noon\b", "12:00", text)):
        hour, minute = int(found["h"]), int(found["m"] or 0)
        half = found["half"] or found["late"]
        if not (found["m"] or half or found["hour"]) or minute > 59 or hour > 24:
            continue
        if half == "a" and hour > 12:
            continue
        shift = 12 if half == "p" and hour < 12 else -12 if half == "a" and hour == 12 else 0
        yield Mention(60 * (hour + shift) + minute, found.start(), found.end())


def judge_time(value: str, text: str, intent: str) -> bool:
    """Judges a time of day: "17:00", "5 pm", "17h00"."""
    hour, minute = value.split(":")
    if re.fullmatch(r"(?:at )?\d{4}(?: ?h| ?hrs| hours)?", text):
        text = re.sub(r"(\d\d)(\d\d)", r"\1:\2", text)
    text = re.sub(r"\bopen (?:until|till)\b", "closes at", text)
    asked = {mention.value for mention in clocks(intent)}
    return states(60 * int(hour) + int(minute), list(clocks(text)), text, asked, NEAR)


def without_moments(text: str) -> str:
    """Returns a text with lines in place of its dates and times, whose digits are not values."""
    for pattern in (*DAYS[:6], *MONTH_FORMS[2:4], re.compile(r"\b\d\d?:\d\d(?::\d\d)?\b")):
        text = pattern.sub(lambda found: "_" * len(found[0]), text)
    return text
