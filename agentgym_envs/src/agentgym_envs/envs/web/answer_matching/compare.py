"""Judges answers to "Which is heavier, A or B?": who wins follows from the words of each clause."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from agentgym_envs.envs.web.answer_matching.names import JOINT, mentions, other_names, rows, tokens
from agentgym_envs.envs.web.answer_matching.wording import NEGATED, Mention, doubtful, masked

Names = Mapping[str, list[str]]
GREATER = (
    r"heavier|farther|further|longer|larger|bigger|higher|older|dearer"
    r"|more(?! (?:light|close|near))|outweighs?|exceeds?|outnumbers?|surpasses|>|most|heaviest"
    r"|farthest|largest|greater|greatest"
)
SMALLER = (
    r"lighter|nearer|closer|shorter|smaller|lower|younger|less|fewer|cheaper|<|least|fewest"
    r"|lightest|nearest|closest|smallest|more (?:light|close|near)\w*"
)
WINS = r"beats?|wins?|tops"
LOSES = r"loses?|trails?|is (?:beaten|outweighed|exceeded|surpassed|outnumbered)(?: by)?"
RELATION = re.compile(
    rf"(?<![\w<>])(?:(?P<loses>{LOSES})|(?P<wins>{WINS})|(?P<greater>{GREATER})"
    rf"|(?P<smaller>{SMALLER}))(?![\w<>])"
)
CLAUSE = re.compile(
    r"[;:()!?]|\.(?=\s|$)|,(?!\d)|\s-\s|\b(?:but|while|whereas|because|since|as|and)\b"
)
NOT = re.compile(NEGATED.pattern + r"|\b(?:no|than|wrong|incorrect|false|ruled out|excluded)\b")
REFERENCE = re.compile(
    r"(?:\b(?:than|to|by|over|of|with|vs)\b|[<>]) ?(?:that |for )?(?:of )?(?:the )?$"
)
ORDINALS = ((r"former|first(?: one)?", 0), (r"latter|second(?: one)?", 1))


def pair(intent: str, among: Names) -> tuple[str, str] | None:
    """Returns the two names between which a task asks to choose, in the order of its text."""
    if " or " not in intent or not RELATION.search(intent):
        return None
    found = sorted(mentions(among, intent), key=lambda m: m.start)
    for first, second in pairwise(found):
        between = intent[first.end : second.start]
        if re.fullmatch(r",? or (?:the )?(?:c/)?", between):
            return first.value, second.value
    return None


def _short_forms(name: str, other: str) -> list[str]:
    """Returns the parts of a name that distinguish it from the other, the longest first.

    A part has all words that the other name lacks, or the last word and one such word.
    """
    words, others = tokens(name), {*tokens(other)}
    own = [w for w in words if w not in others]
    rows = [words[i:j] for i in range(len(words)) for j in range(i + 1, len(words) + 1)]
    rows = [
        row
        for row in rows
        if own and ({*own} <= {*row} or (row[-1] == words[-1] and {*own} & {*row}))
    ]
    return [JOINT.join(map(re.escape, row)) for row in sorted(rows, key=lambda row: -len(row))]


def sides(text: str, both: tuple[str, str]) -> list[Mention]:
    """Returns the mentions of the first (0) and the second name (1), and of "the other" (2)."""
    found, rest = list[Mention](), text
    forms = [(form, side) for side in (0, 1) for form in _short_forms(both[side], both[1 - side])]
    forms = [*sorted(forms, key=lambda form: -len(form[0])), *ORDINALS, (r"other(?: one)?", 2)]
    for form, side in forms:
        for match in re.finditer(rf"(?<![\w-])(?:c/)?(?:{form})(?!\w|[.,-]\w)", rest):
            found.append(Mention(side, match.start(), match.end()))
        rest = masked(rest, found)
    return sorted(found, key=lambda m: m.start)


class Claim(NamedTuple):
    """A side that a clause lets win.

    Attributes:
        side: 0 or 1.
        firm: False if the clause only gives a measure: "the other one weighs 0.9 kg".
    """

    side: int
    firm: bool


def claims(text: str, found: Sequence[Mention], greater: bool) -> Iterator[Claim]:
    """Yields the side that each clause lets win; a clause may say nothing about it.

    Args:
        text: the answer with its names masked.
        found: the mentions of the two sides.
        greater: the task asks for the heavier, not for the lighter one.
    """
    subject: int | None = None
    begin = 0
    for end in [*(m.start() for m in CLAUSE.finditer(text)), len(text)]:
        clause, relation = text[begin:end], RELATION.search(text, begin, end)
        here = _resolved([m for m in found if begin <= m.start < end], subject)
        spoken, alone = _subject(text, begin, here, related=bool(relation))
        subject = subject if spoken is None else spoken
        if subject is not None and relation:
            negated = bool(NOT.search(text, begin, relation.start()))
            yield Claim(_winner(relation, subject, negated, greater), firm=True)
        elif spoken is not None and alone and not NOT.search(clause):
            yield Claim(spoken, firm=not re.search(r"\d", clause))
        begin = end


def _resolved(here: Sequence[Mention], subject: int | None) -> list[Mention]:
    """Returns mentions where "the other" is the side that was not spoken of."""
    found = list[Mention]()
    for mention in here:
        before = found[-1].value if found else subject or 0
        found.append(mention if mention.value < 2 else mention._replace(value=1 - before))
    return found


def _subject(
    text: str, begin: int, here: Sequence[Mention], *, related: bool
) -> tuple[int | None, bool]:
    """Returns the side that a clause speaks of, and whether it names no other side beside it.

    "Heavier than A" speaks of B.
    """
    spoken = [m.value for m in here if not REFERENCE.search(text[begin : m.start])]
    if spoken:
        return spoken[0], len({*spoken}) == 1
    return (1 - here[0].value if here and related else None), True


def _winner(relation: re.Match[str], subject: int, negated: bool, greater: bool) -> int:
    wins = bool(relation["wins"]) or bool(relation["greater"] if greater else relation["smaller"])
    return subject if wins != negated else 1 - subject


def judge_pair(wanted: str, both: tuple[str, str], among: Names, text: str, intent: str) -> bool:
    """All clauses of the answer let the right one win, and no third name is in it."""
    found = sides(text, both)
    hidden = masked(text, found)
    asked = RELATION.search(masked(intent, mentions(rows(both), intent)))
    greater = bool(asked and asked["greater"])
    said = list(claims(hidden, found, greater))
    winners = {claim.side for claim in said if claim.firm} or {claim.side for claim in said}
    thirds = [m for m in mentions(among, hidden) if m.value not in intent]
    return (
        winners == {both.index(wanted)}
        and not thirds
        and not doubtful(hidden)
        and not other_names(hidden, intent)
    )
