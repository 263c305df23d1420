"""The check that no two tasks have the same content."""

import random
import re
import time
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain

from agentgym_envs.errors import ConformanceError
from agentgym_envs.tasks import TaskSet, spread
from agentgym_envs.testing.checked_env import CheckedEnv
from agentgym_envs.testing.solutions import solve
from agentgym_envs.testing.subject import NOT_APPLICABLE, OracleSolution, TestedEnv, unwrapped

MADE = 100  # tasks per split whose data are compared if a generator makes them; else all
SECONDS = 1.0  # time limit for the comparison; at least two tasks are compared
WALKS, WALK_TURNS = 3, 40
_MARKS = r"[.,;:!?'\"`’‘“”()\[\]{}<>*_~…–—-]"
_PUNCTUATION = re.compile(
    rf"(?<=[^\W\d_]){_MARKS}+|{_MARKS}+(?=[^\W\d_])|(?<=\d)[.,;:!?'\"]+(?!\w)|(?<!\S)[,;!?]+(?!\S)"
)


def contents(subject: TestedEnv) -> str:
    """No two tasks have the same content.

    The content is the first observation, the goal, the oracle's turns and three random walks.
    Texts are equal if they differ in case, white space or punctuation only.
    """
    if unwrapped(subject.plain).task_set.repeats:
        return f"{NOT_APPLICABLE}: the task set says repeats=True"
    compared, end = 0, time.monotonic() + SECONDS
    for group in chain(_solved_alike(subject, subject.solutions), _of_equal_data(subject, end)):
        seen: dict[Hashable, str] = {}
        for task_id in group:
            if compared > 1 and time.monotonic() > end:
                break
            walked = tuple(_walks(subject, task_id))
            if walked in seen:
                raise ConformanceError(
                    f"the tasks {seen[walked]!r} and {task_id!r} have the same content, up to"
                    " case, white space and punctuation; remove one of them"
                )
            seen[walked] = task_id
            compared += 1
    alike = f"walks through {compared} tasks whose solutions" if compared else "no two of them"
    return f"{len(subject.solutions)} solutions; {alike} are alike"


def _of_equal_data(subject: TestedEnv, end: float) -> Iterator[list[str]]:
    """Yields pairs of tasks with the same data and the same solution.

    The first pair is always compared, further ones until ``end``.
    """
    tasks: TaskSet = unwrapped(subject.plain).task_set
    table = type(tasks).get is TaskSet.get
    ids = chain(*(listed if table else spread(listed, MADE) for listed in subject.listed.values()))
    pairs = _groups(
        ids, lambda task_id: normal_form(repr(sorted(tasks.get(task_id).data.items()))), empty="[]"
    )
    for number, (first, second, *_) in enumerate(pairs):
        if number and time.monotonic() > end:
            return
        yield from _solved_alike(
            subject,
            {i: subject.solutions.get(i) or solve(subject, i, 0)[1] for i in (first, second)},
        )


def _solved_alike(subject: TestedEnv, solutions: dict[str, OracleSolution]) -> list[list[str]]:
    return _groups(solutions, lambda task_id: _nameless(task_id, solutions[task_id]))


def _groups(
    ids: Iterable[str], key: Callable[[str], Hashable], *, empty: Hashable = None
) -> list[list[str]]:
    """Returns the groups of at least two ids that share a key."""
    groups: dict[Hashable, list[str]] = {}
    for task_id in ids:
        groups.setdefault(key(task_id), []).append(task_id)
    return [group for shared, group in groups.items() if len(group) > 1 and shared != empty]


def normal_form(text: str) -> str:
    """Returns a text without what does not change its meaning.

    This is the case, white space, and punctuation that belongs to words.
    Other symbols remain: they can be drawings and formulas.

    >>> normal_form("Say:  'RED', 1.5 + 2!")
    'say red 1.5 + 2'
    """
    return " ".join(_PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())


def _nameless(task_id: str, solution: OracleSolution) -> tuple[str, ...]:
    """Returns a solution without the task id, which would distinguish equal tasks."""
    opening, goal, actions, texts = solution
    return tuple(
        normal_form(text.replace(task_id, "")) for text in (opening, goal, *actions, *texts)
    )


def _walks(subject: TestedEnv, task_id: str) -> Iterator[str]:
    """Yields the turns of random walks.

    Tasks with equal solutions can still differ away from the oracle's path.
    """
    for seed in range(WALKS):
        rng, observed = random.Random(seed), CheckedEnv(subject.plain)
        observed.reset(options={"task_id": task_id})
        for _ in range(WALK_TURNS):
            if observed.over:
                break
            listed = subject.actions()
            action = rng.choice(listed)
            observed.step(action)
            shown = " ".join([*listed, "|", action, "|", observed.observation])
            yield normal_form(shown.replace(task_id, ""))
