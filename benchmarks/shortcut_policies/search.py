"""Policies for Search that ignore the question: constants, copies, fixed parts of passages."""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from agentgym_envs.envs.search.world import questions
from agentgym_envs.tasks import split_of

Policy = Callable[[str, Mapping[str, Any], random.Random], str]
Part = Callable[[str, random.Random], str]
"""Returns an answer from the passages of a search."""


def answered(text: str) -> Policy:
    """Returns a policy with one constant answer."""
    return lambda observation, info, rng: f"<answer>{text}</answer>"


def found(part: Part) -> Policy:
    """Returns a policy that searches for the question and answers with a part of the passages."""

    def choose(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        if info["turn"] == 0:
            return f"<search>{info['goal']}</search>"
        return f"<answer>{part(observation, rng)}</answer>"

    return choose


def first(pattern: str) -> Part:
    """Returns the first match of a pattern."""

    def read(passages: str, rng: random.Random) -> str:
        match = re.search(pattern, passages)
        return match[1] if match else ""

    return read


def any_name(passages: str, rng: random.Random) -> str:
    """Returns a random capitalised name; neighbouring words form one name."""
    names = re.findall(r"[A-Z][\w’-]*(?: [A-Z][\w’-]*)*", passages)
    return rng.choice(names) if names else ""


@cache
def train_answers() -> Counter[str]:
    """Returns the number of train questions for each answer."""
    return Counter(q.answers[0] for q in questions() if split_of(q.id) == "train")


POLICIES: dict[str, dict[str, Policy]] = {
    "agentgym/Search-v1": {
        'the constant "yes"': answered("yes"),
        "the most common answer of the train split": answered(train_answers().most_common(1)[0][0]),
        "all answers of the train split": answered(" ".join(train_answers())),
        "the question as the answer": lambda observation, info, rng: (
            f"<answer>{info['goal']}</answer>"
        ),
        "the last word of the question": lambda observation, info, rng: (
            f"<answer>{info['goal'].split()[-1]}</answer>"
        ),
        "search the question: title of the first passage": found(first(r"Doc 1\(Title: (.*?)\)")),
        "search the question: title of the second passage": found(first(r"Doc 2\(Title: (.*?)\)")),
        "search the question: first three words": found(first(r"\) (\S+ \S+ \S+)")),
        "search the question: first number": found(first(r"([\d,]{2,})")),
        "search the question: first country": found(first(r"is a city in (.*?)\. GeoNames")),
        "search the question: first capital": found(first(r"Its capital is (.*?) and its")),
        "search the question: any name": found(any_name),
    }
}
