"""Rules of wording that hold for all kinds of answers: doubts, denials, bounds, rivals.

Each kind finds its values in an answer as mentions. A mention counts as a claim unless the words
of its clause deny it ("not 6"), bound it ("at least 6") or only compare with it ("than 6").
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from agentgym_envs.envs.web.answer_matching.words import OPPOSITES

SIGNS = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\xa0": " ", "‑": "-"}
)
RIVALS = 2  # other values that an answer may deny or compare with: more of them are a list
CLAUSE = re.compile(r"[;:()!?]|\.(?=\s|$)|,(?!\d)|\bbut\b|\s-\s")
ALL_BUT = re.compile(r"\b((?:any|every|no)(?:thing|one|body)|(?:any|every|all)(?: \w+)?) but\b")
MARKUP = re.compile(r"`|(?<!\w)\*\*|\*\*(?!\w)")
SENTENCE = re.compile(r"(?<=[.;!])\s")

DOUBT = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|probably|presumably|likely|might|may be|guess\w*|unsure"
    r"|uncertain|unclear|unknown|cannot|can't|couldn't|unless|whichever|whoever|if at all"
    r"|(?:could|should|must) (?:also |well |just )?be|(?:no|any) (?:idea|clue)|dunno"
    r"|i(?: would|'d|) (?:say|assume|suppose|suspect|imagine|reckon|estimate|bet)|assuming"
    r"|who knows|(?:do not|don't|did not|didn't) know"
    r"|not (?:sure|certain|known|found|available|clear)"
    r"|hard to (?:say|tell)|in doubt|doubtful|supposedly|allegedly"
    r"|(?:some|others|many|people) (?:say|claim|think|believe)|seemingly|apparently"
    r"|both|equal|equally|tied?|alike|n/a)(?![\w/])|\?"
)
OPEN_LIST = re.compile(
    r"\b(?:and|plus|with|among)(?: (?!no |not |none )\w+)? (?:others?|several|someone|somebody"
    r"|something|another|the rest|so on|so forth|a few|some|many|more)\b(?! than)"
    r"|\betc\b|\bet al\b|\.\.|…|\bfor (?:example|instance)\b|\be\.? ?g\b|\bsuch as\b"
    r"|\b(?:among|like|some|any|one) of (?:the|these|those)\b|\bsomething like\b"
)
WRONG = re.compile(r"\b(?:wrong|incorrect|false|untrue|mistaken|not (?:true|right|correct))\b")

NEGATED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|without|except|excluding|besides|no longer|hardly|barely"
    r"|far from|apart from|aside from|other than|else than)\b|n't\b"
    r"|\bno (?:the )?$"
)
NOT_BEFORE = re.compile(r"\bnot\W*$")
COMPARED = re.compile(r"\b(?:than|unlike|instead of|rather than|vs|versus|compared (?:to|with))\b")
DENIED = re.compile(
    r"^(?:'s)?(?: (?!that |which |who |whose |where )[\w/%$-]+){0,3}?"
    r" (?:is|was|are|were|does|did|do|has|have|had|ca|can|could|would|wo|will)(?: \w+ly)?"
    r"(?:n't\b|not\b"
    r"| (?:be )?(?:not|never|no longer|wrong|incorrect|false|out|excluded|ruled out"
    r"|nothing to do)\b)"
)
NOT_BEHIND = re.compile(r"^\W{0,3}(?:not|no|nope|wrong|incorrect|false)\W*$")

BOUNDS = (
    r"at least|at most|up to|as (?:many|much|little|few) as|(?:more|less|fewer|greater|higher|lower"
    r"|later|earlier|longer|larger|smaller) than|over|under|above|below|beyond|past|exceed\w*"
    r"|between|until|nearly|almost|close to|short of|say"
    r"|(?:minimum|maximum|upwards?|range|region) of"
    r"|(?:one|some|any) of (?:them|these|those|the \w+) (?:is|are|was|were)"
)
ESTIMATES = r"about|around|approximately|approx\.?|roughly|circa|ca\.|some"
BOUND_BEHIND = (
    r"\+(?!\d)|at (?:least|most|best|the (?:latest|earliest|most|least))\b"
    r"|and (?:up|counting|above)\b|tops\b|max(?:imum)?\b|minimum\b|approx\w*|roughly\b"
    r"|give or take|plus or minus|-?ish\b"
)


class Mention(NamedTuple):
    """A place in an answer that states a value."""

    value: Any
    start: int
    end: int


class Beside(NamedTuple):
    """Patterns of the words directly around a mention by which it means another value.

    Attributes:
        before: ends where the mention begins: "at least", "half of".
        behind: begins where the mention ends: "at most", "squared".
        part: as ``before``; the mention is a part of the whole: "including", "of which".
        of: as ``behind``, for a part: "of them".
    """

    before: re.Pattern[str]
    behind: re.Pattern[str]
    part: re.Pattern[str] = re.compile(r"(?!)")
    of: re.Pattern[str] = re.compile(r"(?!)")


def beside(before: str = "", behind: str = "", *, estimates: str = ESTIMATES) -> Beside:
    """Returns the common patterns, extended by those of a kind of answers."""
    words = "|".join(filter(None, (BOUNDS, estimates, before)))
    return Beside(
        re.compile(rf"(?:(?<!\w)(?:{words})|[~<>≤≥≈±])[\s'\"#$]*(?:the |a |an )?$"),
        re.compile(rf"^(?:[ ,]{{0,2}}(?:{BOUND_BEHIND})| ?(?:{behind or '(?!)'}))"),
    )


COMMON = beside()


def plain(text: str) -> str:
    """Returns a text in small letters with simple signs, without its quotes and last periods."""
    found = " ".join(MARKUP.sub("", text.translate(SIGNS).lower()).split())
    found = ALL_BUT.sub(r"\1 except", found)
    for quote in "'\"":
        if len(found) > 1 and found.startswith(quote) and found.endswith(quote):
            found = found[1:-1].strip()
    return found if found.endswith(("a.m.", "p.m.", ", ...")) else found.rstrip(".")


def masked(text: str, mentions: Sequence[Mention]) -> str:
    """Returns a text with its mentions as underscores: their words are no words of the speaker."""
    for _, start, end in mentions:
        text = text[:start] + "_" * (end - start) + text[end:]
    return text


def doubtful(text: str) -> bool:
    """Says whether a masked answer hedges, names alternatives or leaves its list open."""
    return bool(
        DOUBT.search(text)
        or OPEN_LIST.search(text)
        or any(WRONG.search(clause) for clause in CLAUSE.split(text) if "_" not in clause)
        or any(
            re.search(r"^or\b" if "_" not in sentence else r"\bor\b", sentence)
            for sentence in SENTENCE.split(text)
        )
    )


def opposite(text: str, intent: str) -> bool:
    """Says whether a text speaks of the lightest where the task asks for the heaviest."""
    said = set(re.findall(r"[a-z]+", re.sub(r"\bat (?:least|most)\b", "", text)))
    asked = set(re.findall(r"[a-z]+", intent))
    return any(
        b in said - asked and a in asked - said for x, y in OPPOSITES for a, b in ((x, y), (y, x))
    )


def clause_before(text: str, start: int) -> str:
    """Returns the words of a clause before a place in it."""
    return CLAUSE.split(text[:start])[-1]


def denied(text: str, mention: Mention, stop: int) -> bool:
    """Says whether the words around a mention deny it: "not 6", "6 is wrong".

    Args:
        text: the answer.
        mention: the place of the value.
        stop: where the words about this mention end: at the next mention or the text's end.
    """
    return bool(
        NEGATED.search(clause_before(text, mention.start))
        or NOT_BEFORE.search(text[: mention.start])
        or DENIED.search(CLAUSE.split(text[mention.end : stop])[0])
        or NOT_BEHIND.search(text[mention.end :])
    )


def altered(text: str, mention: Mention, near: Beside) -> bool:
    """Says whether the words beside a mention make it another value: "at least 6", "half of 6"."""
    return bool(
        near.before.search(text[: mention.start]) or near.behind.search(text[mention.end :])
    )


def aside(text: str, mention: Mention, near: Beside = COMMON) -> bool:
    """Says whether a mention is only compared with, or a part of the value."""
    return bool(
        COMPARED.search(clause_before(text, mention.start))
        or near.part.search(text[: mention.start])
        or near.of.search(text[mention.end :])
    )


def states(
    wanted: Any,
    found: Sequence[Mention],
    text: str,
    asked: Collection[Any] = (),
    near: Beside = COMMON,
) -> bool:
    """Says whether an answer claims a value without doubt, and no other one.

    Args:
        wanted: the right value.
        found: the mentions of all values of this kind.
        text: the answer.
        asked: values of the task's text, which an answer may repeat.
        near: the patterns of this kind of answers.
    """
    if len({m.value for m in found if m.value != wanted and m.value not in asked}) > RIVALS:
        return False
    ordered = sorted(found, key=lambda m: m.start)
    stops = [*(m.start for m in ordered[1:]), len(text)][: len(ordered)]
    no = {m for m, stop in zip(ordered, stops, strict=True) if denied(text, m, stop)}
    right = [m for m in ordered if m.value == wanted]
    rivals = [m for m in ordered if m.value != wanted and m.value not in asked]
    return (
        any(not aside(text, m, near) for m in right)
        and not any(m in no or altered(text, m, near) for m in right)
        and all(m in no or aside(text, m, near) for m in rivals)
        and not doubtful(masked(text, found))
    )
