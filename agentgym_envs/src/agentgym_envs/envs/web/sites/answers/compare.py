"""Judges answers to "Which is heavier, A or B?": who wins follows from the words of each clause."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from agentgym_envs.envs.web.sites.answers.names import JOINT, mentions, other_names, tokens
from agentgym_envs.envs.web.sites.answers.wording import Mention, doubtful, masked

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
    r"[;:()!?]|\.(?=\s|$)|,(?!\d)|\s-\s|(?<!thing )(?<!one )\bbut\b"
    r"|\b(?:while|whereas|because|since|as|and)\b"
)
NOT = re.compile(
    r"\b(?:not|never|neither|nor|cannot|anything|anyone|except|than|wrong|incorrect|false)\b"
    r"|n't\b|\bno\b"
)
REFERENCE = re.compile(
    r"(?:\b(?:than|to|by|over|of|with|vs)\b|[<>]) ?(?:that |for )?(?:of )?(?:the )?$"
)
ORDINALS = ((r"former|first(?: one)?", 0), (r"latter|second(?: one)?", 1))


def pair(intent: str, among: Sequence[str], wanted: str) -> tuple[str, str] | None:
    """Returns the two names between which a task asks to choose, in the order of its text."""
    found = sorted(mentions([*among, wanted], intent), key=lambda m: m.start)
    for first, second in pairwise(found):
        between = intent[first.end : second.start]
        if re.fullmatch(r",? or (?:the )?(?:c/)?", between) and RELATION.search(intent):
            return first.value, second.value
    return None


def _short_forms(name: str, other: str) -> list[str]:
    """Returns the parts of a name that tell it from the other one, the longest first.

    Either all its own words are in them, or its last word and one of its own.
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


def winners(text: str, found: Sequence[Mention], greater: bool) -> Iterator[int | None]:
    """Yields the side that each clause says to win; None for a clause that denies without saying.

    Args:
        text: the answer with its names masked.
        found: the mentions of the two sides.
        greater: the task asks for the heavier, not for the lighter one.
    """
    subject: int | None = None
    ends = [*(m.start() for m in CLAUSE.finditer(text)), len(text)]
    begin = 0
    for end in ends:
        clause = text[begin:end]
        here = [m._replace(start=m.start - begin) for m in found if begin <= m.start < end]
        if here or (subject is not None and RELATION.search(clause)):
            named = _resolved(here, subject)
            reference = {m.start for m in here if REFERENCE.search(clause[: m.start])}
            first = next(
                (s for s, m in zip(named, here, strict=True) if m.start not in reference), None
            )
            if first is None and here:
                first = 1 - named[0] if RELATION.search(clause) else None
            subject = subject if first is None else first
            yield _winner(clause, subject, named, len(here) - len(reference), greater)
        begin = end


def _resolved(here: Sequence[Mention], subject: int | None) -> list[int]:
    """Returns the sides of mentions; "the other" is the one that was not spoken of."""
    named = list[int]()
    for mention in here:
        before = named[-1] if named else subject
        named.append(
            mention.value if mention.value < 2 else 1 - (before if before is not None else 0)
        )
    return named


def _winner(
    clause: str, subject: int | None, named: list[int], claims: int, greater: bool
) -> int | None:
    relation = RELATION.search(clause)
    negated = bool(NOT.search(clause[: relation.start()] if relation else clause))
    if subject is None or (len({*named}) == 2 and not (relation and claims < 2)):
        return (
            None if subject is None or not relation else _sided(relation, subject, negated, greater)
        )
    if not relation:
        return None if negated else subject
    return _sided(relation, subject, negated, greater)


def _sided(relation: re.Match[str], subject: int, negated: bool, greater: bool) -> int:
    wins = bool(relation["wins"]) or bool(relation["greater"] if greater else relation["smaller"])
    return subject if wins != negated else 1 - subject


def judge_pair(
    wanted: str, both: tuple[str, str], among: Sequence[str], text: str, intent: str
) -> bool:
    """All clauses of the answer let the right one win, and no third name is in it."""
    found = sides(text, both)
    hidden = masked(text, found)
    asked = RELATION.search(masked(intent, mentions(both, intent)))
    greater = bool(asked and asked["greater"])
    said = {side for side in winners(hidden, found, greater) if side is not None}
    thirds = [m for m in mentions(among, hidden) if m.value not in intent]
    return (
        said == {both.index(wanted)}
        and not thirds
        and not doubtful(hidden)
        and not other_names(hidden, intent)
    )
