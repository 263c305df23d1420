"""``agentgym/BabyAI-v0``: the levels of BabyAI (Chevalier-Boisvert et al., 2019) in words, with AgentGym's macro actions."""

import contextlib
import io
import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import gymnasium

from agentgym_envs.core import Outcome, TextEnv
from agentgym_envs.envs.babyai.tasks import babyai_tasks
from agentgym_envs.envs.babyai.view import Thing, View, look
from agentgym_envs.errors import MissingExtra
from agentgym_envs.tasks import Task, TaskSet

_MACRO = re.compile(r"(go to|pickup|pick up|go through|toggle and go through) (.+ \d+)")
_SINGLE = {"turn left": "left", "turn right": "right", "move forward": "forward", "toggle": "toggle", "drop": "drop"}
_WORDS = {low: word for word, low in _SINGLE.items()}
_CHECK = "check available actions"
_UNKNOWN = "The action is not recognized. Please check valid actions."


class BabyAIEnv(TextEnv):
    """Carries out one instruction in a grid of rooms, of which the positions before the agent are seen.

    Args:
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a grid of rooms and have one goal. Each turn shows what is in front of you and which actions are available.\n"
        "Answer with one action and nothing else: turn left, turn right, move forward, go to <thing> <number>, "
        "pickup <thing> <number>, drop, toggle, go through <open door> <number>, "
        "toggle and go through <closed or locked door> <number>, check available actions."
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

    def __init__(self, **kwargs: Any):
        if find_spec("minigrid") is None:
            raise MissingExtra(type(self).__name__, "babyai")
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns AgentGym's 40 levels with 70 seeds each."""
        return _tasks()

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Builds the level of the task's seed."""
        self._level = _make_level(task.data["level"])
        with contextlib.redirect_stdout(io.StringIO()):  # minigrid prints each layout that it rejects
            self._level.reset(seed=task.data["seed"])
        self._view = look(self._level)
        goal = str(self._level.mission)
        return f"Your goal: {goal}\n{self._text_of_view()}", goal

    def act(self, action: str) -> Outcome:
        """Carries out a single or a macro action, or explains."""
        text = " ".join(action[:200].lower().split()).rstrip(".")
        if text == _CHECK:
            return Outcome(f"You can take the following actions: {', '.join(self.actions())}", 0.0)
        if text in _SINGLE:
            if text == "move forward" and self._view.ahead is not None and not self._view.ahead.can_overlap():
                return Outcome("There is a barrier in front of you, you can't move forward.", 0.0)
            return self._do([_SINGLE[text]])
        match = _MACRO.fullmatch(text)
        thing = next((t for t in self._view.things if match and t.label == match[2]), None)
        if match is None or thing is None:
            return Outcome(_UNKNOWN, 0.0, invalid=True)
        verb = match[1].replace("pick up", "pickup")
        refusal = _refusal(self._view, verb, thing)
        return Outcome(refusal, 0.0) if refusal else self._do(_steps(self._view, verb, thing))

    def actions(self) -> list[str]:
        """Returns the single actions that change something, the macros within reach, and the question for them."""
        view = self._view
        blocked = view.ahead is not None and not view.ahead.can_overlap()
        listed = ["turn left", "turn right", *([] if blocked else ["move forward"])]
        if view.carrying and view.ahead is None:
            listed.append("drop")
        if view.ahead is not None and view.ahead.type in ("door", "box"):
            listed.append("toggle")
        verbs = ("pickup", "go to", "go through", "toggle and go through")
        listed += [f"{v} {t.label}" for t in view.things for v in verbs if _refusal(view, v, t) is None]
        return [*listed, _CHECK]

    def oracle(self) -> Iterator[str]:
        """Yields minigrid's bot's actions in our words."""
        from agentgym_envs.envs.babyai.oracle import solve

        for low in solve(self._level):
            if low == self._level.actions.pickup:
                yield f"pickup {next(t for t in self._view.things if (t.ahead, t.right) == (1, 0)).label}"
            else:
                yield _WORDS[low.name]
            if self._over:  # the bot would also put down what it was to pick up
                return

    def _do(self, steps: Sequence[str]) -> Outcome:
        for step in steps:
            _, reward, terminated, truncated, _ = self._level.step(self._level.actions[step])
            if terminated or truncated:
                break
        self._view = look(self._level)
        success = bool(terminated and reward > 0)
        done = bool(terminated or truncated)
        text = self._view.text() + (" The task is completed." if success else "") if done else self._text_of_view()
        return Outcome(text, float(reward), done=done, success=success)

    def _text_of_view(self) -> str:
        return f"{self._view.text()}\nAvailable actions: {json.dumps(self.actions())}"


def _steps(view: View, verb: str, thing: Thing) -> list[str]:
    """Returns the simulator's steps of a macro that is not refused."""
    after = {
        "go to": [],
        "pickup": ["pickup"],
        "go through": ["forward"] * 2,
        "toggle and go through": ["toggle", *["forward"] * 2],
    }
    return [*view.path(thing), *after[verb]]


def _refusal(view: View, verb: str, thing: Thing) -> str | None:
    """Returns why a macro cannot be carried out, or None."""
    door = thing.object.type == "door"
    what = f"You cannot {verb} {thing.label}, as "
    if not view.can_reach(thing):
        return what + "there is no path leading to it."
    if verb == "pickup":
        if door:
            return what + "doors stay where they are."
        return what + "you are already carrying something." if view.carrying else None
    if verb == "go through" and not (door and thing.object.is_open):
        return what + "it is not an open door."
    if verb == "toggle and go through":
        if not door or thing.object.is_open:
            return what + "it is not a closed or locked door."
        key = view.carrying
        if thing.object.is_locked and not (key and key.type == "key" and key.color == thing.object.color):
            return what + "you do not carry its key."
    return None


def _make_level(name: str) -> Any:
    import minigrid  # noqa: F401  registers the levels

    newest = max(i for i in gymnasium.registry if re.fullmatch(rf"BabyAI-{name}-v\d", i))
    return gymnasium.make(newest, disable_env_checker=True).unwrapped


@cache
def _tasks() -> TaskSet:
    return babyai_tasks()
