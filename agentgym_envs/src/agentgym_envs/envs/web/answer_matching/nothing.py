"""Judges N/A: it may have a reason, and the reason must not offer an answer after all."""

import re

from agentgym_envs.envs.web.answer_matching.names import tokens
from agentgym_envs.envs.web.answer_matching.quantities import in_digits, quantities
from agentgym_envs.envs.web.answer_matching.wording import CLAUSE
from agentgym_envs.envs.web.answer_matching.words import ARTICLES, NOUNS, STATING, row

MARK = re.compile(r"[\"'(\[]?(?<![\w/])(?:n/a|na)(?![\w/])[\"')\]]?")
LEADING = re.compile(
    r"^(?:(?:so |my |the )*(?:final )?answer(?: is)?|it's|it is|this is|so|therefore)?[ :,]*$"
)
TRAILING = re.compile(r"(?:[:.,;]|\b(?:is|so|therefore|thus|hence)|-)\s*$")
OFFER = re.compile(
    r"\b(?:maybe|perhaps|unless|might|may(?! \d)|probably|possibly|closest|instead|likely)\b"
)
ABSENT = re.compile(
    r"\b(?:no|not|none|nothing|nobody|never|neither|nor|without|cannot|zero|0|missing|removed"
    r"|deleted|unavailable|discontinued|unknown|impossible|unachievable|invalid|nonexistent"
    r"|only|other|others|different|absent|empty|lacks?|fails?|failed)\b|n't\b|\bnon-exist"
)
SEEN = row(
    """searched looked checked read tried i we twice once again however times pages page results
    result matches list lists several many some all other reviews products items users posts
    reason because them more less fewer than sold available related similar exact name names"""
)
THINGS = row("pages page results result matches times products items posts places")


def _counts(clause: str, question: set[str], intent: str) -> bool:
    """Says whether the numbers of a clause count results or are the task's own."""
    own, counting = {q.number for q in quantities(intent)}, "how many" in intent
    for quantity in quantities(clause):
        word = re.match(r" ([a-z]+)", clause[quantity.end :])
        thing = word[1] if word and quantity.dimension is None else ""
        searched = thing in THINGS or (not counting and thing in question)
        if quantity.number and quantity.number not in own and not searched:
            return False
    return True


def _offers_none(clause: str, intent: str) -> bool:
    """Says whether a clause of the reason denies something or holds only words of a search."""
    question = {*tokens(intent)}
    question |= {f"{w}s" for w in question} | {w.removesuffix("s") for w in question}
    if not _counts(clause, question, intent):
        return False
    known = ARTICLES | NOUNS | STATING | SEEN | question | {"and"}
    return bool(ABSENT.search(clause)) or {w for w in tokens(clause) if not w.isdigit()} <= known


def judge_nothing(text: str, intent: str) -> bool:
    """N/A at the beginning or the end; each clause of the rest offers no answer."""
    marks = list(MARK.finditer(text))
    if not marks:
        return False
    before, behind = text[: marks[0].start()], text[marks[0].end() :]
    if LEADING.search(before):
        reason = behind
    elif not re.search(r"\w", behind) and TRAILING.search(before):
        reason = TRAILING.sub("", before)
    else:
        return False
    if behind[:1].isalnum() or re.match(r"^\W*or\b", behind) or OFFER.search(reason):
        return False
    clauses = [c.strip() for c in CLAUSE.split(in_digits(reason)) if c.strip(" \"'-")]
    return all(_offers_none(clause, intent) for clause in clauses)
