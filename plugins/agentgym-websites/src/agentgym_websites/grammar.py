"""Composes texts from rules and facts; no sentence of a site comes twice."""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

Rules = Mapping[str, Sequence[str]]
"""Texts that may stand for a name. Names stand in braces, choices in ``<red|blue> {thing}``."""

SHORT = 4  # words of a sentence that may come again
ALIKE = 20  # sentences that may begin with the same words
TRIES = 400  # of one sentence
_TOKENS = re.compile(r"\{([^{}]+)\}|[<|>]|[^{<|>]+")
_STARTS = re.compile(r"(^|[.!?]\s+|\n\n(?:- )?|\n- |> |\d\. \*\*)([a-z])")
_GAPS = re.compile(r" +(?=[ ,.;:?!\n]|$)|(?<=\n) +|(?<=\n\n)\n+")
_ENDS = re.compile(r"[.!?]+(?:\s|$|[”*)])|\n|\|")
_AN = re.compile(r"(?i)(?!one\b|uni|use|eu)[aeiou]|hour|honest|8|1[18]\b")
_DRAWN = "drawn "
_MARKS = " \t*_>#-–“”„()[]~,`$.:;!?"


class _Blank(NamedTuple):
    """A blank of a text: ``{x}``, with a capital as ``{X}``, after an article as ``{a x}``."""

    name: str
    capital: bool
    article: bool


@cache
def _blank(text: str) -> _Blank:
    article = text.startswith(("a ", "A "))
    name = text[2:] if article else text
    return _Blank(name[0].lower() + name[1:], text[0].isupper(), article)


@cache
def _parse(text: str) -> tuple[Any, ...]:
    """Returns a text's parts: literals, blanks, and lists of alternatives."""
    levels: list[list[list[Any]]] = [[[]]]
    for found in _TOKENS.finditer(text):
        token = found[0]
        if found[1]:
            levels[-1][-1].append(_blank(found[1]))
        elif token == "<":
            levels.append([[]])
        elif token == "|" and len(levels) > 1:
            levels[-1].append([])
        elif token == ">" and len(levels) > 1:
            choices = levels.pop()
            levels[-1][-1].append([tuple(choice) for choice in choices])
        else:
            levels[-1][-1].append(token)
    return tuple(levels[0][0])


def _fill(
    parts: Sequence[Any], draw: Any, rules: Rules, facts: Mapping[str, Any], out: list[str]
) -> None:
    for part in parts:
        kind = type(part)
        if kind is str:
            out.append(part)
        elif kind is list:
            _fill(part[int(draw() * len(part))], draw, rules, facts, out)
        else:
            if part.name in facts:
                text = str(facts[part.name])
            else:
                choices = rules[part.name]
                if not (part.capital or part.article):
                    _fill(_parse(choices[int(draw() * len(choices))]), draw, rules, facts, out)
                    continue
                inner: list[str] = []
                _fill(_parse(choices[int(draw() * len(choices))]), draw, rules, facts, inner)
                text = "".join(inner)
            if part.article:
                text = f"{article(text)} {text}"
            out.append(text[0].upper() + text[1:] if part.capital and text else text)


def article(text: str) -> str:
    """Returns the indefinite article of a text: an hour, a used pump, an 8 GB laptop."""
    return "an" if _AN.match(text) else "a"


def compose(
    rng: random.Random,
    rules: Rules,
    text: str,
    facts: Mapping[str, Any] | None = None,
    /,
    **more: object,
) -> str:
    """Fills the blanks of a text until none is left.

    Args:
        rng: chooses among the texts of a rule.
        rules: the texts that may stand for a blank.
        text: with blanks, as in ``"The {colour} {thing} <is|was> {opinion}"``.
        facts: values of blanks; they go before rules.
        **more: further facts.

    Returns:
        The text; each sentence begins with a capital.

    Raises:
        KeyError: a blank is neither a fact nor a rule.
    """
    return _begun(_filled(rng, rules, text, {**facts, **more} if facts else more))


def _filled(rng: random.Random, rules: Rules, text: str, facts: Mapping[str, Any]) -> str:
    out: list[str] = []
    _fill(_parse(text), rng.random, rules, facts, out)
    return "".join(out)


def _begun(text: str) -> str:
    """Begins each sentence with a capital."""
    return _STARTS.sub(lambda m: m[1] + m[2].upper(), text)


def sentences(text: str) -> list[str]:
    """Returns the sentences with more than ``SHORT`` words, in small letters without marks."""
    return [
        s
        for part in _ENDS.split(text.replace("*", ""))
        if (s := part.strip(_MARKS).lower()).count(" ") >= SHORT
    ]


def _drawn_from(text: str, rules: Rules, facts: Mapping[str, Any]) -> list[str]:
    """Returns the blanks of a text that rules fill."""
    return [
        name
        for name in re.findall(r"\{([^{}]+)\}", text)
        if (key := _blank(name).name) in rules and key not in facts
    ]


class Known:
    """The sentences of a site's texts: none comes twice, and few begin alike.

    Attributes:
        sentences: all that are written.
        openings: how many sentences begin with the same four words.
    """

    def __init__(self) -> None:
        self.sentences: set[str] = set()
        self.openings: Counter[str] = Counter()

    def allows(self, found: Sequence[str]) -> bool:
        """Says whether sentences are new and their openings are not worn out."""
        return self.sentences.isdisjoint(found) and all(
            self.openings[_opening(sentence)] < ALIKE for sentence in found
        )

    def add(self, found: Sequence[str]) -> None:
        """Keeps sentences."""
        self.sentences.update(found)
        self.openings.update(map(_opening, found))


def _opening(sentence: str) -> str:
    return " ".join(sentence.split(" ", SHORT)[:SHORT])


class Author:
    """Composes texts for a site and never writes a sentence twice.

    Args:
        rng: draws.
        rules: the texts that may stand for a blank.
        known: the sentences of the site; it grows.
    """

    def __init__(self, rng: random.Random, rules: Rules, known: Known | None = None):
        self.rng, self.rules = rng, rules
        self.known = Known() if known is None else known

    def write(self, text: str, facts: Mapping[str, Any]) -> str:
        """Composes a text whose sentences are new; the texts of its rules are drawn one by one.

        Args:
            text: with blanks.
            facts: values of blanks; they go before rules.

        Raises:
            RuntimeError: the rules have no sentence left for these facts.
        """
        for _ in range(TRIES):
            mine: set[str] = set()
            drawn = dict(facts)
            for n, name in enumerate(names := _drawn_from(text, self.rules, facts)):
                drawn[f"{_DRAWN}{n}"] = self._new(f"{{{name}}}", facts, mine)
            layout = text
            for n, name in enumerate(names):
                layout = layout.replace(f"{{{name}}}", f"{{{_DRAWN}{n}}}", 1)
            made = _filled(self.rng, self.rules, layout, drawn)
            found = sentences(made) or [made.lower()]
            if self.known.allows(found) and len(set(found)) == len(found):
                self.known.add(found)
                return _begun(_GAPS.sub("", made).strip())
        raise RuntimeError(f"{text!r} needs more alternatives: the last one was {made!r}")

    def _new(self, text: str, facts: Mapping[str, Any], mine: set[str]) -> str:
        """Composes a part of a text; ``mine`` holds the sentences of the parts before it."""
        for _ in range(TRIES):
            made = _filled(self.rng, self.rules, text, facts)
            found = sentences(made)
            if self.known.allows(found) and mine.isdisjoint(found):
                mine.update(found)
                return made
        raise RuntimeError(f"{text!r} needs more alternatives: the last one was {made!r}")
