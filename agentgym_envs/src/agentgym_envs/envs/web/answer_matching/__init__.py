"""Judges an answer to a task of the sites by its meaning: any fair wording of it counts.

A task names the kind of its answer and the value: ``{"kind": "number", "value": "12"}``. An answer
is right if it claims this value and no other value of its kind. It is wrong if it hedges, denies
or bounds the value, or lists candidates. It may repeat values of the task's text, deny other
values ("12, not 13") and state facts of another kind ("87.8 km, 1 h 5 min").
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from agentgym_envs.envs.web.answer_matching.codes import judge_codes, judge_point, judge_yes
from agentgym_envs.envs.web.answer_matching.compare import judge_pair, pair
from agentgym_envs.envs.web.answer_matching.moments import judge_date, judge_month, judge_time
from agentgym_envs.envs.web.answer_matching.names import judge_name, rows, shortened
from agentgym_envs.envs.web.answer_matching.nothing import judge_nothing
from agentgym_envs.envs.web.answer_matching.numbers import (
    judge_duration,
    judge_money,
    judge_number,
)
from agentgym_envs.envs.web.answer_matching.wording import opposite, plain

Query = Callable[[str], str]
"""Answers a query to a database of the episode: each row is a line."""

KINDS: Mapping[str, Callable[[str, str, str], bool]] = {
    "number": judge_number,
    "money": judge_money,
    "date": judge_date,
    "month": judge_month,
    "time": judge_time,
    "duration": judge_duration,
    "codes": judge_codes,
    "point": judge_point,
    "yes": judge_yes,
}
"""The judge of each kind: takes the value, the answer and the task's text in small letters."""

EXAMPLE = re.compile(r"\banswer like\b:?.*$")
"""An example of the form at the end of a task's text: it is not part of the question."""
LONGEST = 1_000  # characters: a longer text is a page and no answer
MEASURED = ("number", "money", "duration")  # their judges read the unit of the example


def accepts(spec: Mapping[str, Any], said: str, intent: str, query: Query | None = None) -> bool:
    """Says whether an answer is right.

    Args:
        spec: ``kind``: "name", "none" or a key of ``KINDS``; ``value``; for names ``among``: a list
            or ``tables:sql`` whose rows are the names; and ``also``: other wordings.
        said: the answer.
        intent: the task's text; an answer may repeat its numbers and names.
        query: answers ``among``.
    """
    kind, text, asked = spec["kind"], plain(said[: LONGEST + 1]), plain(intent)
    question = EXAMPLE.sub("", asked)
    if not text or len(text) > LONGEST:
        return False
    if kind == "none":
        return judge_nothing(text, question)
    if kind == "name":
        return _named(spec, text, question, query)
    if opposite(text, question):
        return False
    return KINDS[kind](spec["value"], text, asked if kind in MEASURED else question)


def _named(spec: Mapping[str, Any], text: str, intent: str, query: Query | None) -> bool:
    among, values = spec["among"], [spec["value"], *spec.get("also", ())]
    names = query(among).split("\n") if isinstance(among, str) and query else among
    text, intent = text.replace("&", "and"), intent.replace("&", "and")
    every = {**rows(tuple(values)), **rows(tuple(names))}
    both = pair(intent, {**rows((spec["value"],)), **rows(tuple(names))})
    if both and shortened(values[0]) in both:
        return judge_pair(shortened(values[0]), both, every, text, intent)
    return judge_name([shortened(value) for value in values], every, text, intent)
