"""Policies for TextWorld's challenges that ignore the goal: walks and fixed scripts."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

WAYS = ("go north", "go east", "go south", "go west")
FOODS = ("apple", "milk", "half of a bag of chips", "bell pepper", "lettuce", "tomato plant")
OUT = (
    *(
        "open chest drawer",
        "open antique trunk",
        "take old key from chest drawer",
        "take old key from antique trunk",
    ),
    *("unlock wooden door with old key", "open wooden door", "go east", "open refrigerator"),
)
"""Actions that leave the bedroom of tw-simple, independent of the place of the key."""
COUCH, GARDEN, BACK = (
    ("go south",),
    ("go north", "open screen door", "go east", "go south"),
    ("go north", "go west"),
)
_THINGS = re.compile(r"\b(?:an?|some) ([a-z-]+(?: [a-z-]+)?)")


def cycle(actions: Sequence[str]) -> Any:
    """Returns a policy that cycles through the actions."""
    return lambda observation, info, rng: actions[info["turn"] % len(actions)]


def coin_walk(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Walks at random and takes a visible coin."""
    return "take coin" if "coin on the floor" in observation else rng.choice(WAYS)


def greedy_walk(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
    """Walks and opens at random, and takes visible things."""
    things = _THINGS.findall(observation)
    if things and rng.random() < 0.6:
        return f"{rng.choice(('take', 'take', 'open'))} {rng.choice(things)}"
    return rng.choice(WAYS)


def gather(foods: Sequence[str]) -> tuple[str, ...]:
    """Returns a script for tw-simple that puts these foods on the stove from any place."""
    put = [f"put {food} on stove" for food in foods]
    takes = [
        [f"take {food}{place}" for food in foods]
        for place in (" from refrigerator", " from couch", "")
    ]
    return (*OUT, *takes[0], *put, *COUCH, *takes[1], *GARDEN, *takes[2], *BACK, *put)


def script(actions: Sequence[str]) -> Any:
    """Returns a policy that takes the actions once and looks around afterwards."""
    return lambda observation, info, rng: (
        actions[info["turn"]] if info["turn"] < len(actions) else "look"
    )


POLICIES = {
    "agentgym/TWSimple-v1": {
        "script: fetches the apple": script(gather(["apple"])),
        "script: fetches all foods": script(gather(FOODS)),
        "random walk, takes what it sees": greedy_walk,
    },
    "agentgym/TWCoinCollector-v1": {
        "north, east, south, west, coin in turn": cycle((*WAYS, "take coin")),
        "random walk, takes the coin": coin_walk,
    },
    "agentgym/TWTreasureHunter-v1": {
        "north, east, south, west in turn": cycle(WAYS),
        "random walk, takes what it sees": greedy_walk,
    },
    "agentgym/TWCooking-v1": {
        "prepare meal, eat meal in turn": cycle(("prepare meal", "eat meal")),
        "random walk, takes what it sees": greedy_walk,
    },
}
