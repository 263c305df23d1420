"""Judges names: of people, products, places, titles, roles and the like.

A name counts in full, in a common other order ("Ibarra, Esme"; "Corner Shelf Unit by Linden House")
or without the words that the task's text has already ("the Corner Shelf Unit"). A shortened name
is weaker: around it an answer may hold only words of the task's text and common words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from agentgym_envs.envs.web.answer_matching.wording import (
    CLAUSE,
    Mention,
    beside,
    clause_before,
    masked,
    opposite,
    plain,
    states,
)
from agentgym_envs.envs.web.answer_matching.words import ARTICLES, KNOWN, STATING, row

JOINT = r"(?:'s)?[\W_]{1,3}(?:in |of |by |- )?"
"""Text that may stand between two words of a name: "Linden House's Corner", "Kettle (Saltwick)"."""
STREETS = {"street": "st", "road": "rd", "avenue": "ave", "lane": "ln", "square": "sq"}
FILLERS = ARTICLES | row("of in on for with to and at by")
RELATIVES = (
    "sister|brother|mother|father|wife|husband|friend|son|daughter|colleague|boss|twin|cousin"
    "|partner|neighbour|neighbor|assistant|namesake|opposite"
)
NEAR = beside(
    rf"like|similar to|next to|near|opposite|behind|after|before|(?:{RELATIVES}) (?:of|to)",
    r"jr\b|junior\b|senior\b|loses?\b|lost\b",
)._replace(part=re.compile(r"\binto (?:the )?(?:branch )?$"))
LATER = re.compile(r"\b(?:then|afterwards|next|followed by|later|second)\b")
RANKED = re.compile(
    r"\b(?:second|third|fourth|fifth|2nd|3rd|4th|5th|next|runner-up|penultimate|last but one)\b"
)
CONJUNCTION = r"(?:and|plus|as well as|along with|together with)"
JOINED = re.compile(
    rf"^(?: ?[/+] ?| {CONJUNCTION} )(?!(?:not|no|nobody|none|never|it|it's|he|she|they|i|that|this"
    r"|is|was|has|had|does|did|nothing|so|therefore)\b)"
)
JOINS = re.compile(rf"^(?P<left>.*\S) {CONJUNCTION} (?:the |a )?$|\w ?[/+] ?$")


def tokens(text: str) -> list[str]:
    """Returns the words of a text: runs of letters and digits; "v2.4" has those of "2.4"."""
    return re.findall(r"[^\W_]+", re.sub(r"\bv(?=\d)", "", text))


def shortened(name: str) -> str:
    """Returns a name in small letters without a leading article."""
    return plain(name).replace("&", "and").removeprefix("the ")


def _pattern(words: Sequence[str]) -> str:
    """Returns a pattern of a row of words as a name: it ends where no further word is joined."""
    joint, version = JOINT, ""
    if all(word.isdigit() for word in words):
        joint, version = r"\.", "v?"
    body = joint.join(
        rf"(?:{word}|{STREETS[word]})" if word in STREETS else re.escape(word) for word in words
    )
    return rf"(?<![\w-])(?<!\w\.)(?:\b[cu]/|@)?{version}{body}(?!\w|[.,-]\w|'s? [^\W_])"


def _orders(words: list[str]) -> Iterator[list[str]]:
    """Yields a name's words in the orders in which people write them."""
    yield words
    if all(word.isdigit() for word in words):
        return
    if len(words) > 1 and words[0].isdigit():  # "Quay Street 73"
        yield [*words[1:], words[0]]
    elif len(words) == 2:  # "Ibarra, Esme": a comma is needed, see _mentions
        yield words[::-1]
    else:  # "Milk Frother by Harth": "by" is needed
        yield from ([*words[k:], *words[:k]] for k in (1, 2, 3) if k < len(words))


def _fits(found: str, words: list[str], order: list[str]) -> bool:
    """Says whether a match of words in another order has the sign that this order needs."""
    if order == words or words[0].isdigit():
        return True
    return ("," in found) if len(words) == 2 else (" by " in found)


@lru_cache(maxsize=64)  # a database's names are the same in each episode
def rows(names: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Returns the words of each of several names, which lose their capitals and their article."""
    found = {short: tokens(short) for short in map(shortened, names)}
    return {name: words for name, words in found.items() if words}


def mentions(names: Mapping[str, list[str]], text: str) -> list[Mention]:
    """Returns the mentions of names in a text; where one name holds another, the longer one."""
    said = {*tokens(text)}
    said |= {long for long, short in STREETS.items() if short in said}
    fitting = [name for name, words in names.items() if said.issuperset(words)]
    found, rest = list[Mention](), text
    for name in sorted(fitting, key=lambda n: (-len(n), n)):
        for order in _orders(names[name]):
            for match in re.finditer(_pattern(order), rest):
                if _fits(match[0], names[name], order):
                    end = match.end() + (text[match.end() :][:1] in "?!" and name[-1] in "?!")
                    found.append(Mention(name, match.start(), end))
            rest = masked(rest, found)
    return found


def short_form(name: str, intent: str) -> re.Pattern[str] | None:
    """Returns the pattern of a name without the words that the task's text has too; None if all."""
    asked = {*tokens(intent)}
    words = tokens(name)
    own = [w for w in words if w not in asked and w not in FILLERS]
    if len(words) < 2 or not own:
        return None
    first, last = words.index(own[0]), len(words) - words[::-1].index(own[-1])
    ahead = "".join(rf"(?:{re.escape(w)}{JOINT})?" for w in words[:first])
    middle = "".join(
        rf"{re.escape(w)}{JOINT}" if w in own else rf"(?:{re.escape(w)}{JOINT})?"
        for w in words[first : last - 1]
    )
    tail = "".join(rf"(?:{JOINT}{re.escape(w)})?" for w in words[last:])
    body = ahead + middle + re.escape(words[last - 1]) + tail
    return re.compile(rf"(?<![\w-])(?:{body})(?!\w|[.,-]\w|'s? [^\W_])")


def _continued(text: str, mention: Mention, endings: set[str]) -> bool:
    """Says whether a name goes on: "Castle Hill Road" is not Castle Hill."""
    following = re.match(r" ([^\W_]+)", text[mention.end :])
    return bool(following and following[1] in endings)


def _listed(text: str, right: Sequence[Mention]) -> bool:
    """Says whether an unknown name is joined to the right one: "John Doe and Esme Ibarra"."""
    for mention in right:
        before = JOINS.search(clause_before(text, mention.start))
        left = before and before.groupdict().get("left")
        if JOINED.search(text[mention.end :]) or (before and not STATING & {*tokens(left or "")}):
            return True
    return False


def other_names(text: str, intent: str) -> bool:
    """Says whether a part of a masked answer is nothing but a name that no rule knows.

    Parts are what commas, semicolons and the like separate, except in parentheses.
    """
    known = KNOWN | {*tokens(intent)}
    bare = re.sub(r"\([^()]*\)", " ", text)
    for part in re.split(r"[,;/:\n]|\.(?=\s|$)|\band\b|\s-\s", bare):
        words = re.findall(r"[a-z'à-ÿ]+", part)
        if "_" in part or re.search(r"[\d@]", part) or STATING & {*words}:
            continue
        if any(w not in known and not w.endswith("ly") for w in words):
            return True
    return False


def _common(text: str, intent: str, words: set[str]) -> bool:
    """Says whether a masked answer holds only words of the task's text and common words."""
    asked = {*tokens(intent)} | words
    asked |= {f"{w}s" for w in asked} | {w.removesuffix("s") for w in asked}
    said = re.findall(r"[a-z'à-ÿ]+", text.replace("'s", " "))
    return KNOWN.union(asked).issuperset(said)


def _ranked(text: str, intent: str, mention: Mention) -> bool:
    """Says whether the words of a name's clause give it another rank than the asked one."""
    before, behind = clause_before(text, mention.start), CLAUSE.split(text[mention.end :])[0]
    clause = f"{before} {behind}"
    rank = RANKED.search(clause)
    later = "first" in intent and LATER.search(before)
    return opposite(clause, intent) or bool(rank and rank[0] not in intent) or bool(later)


def _with_short_forms(found: Sequence[Mention], name: str, text: str, intent: str) -> list[Mention]:
    """Returns mentions together with those of a name's short form.

    Another name may be the same words: "The Copper Kettle" of another town. The task's text names
    the town, so the short form comes first.
    """
    short = short_form(name, intent)
    if short is None:
        return list(found)
    own = [Mention(name, m.start(), m.end()) for m in short.finditer(text)]
    apart = [m for m in found if not any(m.start < o.end and o.start < m.end for o in own)]
    covered = [m for m in found if m not in apart]
    longer = [m for m in covered if any(m.end - m.start > o.end - o.start for o in own)]
    return [*found] if longer else [*apart, *own]


def judge_name(
    wanted: Sequence[str], names: Mapping[str, list[str]], text: str, intent: str
) -> bool:
    """One of the values is claimed, and no other name.

    Args:
        wanted: the name and other wordings of it.
        names: all names of its kind with their words.
        text: the answer.
        intent: the task's text.
    """
    found = mentions(names, text)
    weak = not any(m.value in wanted for m in found)
    if weak:
        found = _with_short_forms(found, wanted[0], text, intent)
    found = [m._replace(value=wanted[0]) if m.value in wanted else m for m in found]
    rest, right = masked(text, found), [m for m in found if m.value == wanted[0]]
    endings = {words[-1] for words in names.values() if len(words) > 1}
    asked = set() if any(w in intent for w in wanted) else {n for n in names if n in intent}
    others = [m for m in found if m.value != wanted[0] and _ranked(rest, intent, m)]
    return (
        states(wanted[0], [m for m in found if m not in others], rest, asked, NEAR)
        and not any(_ranked(rest, intent, m) or _continued(text, m, endings) for m in right)
        and not _listed(rest, right)
        and not other_names(rest, intent)
        and (not weak or _common(rest, intent, {*tokens(wanted[0])}))
    )
