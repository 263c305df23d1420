"""Horizon curricula: how many turns an episode may take at each step."""

import json
from collections import defaultdict
from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

from agentgym_envs.errors import AgentGymError, BrokenPlugin
from agentgym_train import plugins

if TYPE_CHECKING:
    from agentgym_train.protocols import Curriculum


def turns(curriculum: "Curriculum", step: int) -> int:
    """Returns the horizon at a step (counted from 0), which is a whole number of turns and at least one.

    Raises:
        BrokenPlugin: the curriculum returned something else.
    """
    value: Any = curriculum.horizon(step)
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise BrokenPlugin(
            f"{plugins.title(curriculum)}: its horizon at step {step + 1} is {value!r}, not a whole number of turns from 1 up"
        )
    return int(value)


def rehearse(options: Mapping[str, Any], steps: int) -> None:
    """Calls every method of a curriculum once, on an instance of its own, before any work depends on it.

    Args:
        options: the configuration section.
        steps: the run's; the horizons of the first and of the last one are asked for.

    Raises:
        BrokenPlugin: a method raised, a horizon is none, or the state cannot be kept as JSON.
    """
    curriculum = plugins.make(plugins.CURRICULUM, options)
    try:
        state = json.loads(json.dumps(curriculum.state_dict(), allow_nan=False))
        for step in (0, steps - 1):
            turns(curriculum, step)
        curriculum.observe(defaultdict(lambda: 0.5))  # whichever metrics it looks at
        curriculum.load_state_dict(state)
    except AgentGymError:
        raise
    except Exception as error:
        where = plugins.title(curriculum)
        raise BrokenPlugin(f"{where} raised {error!r} when its methods were tried before the run") from error
