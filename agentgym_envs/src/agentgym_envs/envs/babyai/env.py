"""``agentgym/BabyAI-v2``: the levels of BabyAI as text, with AgentGym's macro actions.

BabyAI is by Chevalier-Boisvert et al. (2019).
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, command
from agentgym_envs.envs.babyai.moves import UNKNOWN, offered, refusal, steps
from agentgym_envs.envs.babyai.tasks import babyai_tasks
from agentgym_envs.envs.babyai.view import FRONT, AgentView
from agentgym_envs.errors import MissingExtra
from agentgym_envs.tasks import Task, TaskSet

_WORDS = {
    "left": "turn left",
    "right": "turn right",
    "forward": "move forward",
    "toggle": "toggle",
    "drop": "drop",
}
_CHECK = "check available actions"
_NOTHING = "No change in state."
_LISTS = " and which actions are available"


class BabyAIEnv(TextEnv):
    """An instruction in a grid of rooms. The agent sees only the positions before it.

    Args:
        list_actions: end each observation with the list of the available actions.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a grid of rooms and have one goal. Each turn shows what is in front of you"
        f"{_LISTS}.\nAnswer with one action and nothing else: turn left, turn"
        " right, move forward, go to <thing> <number>, pickup <thing> <number>, drop, toggle, go"
        " through <open door> <number>, toggle and go through <closed or locked door> <number>,"
        " check available actions."
    )

    tools = {
        "turn": "turn {side}",
        "move_forward": "move forward",
        "toggle_and_go_through": "toggle and go through {door} {number}",
        "go_to": "go to {thing} {number}",
        "go_through": "go through {door} {number}",
        "pickup": "pickup {thing} {number}",
        "toggle": "toggle",
        "drop": "drop",
        "check_available_actions": "check available actions",
    }

    def __init__(self, *, list_actions: bool = True, **kwargs: Any):
        if find_spec("minigrid") is None:
            raise MissingExtra(type(self).__name__, "babyai")
        self._list_actions = list_actions
        if not list_actions:
            self.instructions = self.instructions.replace(_LISTS, "")  # type: ignore[misc]
        super().__init__(**kwargs)
        self._levels: dict[str, Any] = {}

    def make_tasks(self) -> TaskSet:
        """Returns AgentGym's 40 levels with 70 seeds each."""
        return _tasks()

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Builds the level of the task's seed."""
        from agentgym_envs.envs.babyai.levels import make_level

        name = task.data["level"]
        if name not in self._levels:
            self._levels[name] = make_level(name)
        self._level = self._levels[name]
        self._level.reset(seed=task.data["seed"])
        self._look()
        goal = str(self._level.mission)
        return f"Your goal: {goal}\n{self._listed(self._view.text)}", goal

    def act(self, action: str) -> Outcome:
        """Carries out a single or a macro action, or explains why the action failed."""
        text = re.sub(r"^pick up ", "pickup ", command(action, 200).lower())
        if "check" in text:
            return Outcome(
                self._listed(f"You can take the following actions: {', '.join(self.actions())}"),
                0.0,
            )
        if text in self._moves:
            low = steps(self._view, self._moves[text])
            return self._do(low) if low else Outcome(self._listed(_NOTHING), 0.0)
        answer = refusal(self._view, text) if text else _NOTHING
        return Outcome(self._listed(answer), 0.0, invalid=answer in (UNKNOWN, _NOTHING))

    def actions(self) -> list[str]:
        """Returns AgentGym's list, plus ``toggle`` before boxes and open doors."""
        return [*self._moves, _CHECK]

    def oracle(self) -> Iterator[str]:
        """Yields single moves as text: those of minigrid's bot, or of a planner in the middle."""
        from agentgym_envs.envs.babyai.oracle import solve

        for low in solve(self._level):
            yield (
                _WORDS.get(low)
                or f"pickup {next(t for t in self._view.things if t.cell == FRONT).label}"
            )

    def _do(self, low: Sequence[str]) -> Outcome:
        for step in low:
            _, reward, terminated, truncated, _ = self._level.step(self._level.actions[step])
            if terminated or truncated:
                break
        self._look()
        success = bool(terminated and reward > 0)
        over = terminated or truncated or self._is_lost(low)
        text = self._listed(self._view.text + ("\n The task is completed." if success else ""))
        return Outcome(text, float(reward), done=bool(over), success=success)

    def _is_lost(self, low: Sequence[str]) -> bool:
        """Returns whether moves opened a box that the goal needs."""
        from agentgym_envs.envs.babyai.planner import is_lost

        return not {"toggle", "drop"}.isdisjoint(low) and is_lost(self._level)

    def _look(self) -> None:
        self._view = AgentView(self._level)
        self._moves = offered(self._view)

    def _listed(self, text: str) -> str:
        """Adds the available actions to an observation, unless ``list_actions`` is off."""
        if not self._list_actions:
            return text
        return f"{text}\nAvailable actions: {json.dumps(self.actions())}"


@cache
def _tasks() -> TaskSet:
    return babyai_tasks()
