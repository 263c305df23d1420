"""The 30 tasks, their 7,207 variations and upstream's splits.

They are a table here, because a query of the simulator would need Java.
"""

from typing import NamedTuple

from agentgym_envs.tasks import Task, TaskSet


class UpstreamTask(NamedTuple):
    """A task of upstream.

    Attributes:
        number: upstream's number of the task.
        name: upstream's name of the task.
        dev: first variation of the dev split. Lower variations are for training.
        test: first variation of the test split.
        variations: number of variations.
    """

    number: str
    name: str
    dev: int
    test: int
    variations: int


TABLE = (
    UpstreamTask("1-1", "boil", 14, 21, 30),
    UpstreamTask("1-2", "melt", 14, 21, 30),
    UpstreamTask("1-3", "freeze", 14, 21, 30),
    UpstreamTask("1-4", "change-the-state-of-matter-of", 14, 21, 30),
    UpstreamTask("2-1", "use-thermometer", 270, 405, 540),
    UpstreamTask("2-2", "measure-melting-point-known-substance", 218, 327, 436),
    UpstreamTask("2-3", "measure-melting-point-unknown-substance", 150, 225, 300),
    UpstreamTask("3-1", "power-component", 10, 15, 20),
    UpstreamTask("3-2", "power-component-renewable-vs-nonrenewable-energy", 10, 15, 20),
    UpstreamTask("3-3", "test-conductivity", 450, 675, 900),
    UpstreamTask("3-4", "test-conductivity-of-unknown-substances", 300, 450, 600),
    UpstreamTask("4-1", "find-living-thing", 150, 225, 300),
    UpstreamTask("4-2", "find-non-living-thing", 150, 225, 300),
    UpstreamTask("4-3", "find-plant", 150, 225, 300),
    UpstreamTask("4-4", "find-animal", 150, 225, 300),
    UpstreamTask("5-1", "grow-plant", 62, 93, 126),
    UpstreamTask("5-2", "grow-fruit", 62, 93, 126),
    UpstreamTask("6-1", "chemistry-mix", 16, 24, 32),
    UpstreamTask("6-2", "chemistry-mix-paint-secondary-color", 18, 27, 36),
    UpstreamTask("6-3", "chemistry-mix-paint-tertiary-color", 18, 27, 36),
    UpstreamTask("7-1", "lifespan-longest-lived", 62, 93, 125),
    UpstreamTask("7-2", "lifespan-shortest-lived", 62, 93, 125),
    UpstreamTask("7-3", "lifespan-longest-lived-then-shortest-lived", 62, 93, 125),
    UpstreamTask("8-1", "identify-life-stages-1", 6, 9, 14),
    UpstreamTask("8-2", "identify-life-stages-2", 4, 6, 10),
    UpstreamTask("9-1", "inclined-plane-determine-angle", 84, 126, 168),
    UpstreamTask("9-2", "inclined-plane-friction-named-surfaces", 692, 1038, 1386),
    UpstreamTask("9-3", "inclined-plane-friction-unnamed-surfaces", 80, 120, 162),
    UpstreamTask("10-1", "mendelian-genetics-known-plant", 60, 90, 120),
    UpstreamTask("10-2", "mendelian-genetics-unknown-plant", 240, 360, 480),
)
LEFT_OUT_BY_AGENTGYM = ("5-1", "5-2", "9-1", "9-2", "9-3", "10-1", "10-2")
AGENTGYM = tuple(f"{row.name}-[0-9]*" for row in TABLE if row.number not in LEFT_OUT_BY_AGENTGYM)
"""Patterns of the tasks that AgentGym uses: ``tasks=AGENTGYM``."""
FAMILIES = {
    "Measure": (
        "use-thermometer",
        "measure-melting-point-known-substance",
        "measure-melting-point-unknown-substance",
    ),
    "Test-Conductivity": ("test-conductivity", "test-conductivity-of-unknown-substances"),
    "Find": ("find-living-thing", "find-non-living-thing", "find-plant", "find-animal"),
    "Chem-Mix": ("chemistry-mix",),
    "Lifespan": (
        "lifespan-longest-lived",
        "lifespan-shortest-lived",
        "lifespan-longest-lived-then-shortest-lived",
    ),
}
"""The families of the paper: name -> tasks."""


def scienceworld_tasks() -> TaskSet:
    """Returns one task per variation, such as ``boil-17``.

    The difficulty is the index of the task in ``TABLE``.
    """
    return TaskSet(
        Task(
            id=f"{row.name}-{variation}",
            split="train" if variation < row.dev else "dev" if variation < row.test else "test",
            difficulty=index,
            data={"name": row.name, "variation": variation},
        )
        for index, row in enumerate(TABLE)
        for variation in range(row.variations)
    )
