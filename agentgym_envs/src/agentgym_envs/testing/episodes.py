"""What an environment does in its episodes."""

import random
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice

import gymnasium

from agentgym_envs.errors import ConformanceError
from agentgym_envs.tasks import SPLITS
from agentgym_envs.testing.subject import Observed, Subject, expect, refused, world

WALKS = 2  # tasks a split
WALK_STEPS = 400  # of all walks: after so many no other begins, once each split had one
WALK_TURNS = 300  # of one walk
ORACLES = 6  # tasks a split


def info_and_reward(subject: Subject) -> None:
    """Info has the contract's keys and types, is JSON-able, and rewards are the changes of the score."""
    observed = Observed(subject.plain)
    observed.reset(seed=1)
    env = world(subject.plain)
    for action in chain(["qwertz 123"], env.actions()[:1], islice(_fresh_oracle(subject), 28)):
        if observed.over:
            break
        observed.step(action)


def walks(subject: Subject) -> None:
    """Admissible actions at random, through whole episodes, are always understood."""
    steps = 0
    for number, task_id in enumerate(subject.sample(WALKS)):
        if number >= len(SPLITS) and steps > WALK_STEPS:
            break
        steps += _walk(subject, task_id)


def _walk(subject: Subject, task_id: str) -> int:
    rng, observed = random.Random(task_id), _observed(subject)
    listed = observed.reset(options={"task_id": task_id})["admissible_actions"]
    expect(listed == world(subject.shown).actions(), "actions() changes without a step")
    turn = 0
    while not observed.over and turn < WALK_TURNS:
        subject.offered.update(dict.fromkeys(listed))
        action = rng.choice(listed)
        try:
            info = observed.step(action)
        except Exception as error:
            raise ConformanceError(f"{task_id!r}, turn {turn + 1}, {action!r}: {type(error).__name__}: {error}") from error
        expect(not info["invalid"], f"{task_id!r}, turn {turn + 1}: {action!r} was listed, but info['invalid'] is true")
        listed, turn = info["admissible_actions"], turn + 1
    return turn


def render(subject: Subject) -> None:
    """In mode "ansi" render gives the last observation, without a mode nothing; there is no other mode."""
    for env, observed in ((subject.shown, _observed(subject)), (subject.plain, Observed(subject.plain))):
        for begin in (True, False):
            _ = observed.reset(seed=2) if begin else observed.step("look")
            wanted = observed.observation if env is subject.shown else None
            expect(env.render() == wanted, f"render() gives {env.render()!r} after {observed.observation!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gymnasium's own, of the same
        expect(refused(lambda: subject.make(render_mode="no such mode")), "an unknown render_mode must raise a ValueError")


def named_tasks(subject: Subject) -> None:
    """A task can be named; its episode is the same every time; an unknown id or option is an error."""
    env, tasks = subject.plain, world(subject.plain).task_set
    for task_id in subject.sample(1):
        told, made = tasks.difficulty(task_id), tasks.get(task_id).difficulty
        expect(told == made, f"difficulty({task_id!r}) says {told}, and the task {made}")
        first = env.reset(options={"task_id": task_id})
        expect(first[1]["task_id"] == task_id, f"asked for {task_id!r}, got {first[1]['task_id']!r}")
        expect(env.reset(options={"task_id": task_id}) == first, f"{task_id!r} began differently the second time")
    for bad in ({"task_id": "no such task"}, {"no_such_option": 1}):
        expect(refused(partial(env.reset, options=bad)), f"reset(options={bad}) must raise a ValueError")


def oracle(subject: Subject) -> None:
    """The oracle solves a sample of tasks of every split, also from the middle of an episode."""
    for number, task_id in enumerate(subject.sample(ORACLES)):
        skip = number % 2
        expect(_solve(subject, task_id, skip), f"the oracle does not solve {task_id!r} after {skip} of its own steps")


def end(subject: Subject) -> None:
    """A step after the end, or before the first reset, is an error rather than a reward."""
    _solve(subject, subject.sample(1)[0], 0)
    for env, when in ((subject.plain, "after the end"), (subject.make(), "before reset")):
        try:
            env.unwrapped.step("look")
        except gymnasium.error.ResetNeeded:
            continue
        raise ConformanceError(f"step {when} must raise gymnasium.error.ResetNeeded")


def _observed(subject: Subject) -> Observed:
    assert subject.shown.spec is not None
    return Observed(subject.shown, limit=subject.shown.spec.max_episode_steps, admissible=True)


def _fresh_oracle(subject: Subject) -> Iterator[str]:
    """Asks for the oracle only when its first action is wanted."""
    yield from world(subject.plain).oracle()


def _solve(subject: Subject, task_id: str, skip: int) -> bool:
    """Plays ``skip`` actions of one oracle, then all of another, which has to end with the episode."""
    observed = Observed(subject.plain)
    observed.reset(options={"task_id": task_id})
    for action in islice(_fresh_oracle(subject), skip):
        observed.step(action)
    if not observed.over:
        for action in _fresh_oracle(subject):
            observed.step(action)
    return bool(observed.info["success"])
