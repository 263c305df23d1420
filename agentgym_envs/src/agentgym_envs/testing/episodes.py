"""Checks of an environment's episodes."""

import gc
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import partial
from glob import escape
from itertools import chain, islice

import gymnasium

from agentgym_envs.errors import ConformanceError
from agentgym_envs.tasks import SPLITS
from agentgym_envs.testing.checked_env import CheckedEnv
from agentgym_envs.testing.replays import going_on
from agentgym_envs.testing.resources import open_files
from agentgym_envs.testing.solutions import solve
from agentgym_envs.testing.subject import TestedEnv, expect, refused, unwrapped

WALKS = 2  # tasks per split
WALK_STEPS = 400  # limit for all walks together; each split has at least one walk
WALK_TURNS = 300  # turns per walk
SEEDS = 20  # these seeds must draw two different tasks, unless there is only one
# These seeds do not fit into 32 or 64 bits, with or without a sign, or into a float.
LARGE_SEEDS = (2**31, 2**32, 2**63 - 1, 2**64, 10**400)


def info_and_reward(subject: TestedEnv) -> None:
    """Info keeps the contract, and rewards are the changes of the score.

    Info must have the contract's keys and types and be JSON-able.
    """
    observed = CheckedEnv(subject.plain)
    observed.reset(seed=1)
    env = unwrapped(subject.plain)
    for action in chain(["qwertz 123"], env.actions()[:1], islice(_fresh_oracle(subject), 28)):
        if observed.over:
            break
        observed.step(action)


def walks(subject: TestedEnv) -> str:
    """Admissible actions are listed once each and always understood.

    The check plays random admissible actions through whole episodes.
    """
    steps = 0
    for number, task_id in enumerate(subject.sample(WALKS)):
        if number >= len(SPLITS) and steps > WALK_STEPS:
            number -= 1
            break
        steps += _walk(subject, task_id)
    return f"{number + 1} episodes, {steps} turns, {len(subject.offered)} actions"


def _walk(subject: TestedEnv, task_id: str) -> int:
    rng, observed = random.Random(task_id), _observed(subject)
    listed = observed.reset(options={"task_id": task_id})["admissible_actions"]
    expect(listed == unwrapped(subject.shown).actions(), "actions() changes without a step")
    turn = 0
    while not observed.over and turn < WALK_TURNS:
        twice = [action for action, count in Counter(listed).items() if count > 1]
        expect(not twice, f"{task_id!r}, turn {turn}: listed more than once: {twice[:5]}")
        subject.offered.update(dict.fromkeys(listed))
        action = rng.choice(listed)
        try:
            info = observed.step(action)
        except Exception as error:
            raise ConformanceError(
                f"{task_id!r}, turn {turn + 1}, {action!r}: {type(error).__name__}: {error}"
            ) from error
        expect(
            not info["invalid"],
            f"{task_id!r}, turn {turn + 1}: {action!r} was listed, but info['invalid'] is true",
        )
        listed, turn = info["admissible_actions"], turn + 1
    return turn


def render(subject: TestedEnv) -> None:
    """In mode "ansi" render returns the last observation.

    Without a mode it returns None. Any other mode is an error.
    """
    for env, observed in (
        (subject.shown, _observed(subject)),
        (subject.plain, CheckedEnv(subject.plain)),
    ):
        for begin in (True, False):
            _ = observed.reset(seed=2) if begin else observed.step("look")
            wanted = observed.observation if env is subject.shown else None
            expect(
                env.render() == wanted,
                f"render() returns {env.render()!r} after {observed.observation!r}",
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium also warns of an unknown render_mode
        expect(
            refused(lambda: subject.make(render_mode="no such mode")),
            "an unknown render_mode must raise a ValueError",
        )


def named_tasks(subject: TestedEnv) -> None:
    """A named task begins the same every time; an unknown id or option is an error."""
    env, tasks = subject.plain, unwrapped(subject.plain).task_set
    for task_id in subject.sample(1):
        listed, made = tasks.difficulty(task_id), tasks.get(task_id).difficulty
        expect(listed == made, f"difficulty({task_id!r}) says {listed}, and the task {made}")
        first = env.reset(options={"task_id": task_id})
        expect(
            first[1]["task_id"] == task_id, f"asked for {task_id!r}, got {first[1]['task_id']!r}"
        )
        expect(
            env.reset(options={"task_id": task_id}) == first,
            f"{task_id!r} began differently the second time",
        )
    for bad in ({"task_id": "no such task"}, {"no_such_option": 1}):
        expect(
            refused(partial(env.reset, options=bad)),
            f"reset(options={bad}) must raise a ValueError",
        )


def seeds(subject: TestedEnv) -> str:
    """Different seeds draw different tasks, and a seed also fixes the following episode.

    The following episode begins with a reset without a seed. A seed can be any integer from 0 up.
    """
    env, ids = subject.plain, unwrapped(subject.plain).task_ids
    drawn: dict[str, int] = {}
    for seed in range(SEEDS):
        drawn.setdefault(env.reset(seed=seed)[1]["task_id"], seed)
        if len(drawn) == min(len(ids), 2):
            break
    else:
        raise ConformanceError(f"the seeds 0 to {SEEDS - 1} all draw {min(drawn)!r}")
    following = []
    for _ in range(2):
        env.reset(seed=5)
        following.append(env.reset())
    once, twice = following
    expect(
        once == twice,
        f"reset() after reset(seed=5) began differently the second time: {once[0][:99]!r},"
        f" {twice[0][:99]!r}",
    )
    for seed in LARGE_SEEDS:
        try:
            env.reset(seed=seed)
        except Exception as error:
            raise ConformanceError(
                f"reset(seed={seed if seed < 10**30 else '10**400'}) raises"
                f" {type(error).__name__}: {error}. A seed can be any integer from 0 up; take the"
                " remainder of a division where a simulator needs a smaller one"
            ) from error
    return ", ".join(f"seed {seed} draws {task_id!r}" for task_id, seed in drawn.items())


def chosen_tasks(subject: TestedEnv) -> None:
    """The keyword tasks limits an environment to these tasks.

    Closing this second environment does not change an episode of the first.
    """
    for split, ids in subject.listed.items():
        only = subject.make(split=split, tasks=[escape(ids[-1])])
        chosen = unwrapped(only).task_ids
        expect(chosen == ids[-1:], f"split={split!r}, tasks={list(ids[-1:])}: task_ids is {chosen}")
    with going_on(subject, "turn by turn beside another environment that was closed"):
        before = open_files()
        drawn = only.reset(seed=3)[1]["task_id"]
        only.step("look")
        only.close()
        if open_files() - before:
            gc.collect()
        # Only files of a second environment count: the first one can open files that all share.
        subject.left_open = open_files() - before
    expect(drawn == ids[-1], f"split={split!r}, tasks={list(ids[-1:])}: reset draws {drawn!r}")


def end(subject: TestedEnv) -> None:
    """A step after the end, or before the first reset, is an error rather than a reward."""
    solve(subject, subject.sample(1)[0], 0)
    for env, when in ((subject.plain, "after the end"), (subject.make(), "before reset")):
        try:
            env.unwrapped.step("look")
        except gymnasium.error.ResetNeeded:
            continue
        raise ConformanceError(f"step {when} must raise gymnasium.error.ResetNeeded")


def _observed(subject: TestedEnv) -> CheckedEnv:
    return CheckedEnv(subject.shown, limit=subject.limit, admissible=True)


def _fresh_oracle(subject: TestedEnv) -> Iterator[str]:
    """Creates the oracle only when its first action is requested."""
    try:
        yield from unwrapped(subject.plain).oracle()
    except Exception as error:
        raise ConformanceError(
            f"oracle() raises {type(error).__name__}: {error} after two actions that are not its"
            " own. It must yield actions from every state"
        ) from error
