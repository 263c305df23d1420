"""Questions with one right answer: arithmetic, and questions of several hops whose passages can be split among debaters."""

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from agentgym_envs.envs.search.scoring import normalise
from agentgym_envs.envs.search.world import Passage, corpus, kind, questions
from agentgym_envs.tasks import Task, TaskSet, split_of

OPERATIONS = range(2, 9)
EACH = 400  # expressions of each length: about as many as there are questions of several hops
LARGEST = 20  # operand
CHOICES = 10  # listed answers
STEPS = (1, 2, 5, 10)  # between the listed results of arithmetic

Terms = list[tuple[int, list[int]]]
"""A sum: signs, and the factors of each product."""


@dataclass(frozen=True)
class Problem:
    """A question to debate.

    Attributes:
        id: of its task.
        text: the question.
        answer: the right one.
        reason: why.
        facts: what must be known to answer, in its order: words that say it if they stand in one text; none for arithmetic.
        passages: where the facts stand; none for arithmetic.
        kind: questions of one kind have answers of one kind.
    """

    id: str
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


def choices(problem: Problem, likely: list[str], rng: random.Random) -> list[str]:
    """Returns the right answer among nine wrong ones; ``likely`` are wrong answers that stand in dealt passages."""
    if not problem.passages:
        return _results(int(problem.answer), rng)
    taken = {normalise(answer) for answer in (problem.answer, *likely)}
    others = [answer for key, answer in _answers()[problem.kind].items() if key not in taken]
    wrong = [*likely, *rng.sample(others, CHOICES)][: CHOICES - 1]
    return rng.sample([problem.answer, *wrong], CHOICES)


def _results(right: int, rng: random.Random) -> list[str]:
    """Returns results at equal distances; the place of the right one is random, so that the list does not show it."""
    step = rng.choice([step for step in STEPS if step * (CHOICES - 1) <= right] or STEPS[:1])
    below = rng.randint(0, min(CHOICES - 1, right // step))
    results = [str(right + step * (n - below)) for n in range(CHOICES)]
    return rng.sample(results, CHOICES)


def strangers(problem: Problem, count: int, rng: random.Random) -> list[Problem]:
    """Returns other questions of the kind, whose passages and answers have nothing in common with each other and the question.

    Without reading the question nobody can tell which of their passages are needed.
    """
    chosen = [problem]
    for other in rng.sample(_hops()[problem.kind], len(_hops()[problem.kind])):
        if len(chosen) > count:
            break
        if not any(_related(other, one) for one in chosen):
            chosen.append(other)
    return chosen[1:]


def _related(one: Problem, other: Problem) -> bool:
    """Says whether two questions share an answer or a passage, or a passage of one states a fact of the other."""
    if normalise(one.answer) == normalise(other.answer) or set(one.passages) & set(other.passages):
        return True
    return any(_says(p, fact) for a, b in ((one, other), (other, one)) for p in a.passages for fact in b.facts)


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
        problem = Problem(name, f"What is {text}?", result, f"{_steps(terms)}{text} = {result}.", ())
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
    """Yields the tasks of several hops, in the splits that they have in Search."""
    for problems in _hops().values():
        for p in problems:
            yield Task(id=p.id, split=split_of(p.id), difficulty=len(p.passages), data={"problem": p})


@cache
def _hops() -> dict[str, list[Problem]]:
    """Returns Search's questions of several hops whose passages each say what no other does, by kind."""
    by_id = {p.id: p for p in corpus()}
    found: dict[str, list[Problem]] = {}
    for question in questions():
        passages = tuple(by_id[i] for i in question.gold)
        leads = [*(p.title for p in passages[1:]), question.answers[0]]
        facts = tuple(_fact(p, lead) for p, lead in zip(passages, leads, strict=True))
        if len(passages) > 1 and all(_says(p, fact) == (p is q) for q, fact in zip(passages, facts, strict=True) for p in passages):
            reason = " ".join(p.text for p in passages)
            problem = Problem(question.id, question.text, question.answers[0], reason, facts, passages, kind(question))
            found.setdefault(problem.kind, []).append(problem)
    return found


def _fact(passage: Passage, lead: str) -> tuple[str, ...]:
    """Returns the words that say where a passage leads: that a city is in a country does not say that it is the capital."""
    return (passage.title, *(["capital"] if f"capital is {lead}" in passage.text else []), lead)


def _says(passage: Passage, fact: tuple[str, ...]) -> bool:
    return all(word in passage.text for word in fact)


@cache
def _answers() -> dict[str, dict[str, str]]:
    """Returns the answers that questions of each kind have, by their normalised form."""
    return {name: {normalise(p.answer): p.answer for p in problems} for name, problems in _hops().items()}
