"""A curriculum tried before the run, on an instance that is thrown away."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agentgym_envs.errors import AgentGymError, BrokenPlugin
from agentgym_train import plugins
from agentgym_train.curricula import answers
from agentgym_train.protocols import Curriculum
from agentgym_train.rollout import tasks


def rehearse(options: Mapping[str, Any], steps: int) -> None:
    """Calls every method of a separate instance of a curriculum once, before the run needs it.

    Args:
        options: the configuration section.
        steps: the run's; the horizons and difficulties of the first and of the last one are asked
            for.

    Raises:
        BrokenPlugin: a method raised, a horizon or a range is none, or the state cannot be kept as
            JSON.
    """
    curriculum = plugins.make_object(plugins.CURRICULUM, options)
    with _tried(curriculum):
        state = json.loads(json.dumps(curriculum.state_dict(), allow_nan=False))
        for step in (0, steps - 1):
            answers.turns(curriculum, step)
            answers.difficulties(curriculum, step)
        curriculum.observe(defaultdict(lambda: 0.5))  # whichever metrics it looks at
        curriculum.load_state_dict(state)


def check_tasks(
    options: Mapping[str, Any], steps: int, task_difficulty: tasks.Difficulties | None
) -> None:
    """Rejects a curriculum that asks for missing tasks at any step of a run without learning.

    Args:
        options: the configuration section.
        steps: the run's.
        task_difficulty: the training tasks; None where the environment lists none.

    Raises:
        ConfigError: names the range, the first step that asks for it, and the difficulties that
            there are.
        BrokenPlugin: the curriculum raised.
    """
    curriculum = plugins.make_object(plugins.CURRICULUM, options)
    with _tried(curriculum):
        first: dict[tuple[int, int], int] = {}
        for step in range(steps):
            if bounds := answers.difficulties(curriculum, step):
                first.setdefault(bounds, step)
        for bounds, step in first.items():
            tasks.within(task_difficulty, bounds, step)


@contextmanager
def _tried(curriculum: Curriculum) -> Iterator[None]:
    """Turns what a curriculum's methods raise into one line."""
    try:
        yield
    except AgentGymError:
        raise
    except Exception as error:
        where = plugins.title(curriculum)
        raise BrokenPlugin(
            f"{where} raised {error!r} when its methods were tried before the run"
        ) from error
