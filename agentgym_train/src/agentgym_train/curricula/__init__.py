"""Curricula: how many turns an episode may take at each step, and which tasks are played."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any

from agentgym_envs.errors import AgentGymError, BrokenPlugin
from agentgym_train import plugins

if TYPE_CHECKING:
    from agentgym_train.protocols import Curriculum
    from agentgym_train.tasks import Levels


def turns(curriculum: "Curriculum", step: int) -> int:
    """Returns the horizon at a step (counted from 0), which is a whole number of turns and at least one.

    Raises:
        BrokenPlugin: the curriculum returned something else.
    """
    value: Any = curriculum.horizon(step)
    if not _whole(value) or int(value) < 1:
        raise BrokenPlugin(
            f"{plugins.title(curriculum)}: its horizon at step {step + 1} is {value!r}, not a whole number of turns from 1 up"
        )
    return int(value)


def difficulties(curriculum: "Curriculum", step: int) -> tuple[int, int] | None:
    """Returns the least and the greatest difficulty of the tasks of a step (counted from 0), or None where it chooses no tasks.

    Raises:
        BrokenPlugin: the curriculum returned something else.
    """
    ask = getattr(curriculum, "difficulties", None)
    value: Any = ask(step) if ask is not None else None
    if value is None:
        return None
    if not (isinstance(value, Sequence) and len(value) == 2 and all(map(_whole, value)) and value[0] <= value[1]):
        raise BrokenPlugin(
            f"{plugins.title(curriculum)}: its difficulties at step {step + 1} are {value!r}, "
            "neither None nor two whole numbers, the least and the greatest"
        )
    return int(value[0]), int(value[1])


def rehearse(options: Mapping[str, Any], steps: int) -> None:
    """Calls every method of a curriculum once, on an instance of its own, before any work depends on it.

    Args:
        options: the configuration section.
        steps: the run's; the horizons and difficulties of the first and of the last one are asked for.

    Raises:
        BrokenPlugin: a method raised, a horizon or a range is none, or the state cannot be kept as JSON.
    """
    curriculum = plugins.make(plugins.CURRICULUM, options)
    with _tried(curriculum):
        state = json.loads(json.dumps(curriculum.state_dict(), allow_nan=False))
        for step in (0, steps - 1):
            turns(curriculum, step)
            difficulties(curriculum, step)
        curriculum.observe(defaultdict(lambda: 0.5))  # whichever metrics it looks at
        curriculum.load_state_dict(state)


def check_tasks(options: Mapping[str, Any], steps: int, levels: "Levels | None") -> None:
    """Refuses a curriculum that asks, at any step of a run in which nothing is learned, for tasks that are not there.

    Args:
        options: the configuration section.
        steps: the run's.
        levels: the training tasks; None where the environment lists none.

    Raises:
        ConfigError: names the range, the first step that asks for it, and the difficulties that there are.
        BrokenPlugin: the curriculum raised.
    """
    from agentgym_train import tasks

    curriculum = plugins.make(plugins.CURRICULUM, options)
    if not hasattr(curriculum, "difficulties"):
        return
    with _tried(curriculum):
        first: dict[tuple[int, int], int] = {}
        for step in range(steps):
            if bounds := difficulties(curriculum, step):
                first.setdefault(bounds, step)
        for bounds, step in first.items():
            tasks.within(levels, bounds, step)


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


@contextmanager
def _tried(curriculum: "Curriculum") -> Iterator[None]:
    """Turns what a curriculum's methods raise into one line."""
    try:
        yield
    except AgentGymError:
        raise
    except Exception as error:
        where = plugins.title(curriculum)
        raise BrokenPlugin(f"{where} raised {error!r} when its methods were tried before the run") from error
