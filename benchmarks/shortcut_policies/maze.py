"""Policies for mazes: constant actions, and the wall follower, which reads the exits."""

import random
import re
from collections.abc import Iterable, Mapping
from typing import Any

COMPASS = ("north", "east", "south", "west")
DOORS = {"locked": ("key", "unlock")}
"""Tool and verb of each kind of barrier, by its mark in the exits."""
BARRIERS = {**DOORS, "thicket": ("axe", "clear"), "dark": ("torch", "light")}


def constant(action: str) -> Any:
    """Returns a policy with one constant action."""
    return lambda observation, info, rng: action


def take_or_wander(every: int) -> Any:
    """Returns a policy that takes the lamp at every n-th turn and else moves at random."""
    return lambda observation, info, rng: (
        "take lamp" if info["turn"] % every == every - 1 else f"go {rng.choice(COMPASS)}"
    )


def rounds(barriers: Iterable[tuple[str, str]]) -> Any:
    """Returns a policy that cycles through all actions and ignores the observation.

    Args:
        barriers: tool and verb of each kind of barrier.
    """
    actions = [f"go {d}" for d in COMPASS]
    for tool, verb in barriers:
        actions += [f"take {tool}", *(f"{verb} {d}" for d in COMPASS)]
    actions.append("take lamp")
    return lambda observation, info, rng: actions[info["turn"] % len(actions)]


def first_exit(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Takes an object in the room, else leaves by the first listed exit."""
    return _take(observation) or f"go {_exits(observation)[0]}"


class WallFollower:
    """Keeps its right hand on the wall.

    It takes objects, opens barriers with their tools, and otherwise turns right if it can.

    Args:
        barriers: the barriers that it can open, in the form of ``BARRIERS``.
    """

    def __init__(self, barriers: Mapping[str, tuple[str, str]]) -> None:
        self._barriers = barriers
        self.heading = 0

    def __call__(self, observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        """Returns the next action; the heading is the only memory."""
        if info["turn"] == 0:
            self.heading = 0
        if taken := _take(observation):
            return taken
        if closed := re.search(r"(\w+) \((\w+)\)", observation):
            tool, verb = self._barriers.get(closed[2], ("nothing", ""))
            if f"You have: {tool}" in observation:
                return f"{verb} {closed[1]}"
        open_exits = [d for d in _exits(observation) if f"{d} (" not in observation]
        turns = ((self.heading + turn) % 4 for turn in (1, 0, 3, 2))
        self.heading = next(heading for heading in turns if COMPASS[heading] in open_exits)
        return f"go {COMPASS[self.heading]}"


def _exits(observation: str) -> list[str]:
    line = next(line for line in observation.splitlines() if line.startswith("Exits: "))
    return re.findall(r"north|east|south|west", line)


def _take(observation: str) -> str | None:
    here = re.search(r"^Here: (\w+)", observation, re.MULTILINE)
    return f"take {here[1]}" if here else None


_MAZES = {
    "constant `go north`": constant("go north"),
    "constant `take lamp`": constant("take lamp"),
    "a fixed round of all actions": rounds(DOORS.values()),
    "random direction, `take lamp` at every second turn": take_or_wander(2),
    "random direction, `take lamp` at every fourth turn": take_or_wander(4),
    "take, else the first exit": first_exit,
    "wall follower, which reads the exits": WallFollower(DOORS),
}
POLICIES = {
    "agentgym/Maze-v1": _MAZES,
    "agentgym/LockedMaze-v1": _MAZES,
    "agentgym/TieredMaze-v0": {
        **_MAZES,
        "a fixed round of all actions": rounds(BARRIERS.values()),
        "wall follower, which opens doors only": WallFollower(DOORS),
        "wall follower, which reads the exits": WallFollower(BARRIERS),
    },
}
