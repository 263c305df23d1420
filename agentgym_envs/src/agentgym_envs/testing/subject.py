"""The environment under test, made in two ways."""

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import gymnasium

from agentgym_envs import registry
from agentgym_envs.errors import ConformanceError
from agentgym_envs.tasks import SPLITS, spread
from agentgym_envs.testing.side_effects import SideEffects

Env = gymnasium.Env[str, str]
NOT_APPLICABLE = "not applicable"  # begins the answer of a check that has nothing to look at


class OracleSolution(NamedTuple):
    """The oracle's solution of a task.

    Attributes:
        opening: the first observation.
        goal: the goal.
        actions: the oracle's actions.
        texts: the observation after each action.
    """

    opening: str
    goal: str
    actions: tuple[str, ...]
    texts: tuple[str, ...]


class TestedEnv:
    """The environment under test.

    Two copies serve all checks, because a simulator can take seconds to start.

    Args:
        env_id: a registered id.
        kwargs: constructor keywords.
        evidence: the side effects on this process.

    Attributes:
        offered: the actions that were listed during the walks.
        solutions: the oracle's solutions, by task.
        left_open: the files that an environment left open after close.
    """

    def __init__(self, env_id: str, kwargs: dict[str, Any], evidence: SideEffects):
        self.env_id, self.kwargs, self.evidence = env_id, kwargs, evidence
        self.offered: dict[str, None] = {}
        self.solutions: dict[str, OracleSolution] = {}
        self.left_open: Counter[str] = Counter()
        self._made: list[Env] = []

    def make(self, **more: Any) -> Env:
        """Returns another environment; :meth:`close` closes it."""
        own = deepcopy(self.kwargs)  # a constructor can change its arguments
        self._made.append(gymnasium.make(registry.spec(self.env_id), **(own | more)))
        return self._made[-1]

    def actions(self) -> list[str]:
        """Returns the actions that :attr:`plain` lists now."""
        listed = unwrapped(self.plain).actions()
        expect(bool(listed), "actions() lists nothing before the end of the episode")
        return list(listed)

    @cached_property
    def shown(self) -> Env:
        """A copy that renders and lists admissible actions, with the registered step limit."""
        return self.make(admissible=True, render_mode="ansi")

    @cached_property
    def plain(self) -> Env:
        """A copy with default keywords, without a step limit."""
        return self.make(max_episode_steps=-1)

    @cached_property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """The task ids of each split."""
        return {split: unwrapped(self.make(split=split)).task_ids for split in SPLITS}

    @property
    def limit(self) -> int:
        """The registered step limit."""
        assert self.shown.spec is not None
        assert self.shown.spec.max_episode_steps is not None
        return self.shown.spec.max_episode_steps

    def sample(self, count: int) -> list[str]:
        """Returns ``count`` tasks of each split; the splits alternate."""
        chosen = [spread(ids, count) for ids in self.listed.values()]
        return [task_id for task_id in chain(*zip_longest(*chosen)) if task_id is not None]

    def close(self) -> None:
        """Closes all environments that were made."""
        for env in self._made:
            env.close()


def unwrapped(env: Env) -> Any:
    """Returns the environment without wrappers."""
    return env.unwrapped


def expect(condition: bool, message: str) -> None:
    """Raises a ConformanceError with the message unless the condition holds."""
    if not condition:
        raise ConformanceError(message)


def refused(call: Callable[[], Any]) -> bool:
    """Returns whether a call raises a ValueError."""
    try:
        call()
    except ValueError:
        return True
    return False
