"""Policies for Household that ignore the task or a part of it, and an expert that searches."""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from agentgym_envs.envs.household.rooms import tables
from agentgym_envs.envs.household.searcher import Play, search

Policy = Callable[[str, Mapping[str, Any], random.Random], str]
CHANGES = {"clean": "sinkbasin", "hot": "microwave", "heat": "microwave", "cool": "fridge"}
"""Words of the goal that ask for a change, each with the appliance for it."""
VERBS = {"sinkbasin": "clean", "microwave": "heat", "fridge": "cool"}
HOLDS: dict[str, list[str]] = tables()["holds"]
_LISTED = re.compile(r"\ba ([a-z]+ \d+)")


def script(play: Callable[[str], Play]) -> Policy:
    """Returns a policy that plays a script from the first observation, then looks."""
    now: list[Play] = []

    def policy(observation: str, info: Mapping[str, Any], rng: random.Random) -> str:
        try:
            if info["turn"] == 0:
                now[:] = [play(observation)]
                return next(now[0])
            return now[0].send(observation)
        except StopIteration:
            return "look"

    return policy


def reach(receptacle: str) -> Any:
    """Goes to a receptacle and opens it; returns what is in it."""
    text = yield f"go to {receptacle}"
    if "is closed." in text:
        text = yield f"open {receptacle}"
    return _LISTED.findall(text)


def visit(observation: str) -> Play:
    """Looks into every receptacle in turn and takes nothing."""
    for receptacle in _LISTED.findall(observation):
        yield from reach(receptacle)


def carry(observation: str) -> Play:
    """Goes to every receptacle in turn; takes the first object, and leaves it at the next one."""
    held = ""
    for receptacle in _LISTED.findall(observation):
        inside = yield from reach(receptacle)
        if held and (yield f"move {held} to {receptacle}").startswith("You move"):
            held = ""
        if not held and inside:
            text = yield f"take {inside[0]} from {receptacle}"
            held = inside[0] if text.startswith("You pick") else ""


def shine(observation: str) -> Play:
    """Carries the first object that it finds past every receptacle, and turns every lamp on."""
    held = False
    for receptacle in _LISTED.findall(observation):
        for one in (yield from reach(receptacle)):
            if "lamp" in one:
                yield f"use {one}"
            elif not held:
                held = (yield f"take {one} from {receptacle}").startswith("You pick")


def fits(one: str, receptacle: str) -> bool:
    """Returns whether a receptacle's type holds an object's type; without a receptacle, True."""
    holds = {kind.lower(): " ".join(things).lower().split() for kind, things in HOLDS.items()}
    return one.split()[0] in holds.get(receptacle.partition(" ")[0], [one.split()[0]])


def deliver(observation: str, objects: int = 1) -> Play:
    """Reads the change and the target in the goal, but takes the first objects that fit there."""
    room, _, task = observation.partition("Your task is to: ")
    receptacles = _LISTED.findall(room)
    words = task.rstrip(".").split()
    target = next((r for r in receptacles if r.startswith(f"{words[-1]} ")), "")
    change = next((CHANGES[word] for word in words if word in CHANGES), "")
    appliance = next((r for r in receptacles if change and r.startswith(change)), "")
    for receptacle in receptacles:
        inside = (yield from reach(receptacle)) if receptacle != target else []
        for one in (one for one in inside if fits(one, target)):
            yield f"go to {receptacle}"
            yield f"take {one} from {receptacle}"
            if appliance:
                yield f"go to {appliance}"
                yield f"{VERBS[change]} {one} with {appliance}"
            yield from reach(target)
            yield f"move {one} to {target}"
            objects -= 1
            if not objects:
                return


def deliver_all(observation: str) -> Play:
    """Does the same with every object, one after the other."""
    return deliver(observation, objects=1000)


POLICIES = {
    "agentgym/Household-v0": {
        "constant `look`": lambda observation, info, rng: "look",
        "visits every receptacle": script(visit),
        "carries the first object to the next receptacle, in turn": script(carry),
        "carries the first object past every lamp": script(shine),
        "any object, with the named change, to the named target": script(deliver),
        "all objects in turn, with the named change, to the named target": script(deliver_all),
        "searcher, which reads the observations": script(search),
    }
}
