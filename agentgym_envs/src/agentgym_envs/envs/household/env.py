"""``agentgym/Household-v0``: find, change and place objects in a house.

After the text engine of ALFWorld (Shridhar et al., 2021).
"""

import random
from collections.abc import Iterator
from os import PathLike, fspath
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, command
from agentgym_envs.envs.household.games import game_tasks, read_game
from agentgym_envs.envs.household.goals import KINDS
from agentgym_envs.envs.household.plan import HousePlanner
from agentgym_envs.envs.household.rooms import TaskDesign, furnish, goal_of
from agentgym_envs.envs.household.tasks import household_tasks
from agentgym_envs.envs.household.world import NOTHING, HouseWorld
from agentgym_envs.errors import ArgumentError
from agentgym_envs.tasks import Task, TaskSet

WELCOME = "-= Welcome to TextWorld, ALFRED! =-"


class HouseholdEnv(TextEnv):
    """Find, change and place objects in a room.

    Args:
        games: the original's folder of game files, with ``train``, ``valid_seen`` and
            ``valid_unseen``. The default is the tasks of this package.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.

    Raises:
        ArgumentError: ``games`` is not a path.
        TaskError: the folder has no game.
    """

    instructions = (
        "You are in a room. Do the task that the first observation names: find objects, change them"
        " and put them where they belong. You can carry one object. Things in closed receptacles"
        " are hidden.\nAnswer with one command and nothing else:\ngo to <receptacle>\nopen"
        " <receptacle>\nclose <receptacle>\ntake <object> from <receptacle>\nmove <object> to"
        " <receptacle>\nexamine <receptacle or object>\nuse <lamp>\nheat <object> with"
        " <microwave>\nclean <object> with <sinkbasin>\ncool <object> with <fridge>\nslice <object>"
        " with <knife>\ninventory\nlook\nhelp\nNames have numbers: mug 1, cabinet 3. The answer"
        f' "{NOTHING}" means that the command is not possible now.'
    )
    tools = {
        "go": "go to {receptacle}",
        "open": "open {receptacle}",
        "close": "close {receptacle}",
        "take": "take {object} from {receptacle}",
        "move": "move {object} to {receptacle}",
        "examine": "examine {thing}",
        "use": "use {object}",
        "heat": "heat {object} with {receptacle}",
        "clean": "clean {object} with {receptacle}",
        "cool": "cool {object} with {receptacle}",
        "slice": "slice {object} with {knife}",
        "inventory": "inventory",
        "look": "look",
        "help": "help",
    }

    def __init__(self, *, games: str | PathLike[str] | None = None, **kwargs: Any):
        if not (games is None or isinstance(games, str | PathLike)):
            raise ArgumentError(f"games must be the path of a folder, not {games!r}")
        self._games = None if games is None else fspath(games)
        super().__init__(**kwargs)

    def make_tasks(self) -> TaskSet:
        """Returns the tasks of this package, or one task per game file."""
        return household_tasks() if self._games is None else game_tasks(self._games)

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Furnishes the house. The episode's generator is not used: a task has one house."""
        if "path" in task.data:
            facts, self._target, words = read_game(task.data["path"])
        else:
            design = TaskDesign(*task.data["design"])
            facts, self._target = furnish(design), goal_of(design)
            words = goal_words(design)
        self.world = HouseWorld(facts)
        return opening(self.world, words), words.removesuffix(".")

    def act(self, action: str) -> Outcome:
        """Carries out a command. An impossible one counts as invalid."""
        text = self.world.step(command(action).lower())
        won = self._target.met(self.world)
        return Outcome(text, float(won), done=won, success=won, invalid=text == NOTHING)

    def actions(self) -> list[str]:
        """Returns the engine's admissible commands, in alphabetical order."""
        return sorted(self.world.moves())

    def oracle(self) -> Iterator[str]:
        """Yields the commands of a player that knows where everything is."""
        return HousePlanner(self.world, self._target).commands()


def opening(world: HouseWorld, words: str) -> str:
    """Returns the first observation."""
    return f"{WELCOME}\n\n{world.intro()}\n\nYour task is to: {words}"


def goal_words(design: TaskDesign) -> str:
    """Returns a task's goal in the original's words; the id decides between its two sentences."""
    text = random.Random(f"words {design.id}").choice(KINDS[design.kind].texts)
    return f"{text.format(obj=design.thing.lower(), recep=design.target.lower())}."
