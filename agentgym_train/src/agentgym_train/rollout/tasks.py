"""The horizon, the difficulties and the tasks of a step.

Tasks are a function of the run's seed, the step and the group only. The process that plays the
group does not matter.
"""

import random
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from agentgym_envs.errors import BrokenPlugin
from agentgym_envs.pool import EnvDescription, EnvPool
from agentgym_envs.tasks import stable_hash
from agentgym_train import plugins
from agentgym_train.errors import ConfigError
from agentgym_train.protocols import Curriculum


class EpisodeStart(NamedTuple):
    """The start of an episode: the seed picks the task unless ``task_id`` names it.

    Episodes with equal starts form a group.
    """

    group: int
    """The group's number among the groups of all processes."""
    seed: int
    task_id: str | None = None

    def reset(self, pool: EnvPool, row: int) -> None:
        """Resets a pool slot to this start."""
        pool.reset(row, seed=self.seed, options={"task_id": self.task_id} if self.task_id else None)


def checked_horizon(curriculum: Curriculum, step: int) -> int:
    """Returns the horizon at a step (counted from 0): a whole number of at least 1.

    Raises:
        BrokenPlugin: the curriculum returned something else.
    """
    value: Any = curriculum.horizon(step)
    if not _whole(value) or int(value) < 1:
        raise BrokenPlugin(
            f"{plugins.title(curriculum)}: its horizon at step {step + 1} is {value!r}, not a whole"
            " number of turns from 1 up"
        )
    return int(value)


def checked_difficulties(curriculum: Curriculum, step: int) -> tuple[int, int] | None:
    """Returns the lowest and the highest difficulty of a step's tasks (counted from 0).

    None: the curriculum chooses no tasks.

    Raises:
        BrokenPlugin: the curriculum returned something else.
    """
    value: Any = curriculum.difficulties(step)
    if value is None:
        return None
    if not (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(map(_whole, value))
        and value[0] <= value[1]
    ):
        raise BrokenPlugin(
            f"{plugins.title(curriculum)}: its difficulties at step {step + 1} are {value!r}, "
            "neither None nor two whole numbers, the least and the greatest"
        )
    return int(value[0]), int(value[1])


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


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
) -> EpisodeStart:
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
    return EpisodeStart(group, stable_hash(f"task {key}") % 2**31, drawn)


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
