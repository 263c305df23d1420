"""Exact match and F1 of short answers, as in SQuAD (Rajpurkar et al., 2016) and Search-R1."""

import re
import string
from collections import Counter
from collections.abc import Iterable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Returns a text in lower case, without punctuation and articles, with single spaces.

    >>> normalise("The  Nay Pyi Taw!")
    'nay pyi taw'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Iterable[str]) -> float:
    """Returns 1.0 if the answer is one of the gold answers after normalisation, else 0.0."""
    return float(normalise(answer) in {normalise(g) for g in gold})


def f1(answer: str, gold: Iterable[str]) -> float:
    """Returns the highest F1 of the words over the gold answers.

    F1 is the harmonic mean of precision and recall.
    """
    return max((_f1(normalise(answer).split(), normalise(g).split()) for g in gold), default=0.0)


def _f1(answer: list[str], gold: list[str]) -> float:
    common = sum((Counter(answer) & Counter(gold)).values())
    return 2 * common / (len(answer) + len(gold)) if common else 0.0
