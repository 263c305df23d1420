"""Questions with one right answer: arithmetic, and questions of several hops whose passages can be split among debaters."""

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from agentgym_envs.envs.search.scoring import normalise
from agentgym_envs.envs.search.world import Passage, Question, corpus, questions
from agentgym_envs.tasks import Task, TaskSet, split_of

OPERATIONS = range(2, 9)
EACH = 400  # expressions of each length: about as many as there are questions of several hops
LARGEST = 20  # operand
DECOYS = 3  # wrong answers among the plausible ones
SLIPS = (-10, -2, -1, 1, 2, 10)  # by which a wrong result of arithmetic is off

Terms = list[tuple[int, list[int]]]
"""A sum: signs, and the factors of each product."""


@dataclass(frozen=True)
class Problem:
    """What is debated.

    Attributes:
        text: the question.
        answer: the right one.
        reason: why.
        facts: what must be known to answer, in its order: words that say it if they stand in one text.
        passages: where the facts stand; none for arithmetic.
        kind: questions of one kind have answers of one kind.
    """

    text: str
    answer: str
    reason: str
    facts: tuple[tuple[str, ...], ...]
    passages: tuple[Passage, ...] = ()
    kind: str = ""


@cache
def tasks() -> TaskSet:
    """Returns all tasks; the difficulty is the number of operations, or of hops."""
    return TaskSet([*_arithmetic_tasks(), *_hop_tasks()])


def choices(problem: Problem, rng: random.Random) -> list[str]:
    """Returns the right answer among a few plausible wrong ones."""
    if problem.passages:
        right = normalise(problem.answer)
        others = [answer for key, answer in _answers()[problem.kind].items() if key != right]
    else:
        others = [str(value) for slip in SLIPS if (value := int(problem.answer) + slip) >= 0]
    return rng.sample([problem.answer, *rng.sample(others, DECOYS)], DECOYS + 1)


def strangers(problem: Problem, count: int, rng: random.Random) -> list[Passage]:
    """Returns passages that do not help."""
    drawn = rng.sample(corpus(), count + len(problem.passages))
    return [p for p in drawn if p not in problem.passages][:count]


def value(terms: Terms) -> int:
    """Returns what a sum comes to."""
    return sum(sign * math.prod(factors) for sign, factors in terms)


def written(terms: Terms) -> str:
    """Writes a sum: ``7 + 3 × 12 − 5``."""
    text = " ".join(f"{'+' if sign > 0 else '−'} {' × '.join(map(str, factors))}" for sign, factors in terms)
    return text.removeprefix("+ ")


def _arithmetic_tasks() -> Iterator[Task]:
    seen = set()
    for operations, number in itertools.product(OPERATIONS, range(EACH)):
        name = f"arithmetic{operations}-{number}"
        terms = _terms(operations, random.Random(name))
        result, text = str(value(terms)), written(terms)
        if text in seen:
            continue
        seen.add(text)
        problem = Problem(f"What is {text}?", result, f"{_steps(terms)}{text} = {result}.", ((result,),))
        yield Task(id=name, split=split_of(text), difficulty=operations, data={"problem": problem})


def _terms(operations: int, rng: random.Random) -> Terms:
    """Returns a sum that is not negative, with so many operations, products among them."""
    while True:
        terms: Terms = [(1, [rng.randint(2, LARGEST)])]
        for _ in range(operations):
            operand, sign = rng.randint(2, LARGEST), rng.choice((1, -1, 0))
            if sign:
                terms.append((sign, [operand]))
            else:
                terms[-1][1].append(operand)
        if 1 < len(terms) <= operations and value(terms) >= 0:
            return terms


def _steps(terms: Terms) -> str:
    products = [factors for _, factors in terms if len(factors) > 1]
    return "".join(f"{' × '.join(map(str, factors))} = {math.prod(factors)}. " for factors in products)


def _hop_tasks() -> Iterator[Task]:
    """Yields Search's questions of several hops, in its splits, whose passages each say what no other does."""
    by_id = {p.id: p for p in corpus()}
    for question in questions():
        passages = tuple(by_id[i] for i in question.gold)
        leads = [*(p.title for p in passages[1:]), question.answers[0]]
        facts = tuple(_fact(p, lead) for p, lead in zip(passages, leads, strict=True))
        if len(passages) > 1 and all(_says(p, fact) == (p is q) for q, fact in zip(passages, facts, strict=True) for p in passages):
            reason = " ".join(p.text for p in passages)
            problem = Problem(question.text, question.answers[0], reason, facts, passages, _kind(question))
            yield Task(id=question.id, split=split_of(question.id), difficulty=len(passages), data={"problem": problem})


def _fact(passage: Passage, lead: str) -> tuple[str, ...]:
    """Returns the words that say where a passage leads: that a city is in a country does not say that it is the capital."""
    return (passage.title, *(["capital"] if f"capital is {lead}" in passage.text else []), lead)


def _says(passage: Passage, fact: tuple[str, ...]) -> bool:
    return all(word in passage.text for word in fact)


def _kind(question: Question) -> str:
    return "-".join(question.id.split("-")[:2])


@cache
def _answers() -> dict[str, dict[str, str]]:
    """Returns the answers that questions of each kind have, by their normalised form."""
    found: dict[str, dict[str, str]] = {}
    for question in questions():
        found.setdefault(_kind(question), {})[normalise(question.answers[0])] = question.answers[0]
    return found
