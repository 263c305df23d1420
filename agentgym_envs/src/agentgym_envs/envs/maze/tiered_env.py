"""``agentgym/TieredMaze-v0``: mazes with a chain of up to three different barriers."""

from collections.abc import Sequence
from typing import Any

from agentgym_envs.envs.maze.barriers import DOOR, BarrierKind, BarrierMazeEnv
from agentgym_envs.envs.maze.tiered_tasks import TieredMazeTasks

THICKET = BarrierKind("thicket", "thicket", "axe", "clear", "Cleared")
PASSAGE = BarrierKind("dark passage", "dark", "torch", "light", "Lit")


class TieredMazeEnv(BarrierMazeEnv):
    """A maze with up to three barriers in a chain.

    A door needs the key, then a thicket needs the axe, then a dark passage needs the torch. Each
    tool lies off the path, behind the previous barrier.

    Args:
        tiers: numbers of barriers, from 0 to 3. A task's tier is its difficulty. All tiers are
            equally likely.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a maze of rooms. Find and take the thing that the goal names.\nBarriers may"
        " block the path. The key unlocks a locked door, the axe clears a thicket, and the torch"
        " lights a dark passage. The tool lies in a room on your side: take it, go to the barrier"
        " and use it.\nEach turn shows the exits of the room you are in, what lies there and what"
        " you have.\nAnswer with one action and nothing else: go <direction>, take <thing>, unlock"
        " <direction>, clear <direction>, or light <direction>.\nDirections are north, east, south"
        " and west."
    )

    tools = {
        **BarrierMazeEnv.tools,
        "unlock": "unlock {direction}",
        "clear": "clear {direction}",
        "light": "light {direction}",
    }
    barriers = (DOOR, THICKET, PASSAGE)

    def __init__(self, *, tiers: Sequence[int] = (0, 1, 2, 3), **kwargs: Any):
        self._tiers = tiers
        super().__init__(**kwargs)

    def make_tasks(self) -> TieredMazeTasks:
        """Returns the mazes of the chosen tiers."""
        return TieredMazeTasks(self._tiers)
