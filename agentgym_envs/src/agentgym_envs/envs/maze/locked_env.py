"""``agentgym/LockedMaze-v1``: mazes with and without a locked door before the thing."""

from collections.abc import Sequence
from typing import Any

from agentgym_envs.envs.maze.barriers import DOOR, BarrierMazeEnv
from agentgym_envs.envs.maze.locked_tasks import LockedMazeTasks


class LockedMazeEnv(BarrierMazeEnv):
    """A maze in which a locked door can block the path.

    The agent must then find the key first. The key lies off the path.

    Args:
        open: sizes in rooms of the mazes without a lock. All sizes, locked or not, are equally
            likely.
        locked: sizes in rooms of the mazes with a lock.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a maze of rooms. Find and take the thing that the goal names.\nA door may be"
        " locked. Its key lies in a room on your side: take it, go to the door and unlock it.\nEach"
        " turn shows the exits of the room you are in, what lies there and what you have.\nAnswer"
        " with one action and nothing else: go <direction>, take <thing>, or unlock"
        " <direction>.\nDirections are north, east, south and west."
    )

    tools = {**BarrierMazeEnv.tools, "unlock": "unlock {direction}"}
    barriers = (DOOR,)

    def __init__(
        self, *, open: Sequence[int] = (10, 14), locked: Sequence[int] = (10, 14), **kwargs: Any
    ):
        self._kinds = {"open": open, "locked": locked}
        super().__init__(**kwargs)

    def make_tasks(self) -> LockedMazeTasks:
        """Returns the mazes of the chosen sizes."""
        return LockedMazeTasks(self._kinds)
