"""Checks that texts and info do not tell the solution, and do not lack what a task needs."""

import codecs
import random
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import chain, combinations
from typing import Any, NamedTuple

from agentgym_envs.errors import ConformanceError
from agentgym_envs.testing.checked_env import INFO_KEYS, CheckedEnv
from agentgym_envs.testing.contents import normal_form
from agentgym_envs.testing.subject import OracleSolution, TestedEnv

TASKS, TURNS = 18, 60  # limits of the replayed solutions
SHARE = 0.8  # of tasks whose info tells the solution
PLACED = 0.9  # of turns in which the oracle's action has the same place in the list
LEAST = 10  # turns with a choice that are judged
GROUP, PAIRS, WALKS, WALK_TURNS = 12, 4, 2, 20


class ReplayedTurn(NamedTuple):
    """A turn of a replayed solution.

    Attributes:
        task_id: the task.
        seen: goal and observations so far, in normal form.
        listed: the listed actions.
        told: the keys of the info that are not in the contract.
        rest: the remaining actions of the solution.
    """

    task_id: str
    seen: str
    listed: list[str]
    told: dict[str, Any]
    rest: tuple[str, ...]


def hints(subject: TestedEnv) -> str:
    """Neither info nor the order of the listed actions tells the solution."""
    turns: list[ReplayedTurn] = []
    for task_id, solution in list(subject.solutions.items())[:TASKS]:
        if len(turns) < TURNS:
            turns += _replay(subject, task_id, solution)
    _expect_order(turns)
    _expect_no_solution(turns)
    return f"{len(turns)} turns"


def needed_information(subject: TestedEnv) -> str:
    """An agent can see which of two tasks it plays if their solutions differ.

    Pairs of tasks with the same beginning must differ in some text before the end.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for task_id, s in subject.solutions.items():
        key = s.opening.replace(task_id, ""), s.goal.replace(task_id, "")
        groups.setdefault(key, []).append(task_id)
    pairs = [
        (one, other)
        for group in groups.values()
        for one, other in combinations(group[:GROUP], 2)
        if subject.solutions[one].actions != subject.solutions[other].actions
    ]
    pairs = random.Random(0).sample(pairs, min(PAIRS, len(pairs)))
    alike = [pair for pair in pairs if _alike(subject, *pair)]
    if alike and 2 * len(alike) >= len(pairs):
        one, other = alike[0]
        raise ConformanceError(
            f"the texts of the tasks {one!r} and {other!r}, without these ids, are the same until"
            f" the end, but the oracle does {list(subject.solutions[one].actions)[:10]} and"
            f" {list(subject.solutions[other].actions)[:10]}. An agent can only guess; an"
            " observation or the goal must tell what the task needs"
        )
    return f"{len(pairs)} pairs with the same beginning"


def _replay(subject: TestedEnv, task_id: str, solution: OracleSolution) -> Iterator[ReplayedTurn]:
    observed = CheckedEnv(subject.shown, limit=subject.limit, admissible=True)
    observed.reset(options={"task_id": task_id})
    seen = normal_form(f"{solution.goal} {solution.opening}")
    for number, action in enumerate(solution.actions):
        info = observed.info
        told = {k: v for k, v in info.items() if k not in (*INFO_KEYS, "admissible_actions")}
        yield ReplayedTurn(
            task_id, seen, info["admissible_actions"], told, solution.actions[number:]
        )
        observed.step(action)
        if observed.over:
            return
        seen += f" {normal_form(observed.observation)}"


def _expect_order(turns: list[ReplayedTurn]) -> None:
    choices = [t for t in turns if len(t.listed) > 2 and t.rest[0] in t.listed]
    if len(choices) < LEAST or len({t.rest[0] for t in choices}) < 3:
        return
    places = [(t.listed.index(t.rest[0]), len(t.listed)) for t in choices]
    for name, counted in (
        ("number {} of the list", Counter(i + 1 for i, _ in places)),
        ("number {} from the end of the list", Counter(n - i for i, n in places)),
    ):
        place, count = counted.most_common(1)[0]
        if count >= PLACED * len(choices):
            raise ConformanceError(
                f"in {count} of {len(choices)} turns the oracle's action is {name.format(place)} of"
                " admissible actions. Give the actions an order that does not depend on the"
                " solution, such as the alphabet"
            )


def _expect_no_solution(turns: list[ReplayedTurn]) -> None:
    tasks: dict[str, list[ReplayedTurn]] = {}
    for turn in turns:
        tasks.setdefault(turn.task_id, []).append(turn)
    plans = [played[0].rest for played in tasks.values()]
    usual: Counter[str | tuple[str, ...]] = Counter()
    for plan in plans:
        usual.update([*set(plan), plan])
    common = {action for action, count in usual.items() if 2 * count > len(tasks)}
    telling: Counter[str] = Counter()
    for first, *later in tasks.values():
        told = Counter(key for turn in later for key in _telling(turn, common))
        often = {key for key, count in told.items() if count >= SHARE * len(later)}
        telling.update({*_telling(first, common)} | often)
    for key, count in telling.items():
        if len(tasks) > 2 and count >= SHARE * len(tasks):
            example = next(turn for turn in turns if key in turn.told)
            raise ConformanceError(
                f"info[{key!r}] tells the solution in {count} of {len(tasks)} tasks:"
                f" {str(example.told[key])[:200]!r}, where the oracle does"
                f" {list(example.rest)[:10]}. Agents can read info; remove this key"
            )


def _telling(turn: ReplayedTurn, common: set[str | tuple[str, ...]]) -> Iterator[str]:
    """Yields the keys of an info that tell the remaining actions or the next one.

    Args:
        turn: the turn.
        common: actions and solutions of most tasks, which tell nothing about a task.
    """
    rest = [f" {normal_form(action)} " for action in turn.rest]
    others = [f" {normal_form(a)} " for a in turn.listed if a not in turn.rest]
    own = {action for action, text in zip(turn.rest, rest, strict=True) if action not in common}
    for key, value in turn.told.items():
        leaves = [*_leaves(value)]
        for text in (
            *_readings(" ".join(leaves)),
            *(r for leaf in leaves for r in _readings(leaf)),
        ):
            whole = sum(other in text for other in others)
            if whole and 3 * whole >= len(others):  # a list of all actions tells nothing
                continue
            unseen = rest[0] in text and turn.rest[0] in own and rest[0] not in f" {turn.seen} "
            alone = any(text == f" {normal_form(action)} " for action in own)
            plan = len(set(rest)) > 1 and turn.rest not in common and _in_order(text, rest)
            if unseen or alone or plan:
                yield key
                break


def _in_order(text: str, actions: list[str]) -> bool:
    place = 0
    for action in actions:
        place = text.find(action, place)
        if place < 0:
            return False
        place += len(action) - 1
    return True


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif not isinstance(value, bool | None):
        yield str(value)


def _readings(text: str) -> Iterator[str]:
    """Yields the normal form of a text as it is, backwards, and decoded in three ways."""
    yield f" {normal_form(text)} "
    yield f" {normal_form(text[::-1])} "
    yield f" {normal_form(codecs.encode(text, 'rot13'))} "
    for decode in (bytes.fromhex, lambda packed: b64decode(packed, validate=True)):
        with suppress(ValueError):
            yield f" {normal_form(decode(text).decode())} "


def _alike(subject: TestedEnv, one: str, other: str) -> bool:
    """Returns whether two tasks show the same texts until the end, on all tried ways."""
    plans = [list(subject.solutions[i].actions) for i in (one, other)]
    # A guess at random can end an episode before it shows anything.
    ending = {plan[-1] for plan in plans if plan}
    walks = (_walk(subject, one, n, leave_out) for leave_out in ((), ending) for n in range(WALKS))
    for plan in chain(plans, walks):
        both = zip(_way(subject, one, plan), _way(subject, other, plan), strict=False)
        if any(first != second for first, second in both):
            return False
    return True


def _walk(subject: TestedEnv, task_id: str, seed: int, leave_out: Collection[str]) -> list[str]:
    observed, rng, actions = CheckedEnv(subject.plain), random.Random(seed), list[str]()
    observed.reset(options={"task_id": task_id})
    while not observed.over and len(actions) < WALK_TURNS:
        listed = subject.actions()
        actions.append(rng.choice([a for a in listed if a not in leave_out] or listed))
        observed.step(actions[-1])
    return actions


def _way(subject: TestedEnv, task_id: str, plan: list[str]) -> list[str]:
    """Returns the texts of a plan before the end of the episode."""
    observed, texts = CheckedEnv(subject.plain), list[str]()
    observed.reset(options={"task_id": task_id})
    for action in plan:
        observed.step(action)
        if observed.over:
            break
        texts.append(observed.observation.replace(task_id, ""))
    return texts
