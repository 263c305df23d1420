"""The horizon and the difficulties of a curriculum, checked."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from agentgym_envs.errors import BrokenPlugin
from agentgym_train import plugins
from agentgym_train.protocols import Curriculum


def turns(curriculum: Curriculum, step: int) -> int:
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


def difficulties(curriculum: Curriculum, step: int) -> tuple[int, int] | None:
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
