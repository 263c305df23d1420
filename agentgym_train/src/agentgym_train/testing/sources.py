"""The check for authors of sources."""

from collections.abc import Callable
from contextlib import closing

from agentgym_envs.errors import ConformanceError
from agentgym_train.data.types import Group
from agentgym_train.distributed import Distributed
from agentgym_train.protocols import Source, StepPlan

PROCESSES = (1, 2, 3)


def check_source(
    build: Callable[[Distributed], Source], *, groups: int, steps: int = 3, horizon: int = 4
) -> list[str]:
    """Checks the properties of a source on which the trainer relies.

    Args:
        build: builds the source of one process; ``distributed`` has its rank and their number.
        groups: number of groups per step over all processes: ``env.groups`` of the configuration.
        steps: number of steps to compare.
        horizon: maximum number of turns of an episode.

    Returns:
        One line for each property that holds.

    Raises:
        ConformanceError: the first property that does not hold, with the values that show it.
    """
    by_size = [_groups_by_step(build, size, groups, steps, horizon) for size in PROCESSES]
    again = _groups_by_step(build, 1, groups, steps, horizon)
    for size, found in zip((*PROCESSES, 1), (*by_size, again), strict=True):
        for step, (one, other) in enumerate(zip(by_size[0], found, strict=True)):
            if one != other:
                raise ConformanceError(
                    f"at step {step + 1} the groups differ with {size} processes, or at another"
                    f" time: {_shown(one, other)}"
                )
    return [
        "group numbers are unique over all processes",
        "the groups of a step do not depend on the number of processes or the time of the call",
        "every sampled token has a log-probability, and groups contain no failed episodes",
        "samples are numbered from 0 in the order of their first calls",
        "close can be called twice",
    ]


def _groups_by_step(
    build: Callable[[Distributed], Source], size: int, groups: int, steps: int, horizon: int
) -> list[dict[int, Group]]:
    """Returns the groups of all processes at each step, by number."""
    found: list[dict[int, Group]] = [{} for _ in range(steps)]
    for rank in range(size):
        distributed = Distributed()
        distributed.rank, distributed.size = rank, size
        with closing(build(distributed)) as source:
            for step in range(steps):
                for group in source.next(StepPlan(step, horizon, range(groups))):
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


def _check(group: Group, earlier: dict[int, Group], groups: int, where: str) -> None:
    if group.number in earlier or not 0 <= group.number < groups:
        raise ConformanceError(
            f"{where} has a group of number {group.number}, which another group has, or which is"
            f" not from 0 to {groups - 1}"
        )
    for t in group.trajectories:
        if t.status.is_error:
            raise ConformanceError(
                f"{where} has an episode whose environment failed: {t.task_id!r}"
            )
        if bad := next((call for call in t.calls if len(call.action_ids) != len(call.logps)), None):
            raise ConformanceError(
                f"{where} has {len(bad.action_ids)} sampled tokens with {len(bad.logps)}"
                " log-probabilities"
            )
        numbers = list(dict.fromkeys(call.sample for call in t.calls))
        if numbers != list(range(len(numbers))):
            raise ConformanceError(
                f"{where} has an episode whose samples begin in the order {numbers}: number them"
                f" {list(range(len(numbers)))} in the order of their first calls"
            )
        if t.next_call and (t.next_call.action_ids or not 0 <= t.next_call.sample <= len(numbers)):
            raise ConformanceError(
                f"{where} has an episode whose next_call has"
                f" {len(t.next_call.action_ids)} sampled tokens and sample number"
                f" {t.next_call.sample}: it has none, and its number is that of the sample that it"
                f" extends, or {len(numbers)}"
            )


def _shown(one: dict[int, Group], other: dict[int, Group]) -> str:
    tasks = [
        {n: [t.task_id for t in g.trajectories] for n, g in sorted(found.items())}
        for found in (one, other)
    ]
    return f"{tasks[0]} and {tasks[1]}"
