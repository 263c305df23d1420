"""Reads the intents of an agent's message by keywords."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ASKING = re.compile(
    r"\?|\bplease\b|\b(?:could|can|may|would) (?:you|i)\b|\bi(?: will|'ll)? need\b|\bprovide\b"
    r"|\btell me\b|\bgive me\b|\blet me know\b|\bconfirm\b"
)
_CONFIRM = re.compile(
    r"\bconfirm|\b(?:shall|should) (?:i|we)\b|\bproceed\b|\bgo ahead\b"
    r"|\b(?:may|can|could) (?:i|we) (?!have|get|ask|know|help|see)"
    r"|\b(?:want|like) me to\b|\bdo you (?:want|agree|accept|wish)\b|\bwould you like\b"
    r"|\b(?:correct|right|okay|ok|fine|all right)\?|\bis (?:that|this) (?:correct|right|ok|fine)"
    r"|\bconsent\b|\byes or no\b|\(yes/no\)"
)
_OPEN = re.compile(
    r"\b(?:which|what|when|where|who|whose|how|tell me|give me|provide|need|know|remember|or)\b"
)
_MORE = re.compile(
    r"\b(?:anything|something) (?:else|more)\b|\bfurther\b|\bany other\b|\belse (?:can|may) i\b"
)
_REFUSAL = re.compile(
    r"\b(?:cannot|can not|can't|could not|couldn't|unable|unfortunately|won't|must not|may not)\b"
    r"|\bnot (?:able|allowed|possible|permitted|eligible|available)\b|\bno (?:refund|exception)"
    r"|\b(?:forbids?|refuse|impossible|afraid)\b|\bagainst (?:the|our) (?:policy|rules)\b"
)
_CHANGED = (
    "(?:renewed|reserved|booked|cancell?ed|exchanged|upgraded|waived|extended|added|changed|updated"
    "|issued|refunded|chosen|set|moved|reported|removed|noted|saved|made)"
)
_DONE = re.compile(
    r"\b(?:done|completed?|successfully|all set)\b"
    rf"|(?:^|[.!?] ){_CHANGED}[.!]"
    rf"|\b(?:has|have|i've|was|were)(?: now)?(?: been)?(?: successfully)? {_CHANGED}\b"
    rf"|\b(?:is|are)(?: now)? {_CHANGED}\b"
)
_NUMBER = re.compile(
    r"\b(?:member|membership|passenger|customer|account|card|library)(?:'s)? (?:number|id|card)\b"
    r"|\byour (?:number|id)\b|\bidentify\b|\bidentity\b"
)
_NAME = re.compile(r"\b(?:your|full|first|last) (?:\w+ )?name\b|\bwho (?:are you|am i)\b")
_PROOF = re.compile(r"\b(?:post ?code|postal code|zip|date of birth|birthday|birth date|born)\b")


@dataclass(frozen=True)
class Intents:
    """The intents of a message.

    Attributes:
        identity: the asked parts of the identity: "number", "name", "proof".
        topics: the asked topics of the wish.
        confirm: whether it asks for a yes.
        more: whether it asks for further wishes.
        refusal: whether it refuses.
        done: whether it reports a change.
    """

    identity: tuple[str, ...]
    topics: tuple[str, ...]
    confirm: bool
    more: bool
    refusal: bool
    done: bool


def understand(message: str, topics: Mapping[str, str]) -> Intents:
    """Returns the intents of a message.

    >>> understand("I cannot do that. Anything else?", {}).refusal
    True

    Args:
        message: any text.
        topics: regular expressions by topic.
    """
    text = " ".join(message.casefold().replace("’", "'").split())
    sentences = _SENTENCE.split(text)
    asked = [s for s in sentences if _ASKING.search(s)]
    questions = [s for s in asked if not _MORE.search(s)]
    # "Shall I book the train?" names a topic and does not ask for it.
    open_ones = " ".join(s for s in questions if _OPEN.search(s) or not _CONFIRM.search(s))
    identity = {"number": _NUMBER, "name": _NAME, "proof": _PROOF}
    return Intents(
        identity=tuple(p for p, form in identity.items() if form.search(" ".join(questions))),
        topics=tuple(topic for topic, form in topics.items() if re.search(form, open_ones)),
        confirm=any(map(_CONFIRM.search, questions)),
        more=len(asked) > len(questions),
        refusal=bool(_REFUSAL.search(text)),
        done=bool(_DONE.search(text)),
    )
