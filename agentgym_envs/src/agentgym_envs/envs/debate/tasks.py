"""Questions with one right answer: arithmetic and multi-hop questions.

The passages of a multi-hop question can be split among the debaters.
"""

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
EACH = 400  # expressions per length: in sum about as many as there are multi-hop questions
LARGEST = 20  # largest operand
CHOICES = 10  # number of listed answers
STEPS = (1, 2, 5, 10)  # possible distances between the listed results of arithmetic

Terms = list[tuple[int, list[int]]]
"""A sum: the sign and the factors of each product."""


@dataclass(frozen=True)
class DebateProblem:
    """A question and its solution.

    Attributes:
        id: The id of its task.
        text: The question.
        answer: The right answer.
        reason: The derivation of the answer.
        facts: The facts behind the answer, in order. A fact is a tuple of words; a text that has
            all of them states the fact. Empty for arithmetic.
        passages: The passages that state the facts. Empty for arithmetic.
        kind: Questions of one kind have answers of one kind. Empty for arithmetic.
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
    """Returns all tasks. The difficulty is the number of operations, or of hops."""
    return TaskSet([*_arithmetic_tasks(), *_hop_tasks()])


def choices(problem: DebateProblem, likely: list[str], rng: random.Random) -> list[str]:
    """Returns the right answer and nine wrong ones, in random order.

    ``likely`` are wrong answers from dealt passages; they come into the list first.
    """
    if not problem.passages:
        return _results(int(problem.answer), rng)
    taken = {normalise(answer) for answer in (problem.answer, *likely)}
    unlikely = [answer for key, answer in _answers()[problem.kind].items() if key not in taken]
    wrong = [*likely, *rng.sample(unlikely, CHOICES)][: CHOICES - 1]
    return rng.sample([problem.answer, *wrong], CHOICES)


def _results(right: int, rng: random.Random) -> list[str]:
    """Returns results at equal distances. The rank of the right one is random."""
    step = rng.choice([step for step in STEPS if step * (CHOICES - 1) <= right] or STEPS[:1])
    below = rng.randint(0, min(CHOICES - 1, right // step))
    results = [str(right + step * (n - below)) for n in range(CHOICES)]
    return rng.sample(results, CHOICES)


def strangers(problem: DebateProblem, count: int, rng: random.Random) -> list[DebateProblem]:
    """Returns distractors: other questions of the same kind.

    They share no answers, passages or facts with the question or with each other.
    Only the question tells which of the dealt passages are needed.
    """
    chosen = [problem]
    for other in rng.sample(_hops()[problem.kind], len(_hops()[problem.kind])):
        if len(chosen) > count:
            break
        if not any(_related(other, one) for one in chosen):
            chosen.append(other)
    return chosen[1:]


def _related(one: DebateProblem, other: DebateProblem) -> bool:
    """Returns whether two questions have an answer or a passage in common.

    Also returns True if a passage of one question states a fact of the other.
    """
    if normalise(one.answer) == normalise(other.answer) or set(one.passages) & set(other.passages):
        return True
    return any(
        _states(p, fact)
        for a, b in ((one, other), (other, one))
        for p in a.passages
        for fact in b.facts
    )


def value(terms: Terms) -> int:
    """Returns the value of a sum.

    >>> value([(1, [7]), (1, [3, 12]), (-1, [5])])
    38
    """
    return sum(sign * math.prod(factors) for sign, factors in terms)


def written(terms: Terms) -> str:
    """Returns a sum as text.

    >>> written([(1, [7]), (1, [3, 12]), (-1, [5])])
    '7 + 3 × 12 − 5'
    """
    text = " ".join(
        f"{'+' if sign > 0 else '−'} {' × '.join(map(str, factors))}" for sign, factors in terms
    )
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
        problem = DebateProblem(
            name, f"What is {text}?", result, f"{_steps(terms)}{text} = {result}.", ()
        )
        yield Task(id=name, split=split_of(text), difficulty=operations, data={"problem": problem})


def _terms(operations: int, rng: random.Random) -> Terms:
    """Returns a random sum with this number of operations, at least one of them a product.

    Its value is not negative.
    """
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
    return "".join(
        f"{' × '.join(map(str, factors))} = {math.prod(factors)}. " for factors in products
    )


def _hop_tasks() -> Iterator[Task]:
    """Yields the multi-hop tasks, in the same splits as in Search."""
    for problems in _hops().values():
        for p in problems:
            yield Task(
                id=p.id, split=split_of(p.id), difficulty=len(p.passages), data={"problem": p}
            )


@cache
def _hops() -> dict[str, list[DebateProblem]]:
    """Returns the multi-hop questions of Search, by kind.

    It leaves out a question unless exactly one of its passages states each of its facts.
    """
    by_id = {p.id: p for p in corpus()}
    found: dict[str, list[DebateProblem]] = {}
    for question in questions():
        passages = tuple(by_id[i] for i in question.gold)
        leads = [*(p.title for p in passages[1:]), question.answers[0]]
        facts = tuple(_fact(p, lead) for p, lead in zip(passages, leads, strict=True))
        pairs = list(zip(passages, facts, strict=True))
        if len(passages) > 1 and all(
            _states(p, fact) == (p is q) for q, fact in pairs for p in passages
        ):
            reason = " ".join(p.text for p in passages)
            problem = DebateProblem(
                question.id,
                question.text,
                question.answers[0],
                reason,
                facts,
                passages,
                kind(question),
            )
            found.setdefault(problem.kind, []).append(problem)
    return found


def _fact(passage: Passage, lead: str) -> tuple[str, ...]:
    """Returns the words that state the fact of a passage.

    The word "capital" is one of them for capitals: a city in a country need not be its capital.
    """
    return (passage.title, *(["capital"] if f"capital is {lead}" in passage.text else []), lead)


def _states(passage: Passage, fact: tuple[str, ...]) -> bool:
    return all(word in passage.text for word in fact)


@cache
def _answers() -> dict[str, dict[str, str]]:
    """Returns the answers to the questions of each kind, by their normalised form."""
    return {
        name: {normalise(p.answer): p.answer for p in problems}
        for name, problems in _hops().items()
    }
