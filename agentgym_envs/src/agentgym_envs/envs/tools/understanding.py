"""Reads the intents of an agent's message by keywords."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SENTENCE = re.compile(r"(?<=[.!?:;])\s+")
_SHORT = (
    ("can't", "cannot"),
    ("can not", "cannot"),
    ("won't", "will not"),
    ("n't", " not"),
    ("it's", "it is"),
)
_NO_QUESTION = re.compile(
    r"\b(?:i|we) (?:can|could|am (?:happy|glad|pleased) to) (?:now )?confirm\b"
)
_CONDITION = re.compile(r"\b(?:if|unless|once|in case|because|since)\b[^.!?;,]*")
_ASKING = re.compile(
    r"\?|\bplease\b|\b(?:could|can|may|would) (?:you|i)\b|\bi(?: will|'ll| would|'d)? need\b"
    r"|\bprovide\b|\btell me\b|\bgive me\b|\blet me know\b|\bconfirm\b|\bwithout your\b"
    r"|\b(?:say|reply|answer)(?: with)? yes\b"
)
_WORDS_BEFORE = (
    r"(?:(?:and|so|ok|okay|sure|great|then|thanks|thank you|perfect|alright|all right|now|also"
    r"|first|of course|certainly|understood|got it|no problem|but)[,!]? )*"
)
_QUESTION_WORD = r"(?:which|what|when|where|who|whose|how)\b"
_WH = re.compile(
    rf"^{_WORDS_BEFORE}{_QUESTION_WORD}(?! (?:about|if|does that)\b)"
    r"|\b(?:tell me|let me know|know|confirm|specify|clarify|remember|recall|share)"
    rf" (?:again )?{_QUESTION_WORD}"
    r"|\b(?:clarify|explain|elaborate|more (?:information|details?))\b"
)
_CONFIRM = re.compile(
    r"\bconfirm|\b(?:shall|should) (?:i|we)\b|\bproceed\b|\bgo[ -]?ahead\b"
    r"|\b(?:may|can|could) (?:i|we) (?!have|get|ask|know|help|see)"
    r"|\b(?:want|like) me to\b|\bdo you (?:want|agree|accept|wish|approve)\b|\bwould you like\b"
    r"|\b(?:correct|right|okay|ok|fine|alright|good|work|you|agreed|sure|interested)\?"
    r"|\bis (?:that|this|it) (?:correct|right|ok|okay|fine|all ?right|acceptable|good)"
    r"|\b(?:would|will) (?:that|this|it) be\b|\bis (?:that|this) what\b|\b(?:say|with) yes\b"
    r"|\bare you (?:ok|okay|happy|fine|sure|ready|certain|interested)\b"
    r"|\bsounds? (?:good|ok|okay|fine|right)|\bdoes that (?:sound|work)\b"
    r"|\bconsent\b|\bpermission\b|\bapproval\b"
    r"|\byes or no\b|\byes/no\b|\((?:y/n|yes|y)\b"
)
_OPEN = re.compile(
    r"\b(?:which|what|when|where|who|whose|how|tell me|give me|provide|need|know|remember|or)\b"
)
_MORE = re.compile(
    r"\b(?:anything|something|what|how) else\b|\banything more\b|\belse (?:can|may) i\b"
    r"|\b(?:further|any other) (?:help|assistance|questions?|requests?|wish(?:es)?|things?)\b"
)
_ABLE = (
    r"able|allow(?:ed)?|possible|permit(?:ted)?|eligible|available|qualify|entitled|let me"
    r"|(?:renew|exchange|refund|upgrade|waiv|reserv|transfer|cancell?|chang)e?able"
)
_NO_REFUSAL = r"(?:find|locate|see|identify|tell|undo|reverse|be undone|be reversed)\b"
_REFUSAL = re.compile(
    rf"\b(?:cannot|could not|unable to)\b(?! (?:\w+ )?{_NO_REFUSAL})"
    r"|\b(?:unfortunately|regrettably|(?:i|we) will not|must not|may not|do not offer)\b"
    r"|\bnot (?:something|meet)\b|\btoo (?:short|late|high|many)\b|\b(?:is|are) (?:already )?full\b"
    rf"|\bnot (?:\w+ ){{0,3}}(?:{_ABLE}|refunds?|exceptions?)\b"
    r"|\bnon-?(?:refund|exchange|renew|upgrad|transfer)e?able\b"
    r"|\bno (?:\w+ )?(?:refunds?|exceptions?|waivers?|way|need to|vouchers?)\b"
    r"|\bno (?:free|space|seats?|room)\b"
    rf"|\bno longer (?:{_ABLE})\b|\bonly (?:\w+ ){{0,3}}(?:{_ABLE}|granted|issued)\b"
    r"|(?:^|[,;.!?:] |and |as |because )only (?:\w+ ){1,3}(?:can|may|are)\b"
    rf"|\b(?:{_ABLE}|granted|issued) only\b|\bcan only\b|\bmay only\b"
    r"|\b(?:reached|exceeds?|exceeded|over|above|at|hit) (?:the|your|our|its) (?:\w+ )?"
    r"(?:maximum|limit)\b|\bwhich is the (?:\w+ )?(?:maximum|limit|most)\b"
    r"|\b(?:forbids?|forbidden|refuse|impossible|afraid|decline|ineligible|prohibits?|prohibited)\b"
    r"|\bfully booked\b|\bsold out\b|\bagainst (?:the|our) (?:policy|rules)\b"
)
_BUSY = re.compile(r"\bbusy\b|\btry (?:\w+ )?again\b|\bretry\b")
_CHANGED = (
    "(?:renewed|reserved|booked|cancell?ed|exchanged|upgraded|waived|extended|added|changed|updated"
    "|issued|refunded|chosen|set|moved|reported|removed|noted|saved|made|confirmed|switched"
    "|rebooked|placed|processed|recorded|applied|registered|corrected)"
)
_DONE = re.compile(
    r"\b(?:done|completed?|successfully|all set|taken care of|went through)\b"
    r"|\bnew \w+ number is\b"
    rf"|(?:^|[.!?:] ){_CHANGED}[.!]"
    r"|\b(?:has|have|i've|was|were|been|is|are|i|we)"
    rf"(?: (?:now|been|just|successfully|gone ahead and))* {_CHANGED}\b"
    r"|\b(?:is|are) now\b"
)
_WAIT = re.compile(
    r"\bmoment\b|\bhold on\b|\bbear with me\b|\b(?:please|a) (?:wait|second|minute)\b"
    r"|\b(?:checking|searching|looking (?:into|it up|that up|for))\b"
    r"|\b(?:let me|i will|i'll|i am going to|i'm going to|allow me to)"
    r"(?: now| just| quickly| first)? (?:check|look|see|find|verify|pull|search|try)"
)
_NUMBER = re.compile(
    r"\b(?:member|membership|passenger|customer|account|card|library)(?:'s)? (?:number|id|card)\b"
    r"|\byour (?:number|id)\b|\bidentify\b|\bidentity\b"
)
_NAME = re.compile(
    r"\b(?:your|full|first|last) (?:\w+ )?name\b|\bname on the\b|\bwho (?:are you|am i)\b"
)
_PROOF = re.compile(r"\b(?:post ?code|postal code|zip|date of birth|birthday|birth date|born)\b")


@dataclass(frozen=True)
class MessageIntents:
    """The intents of a message.

    Attributes:
        identity: the asked parts of the identity: "number", "name", "proof".
        topics: the asked topics of the wish.
        open: whether it has a question that is not answered by a yes.
        confirm: whether it asks for a yes.
        more: whether it asks for further wishes.
        refusal: whether it refuses.
        done: whether it reports a change.
        wait: whether it asks for time.
    """

    identity: tuple[str, ...]
    topics: tuple[str, ...]
    open: bool
    confirm: bool
    more: bool
    refusal: bool
    done: bool
    wait: bool


def understand(message: str, topics: Mapping[str, str]) -> MessageIntents:
    """Returns the intents of a message.

    >>> understand("I cannot do that. Anything else?", {}).refusal
    True

    Args:
        message: any text.
        topics: regular expressions by topic.
    """
    text = _plain(message)
    asked = [s for s in _SENTENCE.split(text) if _ASKING.search(s)]
    questions = [s for s in asked if not _MORE.search(s)]
    # "Shall I book the train?" names a topic and does not ask for it.
    open_ones = " ".join(s for s in questions if _OPEN.search(s) or not _CONFIRM.search(s))
    identity = {"number": _NUMBER, "name": _NAME, "proof": _PROOF}
    return MessageIntents(
        identity=tuple(p for p, form in identity.items() if form.search(" ".join(questions))),
        topics=tuple(topic for topic, form in topics.items() if re.search(form, open_ones)),
        open=any(map(_WH.search, questions)),
        confirm=any(_CONFIRM.search(s) and not _WH.search(s) for s in questions),
        more=len(asked) > len(questions),
        refusal=bool(_REFUSAL.search(text)) and not _BUSY.search(text),
        done=bool(_DONE.search(_CONDITION.sub("", text))),
        wait=bool(_WAIT.search(text)),
    )


def _plain(message: str) -> str:
    """Returns a message in small letters, without short forms and without "I can confirm"."""
    text = " ".join(message.casefold().replace("’", "'").split())
    for short, long in _SHORT:
        text = text.replace(short, long)
    return _NO_QUESTION.sub("", text)
