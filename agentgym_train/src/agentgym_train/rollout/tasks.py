"""Which tasks a step plays: a function of the run's seed, the step and the group alone, whichever process plays the group."""

from collections.abc import Mapping, Sequence

from agentgym_envs.pool import Description
from agentgym_envs.tasks import stable_hash
from agentgym_train.errors import ConfigError
from agentgym_train.rollout.collector import Start

Difficulties = Mapping[str, int]
"""Task ids of the training environment, in its order, and how difficult each is."""


def task_difficulty(training: Description) -> Difficulties | None:
    """Returns the tasks of an environment, or None where it lists none or does not say how difficult they are."""
    if training.task_ids is None or training.difficulties is None:
        return None
    return dict(zip(training.task_ids, training.difficulties, strict=True))


def within(known: Difficulties | None, bounds: tuple[int, int], step: int) -> list[str]:
    """Returns the tasks of a range of difficulties, in their order.

    Args:
        known: the training tasks.
        bounds: the least and the greatest difficulty.
        step: for the message, counted from 0.

    Raises:
        ConfigError: there are none.
    """
    least, greatest = bounds
    wanted = f"the curriculum asks for tasks of difficulty {least} to {greatest} at step {step + 1}"
    if known is None:
        raise ConfigError(
            f"{wanted}, and the environment lists no tasks with difficulties: use a curriculum of"
            " horizons alone"
        )
    ids = [task_id for task_id, difficulty in known.items() if least <= difficulty <= greatest]
    if not ids:
        there = sorted(set(known.values()))
        raise ConfigError(
            f"{wanted}, and no training task lies there: their difficulties go from {there[0]} to"
            f" {there[-1]}"
        )
    return ids


def interleaved(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Divides the numbers of a step's groups among parts, so that any stretch of them, a mini-batch, has of each in proportion.

    Args:
        counts: groups of each part.

    Returns:
        The numbers of each part, rising.

    >>> interleaved([6, 2])
    [(0, 1, 3, 4, 5, 7), (2, 6)]
    """
    places = sorted(
        ((place + 0.5) / count, part) for part, count in enumerate(counts) for place in range(count)
    )
    return [
        tuple(n for n, (_, owner) in enumerate(places) if owner == part)
        for part in range(len(counts))
    ]


def start(seed: int, step: int, group: int, task_ids: Sequence[str] | None = None) -> Start:
    """Returns what a group plays.

    Args:
        seed: the run's.
        step: counted from 0.
        group: its number among those of all processes.
        task_ids: to draw one from; None leaves the choice to the environment.
    """
    drawn = (
        None
        if task_ids is None
        else task_ids[stable_hash(f"difficulty {seed} {step} {group}") % len(task_ids)]
    )
    return Start(group, stable_hash(f"task {seed} {step} {group}") % 2**31, drawn)
