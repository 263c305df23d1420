"""The tasks of a step.

They are a function of the run's seed, the step and the group only. The process that plays the group
does not matter.
"""

import random
from collections.abc import Mapping, Sequence

from agentgym_envs.pool import EnvDescription
from agentgym_envs.tasks import stable_hash
from agentgym_train.errors import ConfigError
from agentgym_train.rollout.collector import Start

Difficulties = Mapping[str, int]
"""The difficulty of each task id of the training environment, in its order."""


def task_difficulty(training: EnvDescription) -> Difficulties | None:
    """Returns the difficulty of each task, or None if the environment does not list them."""
    if training.task_ids is None or training.difficulties is None:
        return None
    return dict(zip(training.task_ids, training.difficulties, strict=True))


def within(known: Difficulties | None, bounds: tuple[int, int], step: int) -> list[str]:
    """Returns the tasks in a range of difficulties, in the environment's order.

    Args:
        known: the training tasks.
        bounds: the lowest and the highest difficulty.
        step: counted from 0; for the error message.

    Raises:
        ConfigError: no task is in the range.
    """
    least, greatest = bounds
    wanted = f"the curriculum asks for tasks of difficulty {least} to {greatest} at step {step + 1}"
    if known is None:
        raise ConfigError(
            f"{wanted}, and the environment lists no tasks with difficulties: use a curriculum that"
            " sets horizons only"
        )
    ids = [task_id for task_id, difficulty in known.items() if least <= difficulty <= greatest]
    if not ids:
        existing = sorted(set(known.values()))
        raise ConfigError(
            f"{wanted}, and no training task lies there: their difficulties go from {existing[0]}"
            f" to {existing[-1]}"
        )
    return ids


def interleaved(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Divides the group numbers of a step among parts, evenly interleaved.

    Any range of numbers, such as a mini-batch, has groups of each part in proportion.

    Args:
        counts: number of groups of each part.

    Returns:
        The group numbers of each part, ascending.

    >>> interleaved([2, 4])
    [(1, 4), (0, 2, 3, 5)]
    """
    places = sorted(
        ((place + 0.5) / count, part) for part, count in enumerate(counts) for place in range(count)
    )
    return [
        tuple(n for n, (_, owner) in enumerate(places) if owner == part)
        for part in range(len(counts))
    ]


def start(
    seed: int,
    step: int,
    group: int,
    task_ids: Sequence[str] | None = None,
    *,
    attempt: int = 0,
) -> Start:
    """Returns the start of a group's episodes.

    Args:
        seed: the run's.
        step: counted from 0.
        group: its number among the groups of all processes.
        task_ids: tasks to draw from; None: the environment chooses by its seed.
        attempt: how many times the group was replaced before.
    """
    key = f"{seed} {step} {group}" + (f" {attempt}" if attempt else "")
    drawn = None if task_ids is None else task_ids[stable_hash(f"difficulty {key}") % len(task_ids)]
    return Start(group, stable_hash(f"task {key}") % 2**31, drawn)


def evenly(
    seed: int, step: int, place: int, groups: int, known: Difficulties, *, attempt: int = 0
) -> str:
    """Returns the task of a group; the groups of a step are spread evenly over the difficulties.

    With four difficulties and eight groups, each difficulty has two groups. With more difficulties
    than groups, each group draws from another range. Over many steps a group draws all difficulties
    equally often.

    Args:
        seed: the run's.
        step: counted from 0.
        place: the group's position among the groups of the step.
        groups: number of groups of the step, over all processes.
        known: tasks to draw from, with their difficulties.
        attempt: how many times the group was replaced before.
    """
    part = random.Random(f"parts {seed} {step}").sample(range(groups), groups)[place]
    rng = random.Random(f"evenly {seed} {step} {place} {attempt}")
    difficulties = sorted(set(known.values()))
    drawn = difficulties[int((part + rng.random()) / groups * len(difficulties))]
    return rng.choice([task_id for task_id, one in known.items() if one == drawn])
