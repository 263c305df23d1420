"""The check of mistakes: the oracle solves the task after them, and nothing names the solution."""

import random
import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing.checked_env import CheckedEnv
from agentgym_envs.testing.contents import normal_form
from agentgym_envs.testing.limits import answering
from agentgym_envs.testing.subject import OracleSolution, TestedEnv, expect, unwrapped

SECONDS = 0.25  # limit of the check; at least LEAST tasks are played
LEAST = 3
TASKS = 40
JUNK = ("qwertz 123", "?!", "xyzzy plugh")  # invalid actions, where not any text is an action
LONGEST = 8  # wrong actions in a row
NAMED = 0.8  # share of the answers that name the right action
OTHERS = 2  # listed actions beside the mistake and the right one, so that an answer is judged
LOST = 0.75  # share of the episodes that the oracle does not solve after wrong actions


class MistakeAnswer(NamedTuple):
    """The answer to a mistake, without what earlier texts said, and the actions of the turn."""

    mistake: str
    text: str
    right: str
    others: list[str]

    def names_it(self) -> bool:
        """Returns whether the answer names the right action and few others."""
        text = f" {normal_form(self.text)} "
        named = [other for other in self.others if f" {normal_form(other)} " in text]
        return f" {normal_form(self.right)} " in text and len(named) < 2


def mistakes(subject: TestedEnv) -> str:
    """After mistakes the oracle still solves the task, and no answer names the right action.

    Mistakes are invalid actions and up to eight listed actions that the oracle would not take.
    """
    end, count = time.monotonic() + SECONDS, 0
    invalid, wrong, lost = list[MistakeAnswer](), list[MistakeAnswer](), list[str]()
    ended = 0
    for count, task_id in enumerate(list(subject.solutions)[:TASKS], 1):
        if count > LEAST and time.monotonic() > end:
            break
        invalid += _after_invalid(subject, task_id, count)
        for turns in (1, 1 + 3 * count % LONGEST):
            why = _after_wrong(subject, task_id, turns, wrong)
            ended += why is None
            lost += [why] if why else []
    for given in (invalid, wrong):
        answers = [answer for answer in given if len(answer.others) >= OTHERS]
        named = [answer for answer in answers if answer.names_it()]
        if len({answer.right for answer in named}) > 1 and len(named) >= NAMED * len(answers):
            mistake, text, right, _ = named[0]
            raise ConformanceError(
                f"{len(named)} of {len(answers)} answers to a mistake name the right action: after"
                f" {mistake!r} the text {text[:200]!r} names {right!r}. Say what was wrong with the"
                " action, not what to do instead"
            )
    tried = 2 * count - ended
    if len(lost) > 2 and len(lost) >= LOST * tried:
        raise ConformanceError(
            f"the oracle solved {tried - len(lost)} of {tried} episodes after wrong actions;"
            f" {lost[0]}. A mistake that cannot be undone must end the episode or be rare"
        )
    return f"{count} tasks, {len(invalid) + len(wrong)} answers"


def _after_invalid(subject: TestedEnv, task_id: str, number: int) -> Iterator[MistakeAnswer]:
    """Plays an invalid action before each of the first actions, then the oracle's."""
    observed, solution = CheckedEnv(subject.plain), subject.solutions[task_id]
    observed.reset(options={"task_id": task_id})
    seen, junk = [solution.goal, observed.observation], JUNK[number % len(JUNK)]
    for action in solution.actions[:3]:
        observed.step(junk)
        if observed.over or not observed.info["invalid"]:
            return  # the mistake ended the episode, or any text is an action here
        yield _answer(subject, junk, observed.observation, action, seen)
        seen.append(observed.observation)
        observed.step(action)
        if observed.over:
            break
        seen.append(observed.observation)
    done = [action for pair in solution.actions[:3] for action in (junk, pair)]
    _solve_on(subject, observed, f"{task_id!r}: after {done}")
    expect(
        observed.over or observed.info["success"],
        f"{task_id!r}: the oracle does not solve the task after {done}; an invalid action must not"
        " change the task",
    )


def _after_wrong(
    subject: TestedEnv, task_id: str, turns: int, answers: list[MistakeAnswer]
) -> str | None:
    """Plays a part of the solution, wrong listed actions, then the oracle.

    Returns:
        None if the mistakes ended the episode, "" if the oracle solved it, else what happened.
    """
    observed, solution = CheckedEnv(subject.plain), subject.solutions[task_id]
    rng = random.Random(f"{task_id} {turns}")
    done = list(solution.actions[: rng.randrange(len(solution.actions))])
    observed.reset(options={"task_id": task_id})
    seen = [solution.goal, observed.observation]
    for action in done:
        observed.step(action)
        seen.append(observed.observation)
    right = solution.actions[len(done)]
    for turn in range(turns):
        listed = [action for action in unwrapped(subject.plain).actions() if action != right]
        if observed.over or not listed:
            return None
        done.append(rng.choice(listed))
        observed.step(done[-1])
        if turn == 0 and not observed.over:
            answers.append(_answer(subject, done[-1], observed.observation, right, seen))
    if observed.over:
        return None
    _solve_on(subject, observed, f"{task_id!r}: after {done}")
    if observed.info["success"]:
        return ""
    if turns == 1:
        _expect_a_word(subject, task_id, solution, done)
    return f"for example not {task_id!r} after {done}"


def _solve_on(subject: TestedEnv, observed: CheckedEnv, when: str) -> None:
    """Plays the oracle from the present state to the end of its actions."""
    actions, turns = iter(unwrapped(subject.plain).oracle()), 0
    while not observed.over:
        try:
            with answering("oracle()"):
                action = next(actions, None)
        except Exception as error:
            raise ConformanceError(
                f"{when} oracle() raises {type(error).__name__}: {error}. It must yield actions"
                " from every state"
            ) from error
        if action is None:
            return
        observed.step(action)
        turns += 1
        expect(
            turns <= subject.limit,
            f"{when} the oracle needs more than the step limit of {subject.limit} turns",
        )
        expect(
            not observed.info["invalid"],
            f"{when} the oracle's {action[:80]!r} was not understood",
        )


def _expect_a_word(
    subject: TestedEnv, task_id: str, solution: OracleSolution, done: list[str]
) -> None:
    """Expects that some text changes if a mistake makes the solution fail."""
    observed = CheckedEnv(subject.plain)
    observed.reset(options={"task_id": task_id})
    for action in done:
        observed.step(action)
    at = len(done) - 1
    texts = []
    for action in solution.actions[at:]:
        if observed.over:
            return
        observed.step(action)
        texts.append(observed.observation)
    silent = texts[:-1] == list(solution.texts[at:-1]) and not observed.over
    expect(
        not silent or len(texts) < 2,
        f"{task_id!r}: after {done} the oracle's actions have the same answers as without the"
        f" mistake {done[-1]!r}, but do not solve the task. An observation must say what a mistake"
        " undoes",
    )


def _answer(
    subject: TestedEnv, mistake: str, text: str, right: str, seen: list[str]
) -> MistakeAnswer:
    earlier = {line for before in seen for line in _lines(before)}
    new = "\n".join(line for line in _lines(text) if line not in earlier)
    listed = [a for a in unwrapped(subject.plain).actions() if a not in (right, mistake)]
    return MistakeAnswer(mistake, new, right, listed)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in re.split(r"\n|(?<=[.!?])\s", text)]
