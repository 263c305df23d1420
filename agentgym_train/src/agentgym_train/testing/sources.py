"""The check for authors of sources."""

from collections.abc import Callable
from contextlib import closing

from agentgym_envs.errors import ConformanceError
from agentgym_train.data.types import Group
from agentgym_train.engine.distributed import Distributed
from agentgym_train.protocols import Source

PROCESSES = (1, 2, 3)


def check_source(
    build: Callable[[Distributed], Source], *, groups: int, steps: int = 3, horizon: int = 4
) -> list[str]:
    """Checks what the trainer relies on in a source.

    Args:
        build: makes the source of one of the processes that ``distributed`` says there are.
        groups: of all processes in a step: ``env.groups`` of the configuration.
        steps: to look at.
        horizon: turns that an episode may take.

    Returns:
        One line for each property that holds.

    Raises:
        ConformanceError: the first property that does not hold, with what was seen.
    """
    alone = [_dealt(build, size, groups, steps, horizon) for size in PROCESSES]
    again = _dealt(build, 1, groups, steps, horizon)
    for size, dealt in zip((*PROCESSES, 1), (*alone, again), strict=True):
        for step, (one, other) in enumerate(zip(alone[0], dealt, strict=True)):
            if one != other:
                raise ConformanceError(
                    f"at step {step + 1} the groups are others with {size} processes, or at another"
                    f" time: {_shown(one, other)}"
                )
    return [
        "each process has its own groups, numbered among those of all",
        (
            "the groups of a step do not depend on the number of processes, nor on when they are"
            " asked for"
        ),
        "every sampled token has a log-probability, and no failed episode is in a group",
        "it can be closed twice",
    ]


def _dealt(
    build: Callable[[Distributed], Source], size: int, groups: int, steps: int, horizon: int
) -> list[dict[int, Group]]:
    """Returns the groups of each step by their number, of all processes."""
    found: list[dict[int, Group]] = [{} for _ in range(steps)]
    for rank in range(size):
        distributed = Distributed()
        distributed.rank, distributed.size = rank, size
        with closing(build(distributed)) as source:
            for step in range(steps):
                for group in source.next(step, horizon):
                    _check(
                        group,
                        found[step],
                        groups,
                        f"at step {step + 1} process {rank + 1} of {size}",
                    )
                    found[step][group.number] = group
                list(source.failures)
            source.close()
    return found


def _check(group: Group, others: dict[int, Group], groups: int, where: str) -> None:
    if group.number in others or not 0 <= group.number < groups:
        raise ConformanceError(
            f"{where} has a group of number {group.number}, which is another's, or not from 0 to"
            f" {groups - 1}"
        )
    for t in group.trajectories:
        if t.status.is_error:
            raise ConformanceError(
                f"{where} has an episode whose environment failed: {t.task_id!r}"
            )
        if odd := next((turn for turn in t.turns if len(turn.action_ids) != len(turn.logps)), None):
            raise ConformanceError(
                f"{where} has {len(odd.action_ids)} sampled tokens with {len(odd.logps)}"
                " log-probabilities"
            )


def _shown(one: dict[int, Group], other: dict[int, Group]) -> str:
    tasks = [
        {n: [t.task_id for t in g.trajectories] for n, g in sorted(found.items())}
        for found in (one, other)
    ]
    return f"{tasks[0]} and {tasks[1]}"
