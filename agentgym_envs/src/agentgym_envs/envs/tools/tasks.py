"""The tasks: each kind of case in many worlds."""

import random
from collections.abc import Callable, Mapping
from functools import cache

from agentgym_envs.envs.tools.case import MOODS, CaseBuilder, ServiceCase
from agentgym_envs.envs.tools.domain import ServiceDomain
from agentgym_envs.envs.tools.library.cases import CASES as LIBRARY_CASES
from agentgym_envs.envs.tools.library.functions import LIBRARY
from agentgym_envs.envs.tools.trains.cases import CASES as TRAIN_CASES
from agentgym_envs.envs.tools.trains.functions import TRAINS
from agentgym_envs.tasks import Task, TaskSet

EACH = 36  # tasks of a kind
SPLIT = ("test", "dev", "train", "train", "train", "train")  # of each six tasks of a kind
BUSY = 5  # in one of so many tasks a tool fails once

DOMAINS: Mapping[str, ServiceDomain] = {domain.name: domain for domain in (LIBRARY, TRAINS)}
KINDS: Mapping[str, Mapping[str, Callable[[CaseBuilder], ServiceCase]]] = {
    LIBRARY.name: LIBRARY_CASES,
    TRAINS.name: TRAIN_CASES,
}


@cache
def tasks() -> TaskSet:
    """Returns all tasks. The difficulty is the number of changes and facts of the first case."""
    return TaskSet(
        Task(
            id=f"{domain}-{kind}-{number}",
            split=SPLIT[number % len(SPLIT)],
            difficulty=_difficulty(domain, kind),
            data={"domain": domain, "kind": kind, "number": number},
        )
        for domain, kinds in KINDS.items()
        for kind in kinds
        for number in range(EACH)
    )


def case_of(task: Task) -> ServiceCase:
    """Returns the content of a task."""
    return _case(**task.data)


def _case(domain: str, kind: str, number: int) -> ServiceCase:
    rng = random.Random(f"{domain} {kind} {number}")
    script = CaseBuilder(rng, MOODS[number // len(SPLIT) % len(MOODS)], number % BUSY == 0)
    return KINDS[domain][kind](script)


@cache
def _difficulty(domain: str, kind: str) -> int:
    case = _case(domain, kind, 0)
    return len(case.gold) + len(case.facts)
