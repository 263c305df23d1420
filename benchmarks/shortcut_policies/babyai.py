"""Policies for BabyAI that ignore the goal: constant or available actions."""

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

Policy = Callable[[str, Mapping[str, Any], random.Random], str]


def same(action: str) -> Policy:
    """Returns a policy with one constant action."""
    return lambda observation, info, rng: action


def _available(observation: str, start: str) -> list[str]:
    listed = next(
        line
        for line in reversed(observation.splitlines())
        if line.startswith("Available actions: ")
    )
    return [action for action in json.loads(listed.partition(": ")[2]) if action.startswith(start)]


def nearest(start: str) -> Policy:
    """Returns a policy that takes the first available action with this prefix, else turns left."""
    return lambda observation, info, rng: next(iter(_available(observation, start)), "turn left")


def by_turns(*starts: str) -> Policy:
    """Returns a policy that cycles through the available actions with these prefixes.

    It turns left at every third turn and without such an action.
    """

    def policy(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        able = [action for start in starts for action in _available(observation, start)]
        return "turn left" if not able or info["turn"] % 3 == 2 else able[info["turn"] % len(able)]

    return policy


POLICIES = {
    "agentgym/BabyAI-v2": {
        "constant `move forward`": same("move forward"),
        "constant `turn left`": same("turn left"),
        "constant `toggle`": same("toggle"),
        "first `go to`, else turn left": nearest("go to "),
        "first `pickup`, else turn left": nearest("pickup "),
        "each `go to` in turn": by_turns("go to "),
        "each macro action in turn": by_turns(
            "toggle and go through ", "go through ", "go to ", "pickup ", "drop"
        ),
    }
}
