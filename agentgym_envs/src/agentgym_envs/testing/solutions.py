"""Checks of the oracle.

It must solve tasks within the step limit and be deterministic, and texts must not reveal its
actions.
"""

import re
import time
from collections.abc import Sequence
from itertools import islice

from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing.checked_env import CheckedEnv
from agentgym_envs.testing.subject import (
    NOT_APPLICABLE,
    OracleSolution,
    TestedEnv,
    expect,
    unwrapped,
)

ORACLES = 6  # tasks per split
MORE = 40  # further tasks per split, within MORE_S
MORE_S = 1.0  # seconds
REVEALED = 0.8  # a text with this share of the oracle's actions in order reveals the solution


def oracle(subject: TestedEnv) -> str:
    """The oracle solves tasks of every split within the step limit.

    It must also solve them from the middle of an episode, and act the same way each time.
    """
    sample = subject.sample(ORACLES)
    for number, task_id in enumerate(sample):
        subject.solutions[task_id] = _solved(subject, task_id, number % 2)
    for task_id in sample[:3:2]:  # these were solved from the start
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


def unrevealed(subject: TestedEnv) -> str:
    """Goals and first observations do not contain the oracle's actions."""
    long = {task_id: s for task_id, s in subject.solutions.items() if len(set(s.actions)) > 2}
    revealed = [task_id for task_id, s in long.items() if _reveals(s)]
    # In a few tasks a list of actions can have the right order by chance.
    if revealed and 2 * len(revealed) >= len(long):
        opening, goal, actions, _ = subject.solutions[revealed[0]]
        shown = f"the goal {goal[:300]!r} or the text {opening[:300]!r}"
        raise ConformanceError(
            f"{revealed[0]!r}: {shown} contains the actions {list(actions)[:20]}"
        )
    if not long:
        return f"{NOT_APPLICABLE}: no solution has three different actions"
    return f"{len(long)} tasks whose solution has at least three different actions"


def solve(subject: TestedEnv, task_id: str, skip: int) -> tuple[CheckedEnv, OracleSolution]:
    """Plays ``skip`` actions of one oracle, then all actions of a new one."""
    observed = CheckedEnv(subject.plain)
    goal = observed.reset(options={"task_id": task_id})["goal"]
    opening, actions, texts = observed.observation, list[str](), list[str]()
    for part in (skip, None):
        for action in islice(unwrapped(subject.plain).oracle(), part) if not observed.over else ():
            expect(
                not observed.over,
                f"{task_id!r}: oracle() yields {action[:80]!r} after the end of the episode; it"
                " must stop there",
            )
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
    return observed, OracleSolution(opening, goal, tuple(actions), tuple(texts))


def _solved(subject: TestedEnv, task_id: str, skip: int) -> OracleSolution:
    observed, solution = solve(subject, task_id, skip)
    expect(
        bool(observed.info["success"]),
        f"the oracle does not solve {task_id!r} after {skip} of its steps",
    )
    return solution


def _reveals(solution: OracleSolution) -> bool:
    """Returns whether the goal and the first observation contain the actions.

    The last words of the actions in the goal count too, such as "east" for "venture east".
    """
    text = _words(f"{solution.goal}\n{solution.opening}")
    actions = [_words(action) for action in solution.actions]
    return _has(text, actions) or _has(_words(solution.goal), [words[-1:] for words in actions])


def _has(text: list[str], phrases: Sequence[list[str]]) -> bool:
    """Returns whether a text has nearly all phrases in order, at least three of them different."""
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
