"""Checks of the oracle: it solves tasks within the step limit, acts the same way each time, and no goal reveals its actions."""

import re
import time
from collections.abc import Sequence
from itertools import islice

from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing.checked_env import CheckedEnv
from agentgym_envs.testing.subject import Solution, Subject, expect, unwrapped

ORACLES = 6  # tasks of each split
MORE, MORE_S = (
    40,
    1.0,
)  # tasks of each split after these, while no more than so many seconds have passed
REVEALED = 0.8  # share of the oracle's actions which, in their order, are the solution


def oracle(subject: Subject) -> str:
    """The oracle solves tasks of every split within the step limit, from the middle of an episode too, and acts alike each time."""
    sample = subject.sample(ORACLES)
    for number, task_id in enumerate(sample):
        subject.solutions[task_id] = _solved(subject, task_id, number % 2)
    for task_id in sample[:3:2]:  # those that it has solved from the start
        before, again = subject.solutions[task_id].actions, _solved(subject, task_id, 0).actions
        expect(
            before == again,
            f"{task_id!r}: the oracle did {list(before)[:20]}, and then {list(again)[:20]}",
        )
    began = time.monotonic()
    for task_id in subject.sample(MORE):
        if time.monotonic() - began > MORE_S:
            break
        if task_id not in subject.solutions:
            subject.solutions[task_id] = _solved(subject, task_id, 0)
    return f"{len(subject.solutions)} of {sum(map(len, subject.listed.values()))} tasks"


def unrevealed(subject: Subject) -> str:
    """Goals and first observations do not contain the oracle's actions."""
    long = {task_id: s for task_id, s in subject.solutions.items() if len(set(s.actions)) > 2}
    revealed = [task_id for task_id, s in long.items() if _reveals(s)]
    if revealed and 2 * len(revealed) >= len(
        long
    ):  # in a few tasks a list of actions may have the right order by chance
        opening, goal, actions, _ = subject.solutions[revealed[0]]
        shown = f"the goal {goal[:300]!r} or the text {opening[:300]!r}"
        raise ConformanceError(
            f"{revealed[0]!r}: {shown} contains the actions {list(actions)[:20]}"
        )
    return f"{len(long)} tasks whose solution has at least three different actions"


def solve(subject: Subject, task_id: str, skip: int) -> tuple[CheckedEnv, Solution]:
    """Plays ``skip`` actions of one oracle, then all of another, which has to end with the episode."""
    observed = CheckedEnv(subject.plain)
    goal = observed.reset(options={"task_id": task_id})["goal"]
    opening, actions, texts = observed.observation, list[str](), list[str]()
    for part in (skip, None):
        for action in islice(unwrapped(subject.plain).oracle(), part) if not observed.over else ():
            info = observed.step(action)
            actions.append(action)
            texts.append(observed.observation)
            turns = len(actions)
            expect(
                not info["invalid"],
                f"{task_id!r}, turn {turns}: the oracle's {action[:80]!r} was not understood",
            )
            expect(
                turns <= subject.limit,
                f"{task_id!r}: the oracle needs more turns than the step limit of {subject.limit}",
            )
    return observed, Solution(opening, goal, tuple(actions), tuple(texts))


def _solved(subject: Subject, task_id: str, skip: int) -> Solution:
    observed, solution = solve(subject, task_id, skip)
    expect(
        bool(observed.info["success"]),
        f"the oracle does not solve {task_id!r} after {skip} of its own steps",
    )
    return solution


def _reveals(solution: Solution) -> bool:
    """Says whether the goal or the first observation has the actions, or the goal their last words: "venture east"."""
    text = _words(f"{solution.goal}\n{solution.opening}")
    actions = [_words(action) for action in solution.actions]
    return _has(text, actions) or _has(_words(solution.goal), [words[-1:] for words in actions])


def _has(text: list[str], phrases: Sequence[list[str]]) -> bool:
    """Says whether a text has nearly all phrases in their order, and at least three different ones."""
    place, found = 0, list[tuple[str, ...]]()
    for phrase in phrases:
        at = next(
            (i for i in range(place, len(text)) if phrase and text[i : i + len(phrase)] == phrase),
            None,
        )
        if at is not None:
            place = at + len(phrase)
            found.append(tuple(phrase))
    return len(set(found)) > 2 and len(found) >= REVEALED * len(phrases)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in ("a", "an", "the")]
