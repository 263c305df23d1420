"""The tasks of Household: goals in floor plans, drawn once with fixed seeds."""

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

from agentgym_envs.envs.household.goals import KINDS
from agentgym_envs.envs.household.rooms import TaskDesign, choices, difficulty, rooms
from agentgym_envs.tasks import Task, TaskSet

UNSEEN = frozenset({9, 10, 29, 215, 219, 226, 308, 315, 325, 404, 424, 425})
"""Floor plans that ALFRED (Shridhar et al., 2020) keeps out of training."""
SIZES = {"dev": 50, "test": 50, "train": 500}
"""Tasks of one kind in each split."""
TRIALS = 3
"""Largest number of tasks with the same goal and floor plan, as in the original."""


@cache
def household_tasks() -> TaskSet:
    """Returns the tasks. Training and dev have the same floor plans, and test has the others."""
    return TaskSet(
        Task(
            id=design.id,
            split=split,
            difficulty=difficulty(design),
            data={"design": tuple(design)},
        )
        for kind in KINDS
        for split, design in _drawn(kind)
    )


def _drawn(kind: str) -> Iterator[tuple[str, TaskDesign]]:
    """Yields the tasks of a kind. The rooms are drawn first, so that they are equally frequent."""
    for unseen, splits in ((False, ("dev", "train")), (True, ("test",))):
        rng, trials = random.Random(f"household {kind} {unseen}"), Counter[tuple[str, str, int]]()
        options = {
            number: found
            for number, room in rooms().items()
            if (number in UNSEEN) == unseen and (found := choices(kind, room))
        }
        for split in splits:
            for _ in range(SIZES[split]):
                yield split, _draw(kind, rng, options, trials)


def _draw(
    kind: str,
    rng: random.Random,
    options: dict[int, dict[str, list[str]]],
    trials: Counter[tuple[str, str, int]],
) -> TaskDesign:
    while True:
        room = rng.choice(list(options))
        thing = rng.choice(list(options[room]))
        target = rng.choice(options[room][thing])
        trial = trials[thing, target, room]
        if trial < TRIALS:
            trials[thing, target, room] += 1
            return TaskDesign(kind, thing, target, room, trial)
