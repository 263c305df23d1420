"""Reads the answer of a message, compares answers, and counts votes."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from agentgym_envs.envs.search.scoring import normalise

_ANSWER = re.compile(r"[\W_]*answer[\W_]*?:(.*)", re.IGNORECASE)
_COMMA = re.compile(r"(?<=\d),(?=\d{3})")


def read_answer(message: str) -> str | None:
    r"""Returns X if the last line of a message is ``answer: X``, else None.

    >>> read_answer("It is in Asia.\nAnswer: 42")
    '42'
    """
    lines = message.strip().splitlines()
    match = _ANSWER.fullmatch(lines[-1]) if lines else None
    answer = match[1].strip(" \t*_`\"'") if match else ""
    return answer if canonical(answer) else None


def canonical(answer: str) -> str:
    """Returns a form that equal answers share: the number, else the words.

    Words are normalised as in SQuAD. Numbers need another form, because without punctuation both
    1.5 and −15 become 15.

    >>> canonical("1,234.0"), canonical("The Nile!")
    ('1234', 'nile')
    """
    try:
        return f"{float(answer.replace(',', '').replace('−', '-').rstrip('.')):.15g}"
    except ValueError:
        return normalise(answer)


def majority(answers: Mapping[str, str | None]) -> str | None:
    """Returns the most frequent answer in canonical form, or None without any answer.

    In a tie, the answer of the earliest voter wins.
    """
    votes = Counter(canonical(answer) for answer in answers.values() if answer is not None)
    return max(votes, key=votes.__getitem__) if votes else None  # Counter and max keep the order


def knows(facts: Iterable[Iterable[str]], texts: Iterable[str]) -> bool:
    """Returns whether each fact has a text that contains all of its words.

    Commas in numbers are ignored: 1,234 equals 1234.
    """
    normalised = [_COMMA.sub("", text.casefold()) for text in texts]
    return all(
        any(all(_contains(word, text) for word in fact) for text in normalised) for fact in facts
    )


def _contains(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text) is not None
