"""Checks that no policy that ignores the task wins."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from agentgym_envs.errors import ConformanceError
from agentgym_envs.tasks import spread
from agentgym_envs.testing.checked_env import CheckedEnv
from agentgym_envs.testing.subject import TestedEnv, unwrapped

TASKS = 2  # per split; a policy that wins all of them plays up to MORE further tasks
MORE = 24
SHARE = 0.9  # share of won tasks from which on a policy fails the check
LONGEST = 60  # turns per episode
TRIED, STARTS = 40, 4  # listed actions to try one after another, in at most STARTS episodes
OTHERS = 3  # other last actions that a winning episode is tried with


class PlayedEpisode(NamedTuple):
    """An episode: the actions, the actions that were listed last, and whether it was a success."""

    actions: list[str]
    listed: list[str]
    won: bool


Choose = Callable[[list[str]], str]


def blind_policies(subject: TestedEnv) -> str:
    """No policy that ignores the task wins.

    The policies play the first listed action, the last one, any one, or always the same one.
    """
    tasks = subject.sample(TASKS)
    if len(tasks) < 5 or len({subject.solutions[i].actions for i in tasks}) < 2:
        return f"not judged on {len(tasks)} tasks with equal solutions or too few"
    for name, choose in _policies(subject, tasks):
        if all(_play(subject, i, choose).won for i in tasks):
            more = spread(list(subject.solutions), MORE)
            won = sum(_play(subject, i, choose).won for i in more)
            if won >= SHARE * len(more):
                raise ConformanceError(
                    f"a policy that plays {name} wins {won} of {len(more)} tasks. A success must"
                    " depend on the task"
                )
    _any_actions(subject, tasks)
    return f"{len(tasks)} tasks"


def _policies(subject: TestedEnv, tasks: list[str]) -> Iterator[tuple[str, Choose]]:
    yield "the first listed action in every turn", lambda listed: listed[0]
    yield "the last listed action in every turn", lambda listed: listed[-1]
    middle = [len(subject.solutions[i].actions) // 2 for i in tasks]
    for action in dict.fromkeys(
        a
        for i, half in zip(tasks[:2], middle, strict=False)
        for skip in {0, half}
        for a in _winning_at_once(subject, i, skip)
    ):
        yield f"{action!r} when it is listed", _eager(action)


def _eager(action: str) -> Choose:
    rng = random.Random(0)
    return lambda listed: action if action in listed else rng.choice(listed)


def _winning_at_once(subject: TestedEnv, task_id: str, skip: int) -> Iterator[str]:
    """Yields actions that win when all listed actions are played one after another.

    Args:
        subject: the environment under test.
        task_id: the task.
        skip: the number of the oracle's actions to play first.
    """
    begun = subject.solutions[task_id].actions[:skip]
    observed = _begun(subject, task_id, begun)
    starts, right = 1, subject.solutions[task_id].actions[skip]
    for action in spread(unwrapped(subject.plain).actions(), TRIED):
        if action == right:
            continue
        observed.step(action)
        if not observed.over:
            continue
        if observed.info["success"]:
            yield action
        if starts == STARTS:
            return
        starts += 1
        observed = _begun(subject, task_id, begun)


def _begun(subject: TestedEnv, task_id: str, actions: Sequence[str]) -> CheckedEnv:
    observed = CheckedEnv(subject.plain)
    observed.reset(options={"task_id": task_id})
    for action in actions:
        observed.step(action)
    return observed


def _any_actions(subject: TestedEnv, tasks: list[str]) -> None:
    """Expects that random actions win less often, or later, than the oracle's."""
    walked: list[PlayedEpisode] = []
    for number, task_id in enumerate(tasks):
        rng = random.Random(task_id)
        walked.append(_play(subject, task_id, rng.choice, turns=LONGEST))
        if sum(played.won for played in walked) < number:
            return
    won = [(i, played) for i, played in zip(tasks, walked, strict=True) if played.won]
    indifferent = [_wins_otherwise(subject, i, played) for i, played in won]
    needed = sum(len(subject.solutions[i].actions) for i, _ in won)
    turns = sum(len(played.actions) for _, played in won)
    shown = f"random listed actions win {len(won)} of {len(tasks)} tasks"
    if 3 * sum(indifferent) >= 2 * len(tasks):
        raise ConformanceError(
            f"{shown}, for example with {won[0][1].actions[:20]}, and also with another last"
            " action. A success must depend on the actions"
        )
    # Of two listed actions, a random one is often right.
    quick = 1.5 if any(len(played.listed) == 2 for _, played in won) else 2.0
    if needed >= 2 * len(won) and turns <= quick * needed:
        raise ConformanceError(
            f"{shown} in {turns} turns, where the oracle needs {needed}. A success must depend on"
            " the actions"
        )


def _wins_otherwise(subject: TestedEnv, task_id: str, played: PlayedEpisode) -> bool:
    """Returns whether most other listed actions win in the last turn, too."""
    *before, last = played.actions
    others = spread([action for action in played.listed if action != last], OTHERS)
    scripts = [[*before, other] for other in others]
    won = [_play(subject, task_id, _reader(s), turns=len(s)).won for s in scripts]
    return bool(won) and 2 * sum(won) >= len(won)


def _reader(script: list[str]) -> Choose:
    rest = iter(script)
    return lambda listed: next(rest)


def _play(
    subject: TestedEnv, task_id: str, choose: Choose, *, turns: int | None = None
) -> PlayedEpisode:
    """Plays until the end, or for a number of turns: by default, more than the oracle needs."""
    enough = turns or 2 * len(subject.solutions[task_id].actions) + 12
    observed, actions, listed = _begun(subject, task_id, ()), list[str](), list[str]()
    while not observed.over and len(actions) < min(enough, LONGEST, subject.limit):
        listed = subject.actions()
        actions.append(choose(listed))
        observed.step(actions[-1])
    return PlayedEpisode(actions, listed, observed.info["success"])
