"""Policies for ScienceWorld that ignore the task: constant actions, walks and focus."""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

Policy = Callable[[str, Mapping[str, Any], random.Random], str]


def same(action: str) -> Policy:
    """Returns a policy with one constant action."""
    return lambda observation, info, rng: action


def wander(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Looks around, opens a door at random and goes through it."""
    return _walk(observation, info["turn"], rng)


def focus_at(turn: int) -> Policy:
    """Returns a policy that wanders and, from a turn on, focuses on random visible things."""

    def policy(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        things = re.findall(r"\n\t(?:an?|the) ([a-z ]+?)(?: \(|\.|,|\n|$)", observation)
        if info["turn"] >= turn and info["turn"] % 3 == 1 and things:
            return f"focus on {rng.choice(things)}"
        return _walk(observation, info["turn"], rng)

    return policy


_target: dict[str, str] = {}


def _walk(observation: str, turn: int, rng: random.Random) -> str:
    if turn % 3 == 0:
        return "look around"
    if turn % 3 == 1:
        _target["door"] = rng.choice(
            re.findall(r"[Dd]oor to the ([a-z ]+?) \(", observation) or ["hallway"]
        )
        return f"open door to {_target['door']}"
    return f"go to {_target.get('door', 'hallway')}"


POLICIES = {
    "agentgym/ScienceWorld-v2": {
        "constant `look around`": same("look around"),
        "constant `wait1`": same("wait1"),
        "constant `focus on agent`": same("focus on agent"),
        "wander": wander,
        "focus on a thing of the first room": focus_at(0),
        "wander, then focus on a thing": focus_at(30),
    }
}
