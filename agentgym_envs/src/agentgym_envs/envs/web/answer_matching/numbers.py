"""Judges counts, measures, amounts of money and time spans."""

import re
from collections.abc import Iterator
from decimal import Decimal

from agentgym_envs.envs.web.answer_matching.moments import without_moments
from agentgym_envs.envs.web.answer_matching.quantities import (
    Quantity,
    in_digits,
    joined,
    quantities,
    unit_at,
)
from agentgym_envs.envs.web.answer_matching.wording import ESTIMATES, Mention, beside, states
from agentgym_envs.envs.web.answer_matching.words import KNOWN

EXAMPLE = re.compile(r"\banswer\b.*\b(?:like|as)\b.*$")  # at the end of a task's text
PART = re.compile(r"\b(?:of which|of them|including|incl\.?|among them|thereof)\W*$")
OF = re.compile(r"^(?: \w+)? of (?:them|which|these|those)\b")
BEFORE = (
    r"half(?: of)?|(?:a )?(?:third|quarter|tenth|fraction) of|twice|double|triple|times|minus"
    r"|plus|negative|between|square of|multiple of|[-/*^+×x]|\d+ ?(?:-|to|through|until|and)"
    r"|before|after|next to"
)
BEHIND = (
    r"(?:too (?:many|much|few)|times\b|squared|cubed|doubled|halved|minus\b|plus\b|less\b|more\b"
    r"|fewer\b|off\b|short\b|(?:per|each|every|a) (?:day|week|month|year)\b"
    r"|[*/^×+=]|x\b|(?:-|to|through|till|until|and) ?\$?\d)"
)
NEAR, MEASURED = (
    beside(BEFORE, BEHIND, estimates=words)._replace(part=PART, of=OF) for words in (ESTIMATES, "")
)
SHORT_SPAN = re.compile(
    r"(?<![\w.:])(?:pt)?(\d+) ?(?:h|hr|hrs|hours?) ?(\d\d?)m?(?![\w.:]| ?[a-z])"
    r"|(?<![\w.:])(\d\d?):(\d\d)(?: ?(?:h|hrs?|hours?)\b)?(?![\w:])"
)


def asked_unit(intent: str) -> tuple[str, Decimal] | None:
    """Returns dimension and factor of the unit that a task asks for; None if it counts things."""
    example = EXAMPLE.search(intent)
    for quantity in quantities(example[0] if example else ""):
        if quantity.dimension:
            return quantity.dimension, quantity.factor
    for found in re.finditer(r"\b(?:how many|number of|in)(?= )", intent):
        dimension, factor, end = unit_at(intent, found.end())
        if dimension and not re.match(r"\w", intent[end:]):
            return dimension, factor
    return None


def _identifies(text: str, start: int, intent: str) -> bool:
    """Says whether a number names a thing and is no amount: "#6"; "order 6" among orders."""
    if text[:start].endswith("#"):
        return "its number" not in intent
    word = re.search(r"([a-z]+) $", text[max(0, start - 30) : start])
    return "how many" in intent and bool(word and f"{word[1]}s" in intent.split())


def _mentions(
    found: list[Quantity], unit: tuple[str, Decimal] | None, text: str, intent: str
) -> Iterator[Mention]:
    """Yields the quantities that could be the answer, in the asked unit."""
    for q in joined(text, found):
        if q.dimension is None and not _identifies(text, q.start, intent):
            yield Mention(q.number, q.start, q.end)
        elif unit and q.dimension == unit[0]:
            yield Mention(q.per(unit[1]), q.start, q.end)


def judge_number(value: str, text: str, intent: str) -> bool:
    """Judges a count or a measure: its unit may be missing, and another one is converted."""
    wanted, text = Decimal(value), without_moments(in_digits(text))
    if not wanted:
        text = re.sub(r"^(?:none|no(?= [a-z]))\b|\b(?:has|have|are|is) no\b", "0", text)
    unit, question = asked_unit(intent), EXAMPLE.sub("", intent)
    found = list(_mentions(list(quantities(text)), unit, text, question))
    asked = {q.number for q in quantities(question)}
    return states(wanted, found, text, asked, MEASURED if "." in value else NEAR)


def _counted(text: str, q: Quantity) -> bool:
    """Says whether a number counts things: "3 pieces"."""
    word = re.match(r" ([a-z]+)", text[q.end :])
    return bool(word and (word[1] not in KNOWN or word[1] in ("items", "pieces", "products")))


def judge_money(value: str, text: str, intent: str) -> bool:
    """Judges dollars; beside an amount with its sign, numbers of things do not count."""
    text = without_moments(in_digits(text))
    found = list(quantities(text))
    if any(q.dimension == "money" for q in found):
        found = [q for q in found if q.dimension or not _counted(text, q)]
    mentions = list(_mentions(found, ("money", Decimal(1)), text, intent))
    asked = {q.number for q in quantities(EXAMPLE.sub("", intent))}
    return states(Decimal(value), mentions, text, asked, NEAR)


def _spans(text: str) -> Iterator[Mention]:
    """Yields the short time spans of a text, "1h44" and "1:44", in minutes."""
    for found in SHORT_SPAN.finditer(text):
        hours, minutes = (int(part) for part in found.groups() if part)
        yield Mention(Decimal(60 * hours + minutes), found.start(), found.end())


def judge_duration(value: str, text: str, intent: str) -> bool:
    """Spans of hours and minutes, other times in minutes; a number without a unit is minutes."""
    text = re.sub(r"\bpt(\d+)m\b", r"\1 min", in_digits(text))
    rest = SHORT_SPAN.sub(lambda found: "_" * len(found[0]), text)
    others = list(_mentions(list(quantities(rest)), ("time", Decimal(1)), rest, intent))
    return states(Decimal(value), [*_spans(text), *others], text, (), NEAR)
