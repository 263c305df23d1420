"""BM25 over short texts, in memory.

The parameters are those of Anserini, which the original uses through Pyserini. Lucene's analysis
of English is approximated: a list of function words, and the S-stemmer of Harman (1991), which
removes the plural, in place of Porter's stemmer.
"""

import re
from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

K1, B = 0.9, 0.4
_STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there
these they this to was will with
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W_]+")


def stem(word: str) -> str:
    """Returns a word without the ending of the plural.

    >>> [stem(word) for word in ("berries", "shoes", "glass", "curtain")]
    ['berry', 'shoe', 'glass', 'curtain']
    """
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


class BM25Ranking:
    """An index of texts.

    Args:
        texts: the texts in lower case; equally good ones keep their order.
    """

    def __init__(self, texts: Iterable[str]):
        self._terms: dict[str, int] = {}
        self._words: dict[str, int] = {}  # also the forms before stemming; -1: a stop word
        tokens, lengths = array("i"), array("i")
        for text in texts:
            found = [n for word in _WORD.findall(text) if (n := self._number(word)) >= 0]
            tokens.extend(found)
            lengths.append(len(found))
        self._size = len(lengths)
        self._weigh(
            np.frombuffer(tokens, dtype=np.int32) if tokens else np.zeros(0, np.int32),
            np.frombuffer(lengths, dtype=np.int32) if lengths else np.zeros(0, np.int32),
        )

    def search(self, query: str, count: int) -> list[int]:
        """Returns the places of at most ``count`` texts that share a word with a query.

        The best text comes first. A word that the query repeats counts several times.
        """
        scores = np.zeros(self._size, np.float32)
        for word in _WORD.findall(query.lower()):
            term = self._terms.get(stem(word)) if word not in STOP_WORDS else None
            if term is not None:
                part = slice(self._starts[term], self._starts[term + 1])
                scores[self._texts[part]] += self._weights[part]
        limit = 0.0
        if count < self._size:
            limit = float(np.partition(scores, self._size - count)[self._size - count])
        candidates = np.flatnonzero((scores >= limit) & (scores > 0))
        best = candidates[np.argsort(-scores[candidates], kind="stable")][:count]
        return [int(place) for place in best]

    def _number(self, word: str) -> int:
        number = self._words.get(word)
        if number is None:
            number = (
                -1 if word in STOP_WORDS else self._terms.setdefault(stem(word), len(self._terms))
            )
            self._words[word] = number
        return number

    def _weigh(self, tokens: NDArray[np.int32], lengths: NDArray[np.int32]) -> None:
        """Computes the weight of each term in each text that has it.

        Args:
            tokens: the numbers of the terms of all texts, one text after the other.
            lengths: the number of terms of each text.
        """
        texts = np.repeat(np.arange(self._size, dtype=np.int64), lengths)
        pairs, counts = np.unique(tokens * np.int64(self._size) + texts, return_counts=True)
        terms, self._texts = np.divmod(pairs, max(self._size, 1))
        having = np.bincount(terms, minlength=len(self._terms))
        self._starts = np.concatenate(([0], np.cumsum(having)))
        rarity = np.log(1 + (self._size - having + 0.5) / (having + 0.5))
        mean = max(float(lengths.mean()) if self._size else 1.0, 1.0)
        damping = K1 * (1 - B + B * lengths[self._texts] / mean)
        weights = rarity[terms] * counts / (counts + damping)
        # Rounded: the last digit of a logarithm differs between machines.
        self._weights = np.round(weights, 4).astype(np.float32)
        self._texts = self._texts.astype(np.int32)
