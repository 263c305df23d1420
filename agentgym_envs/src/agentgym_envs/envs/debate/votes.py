"""Reads the answer in a message, compares answers, and counts votes."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from agentgym_envs.envs.search.scoring import normalise

_ANSWER = re.compile(r"[\W_]*answer[\W_]*?:(.*)", re.IGNORECASE)
_COMMA = re.compile(r"(?<=\d),(?=\d{3})")


def read_answer(message: str) -> str | None:
    """Returns what the last line of a message answers, ``answer: X``, or None."""
    lines = message.strip().splitlines()
    match = _ANSWER.fullmatch(lines[-1]) if lines else None
    answer = match[1].strip(" \t*_`\"'") if match else ""
    return answer if canonical(answer) else None


def canonical(answer: str) -> str:
    """Returns what two answers share that are the same: the number that they are, or else SQuAD's normalised words.

    The words alone would not do: without their punctuation 1.5 and −15 are 15.
    """
    try:
        return f"{float(answer.replace(',', '').replace('−', '-').rstrip('.')):.15g}"
    except ValueError:
        return normalise(answer)


def majority(answers: Mapping[str, str | None]) -> str | None:
    """Returns the answer that most have given, of a tie the one whose first voter comes first; None if nobody has given any."""
    votes = Counter(canonical(answer) for answer in answers.values() if answer is not None)
    return max(votes, key=votes.__getitem__) if votes else None  # both keep the order in which answers came


def knows(facts: Iterable[Iterable[str]], texts: Iterable[str]) -> bool:
    """Says whether for each fact there is a text in which all of its words stand; 1,234 is 1234."""
    plain = [_COMMA.sub("", text.casefold()) for text in texts]
    return all(any(all(_stands(word, text) for word in fact) for text in plain) for fact in facts)


def _stands(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text) is not None
