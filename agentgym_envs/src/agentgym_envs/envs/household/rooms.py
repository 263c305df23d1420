"""Houses made from ALFWorld's floor plans and tables of objects (``facts.json``)."""

import json
import random
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from agentgym_envs.envs.household.goals import KINDS, HouseholdGoal
from agentgym_envs.envs.household.world import APPLIANCES, Facts

LAMP = "DeskLamp"
LAMP_STANDS = ("Desk", "SideTable", "Dresser", "DiningTable", "CoffeeTable", "Shelf")
"""Types of receptacles that a lamp stands on; the first one in the room is used."""
MOST = 3
"""Largest number of objects of one type, as in the original's rooms."""
AGENT, START = "agent1", "loc_bar_start"


class TaskDesign(NamedTuple):
    """The parts of a task: kind of the goal, types, floor plan and number of the trial."""

    kind: str
    thing: str
    target: str
    room: int
    trial: int

    @property
    def id(self) -> str:
        """The task's id, such as ``pick_and_place_simple-Mug-Desk-308-0``."""
        return "-".join(map(str, self))


class FloorPlan(NamedTuple):
    """A floor plan.

    Attributes:
        receptacles: in the order of ids, each with its type and the number of its place.
        objects: types of the objects.
    """

    receptacles: tuple[tuple[str, str, str], ...]
    objects: tuple[str, ...]

    @property
    def types(self) -> frozenset[str]:
        """The types of the receptacles."""
        return frozenset(kind for _, kind, _ in self.receptacles)

    def holders(self, thing: str) -> list[str]:
        """Returns the types of receptacles that hold a type of objects, in alphabetical order."""
        return sorted(kind for kind in self.types if thing in tables()["holds"][kind])


@cache
def tables() -> dict[str, Any]:
    """Returns the data file."""
    text = files(__package__).joinpath("facts.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def rooms() -> dict[int, FloorPlan]:
    """Returns the floor plans by their numbers."""
    return {
        number: FloorPlan(tuple(_receptacles(receptacles.split())), tuple(objects.split()))
        for number, receptacles, objects in tables()["rooms"]
    }


def choices(kind: str, room: FloorPlan) -> dict[str, list[str]]:
    """Returns the types of objects that a kind of goals can use in a room, each with its targets.

    An object must fit somewhere else than at the target. A heated, cleaned or cooled object is not
    put into the appliance.
    """
    holds = {thing: room.holders(thing) for thing in room.objects}
    if KINDS[kind].lit:
        lit = LAMP in room.objects and room.types & set(LAMP_STANDS)
        return {thing: [LAMP] for thing, holders in holds.items() if holders and lit}
    appliance = next((a for a, (_, able) in APPLIANCES.items() if able == KINDS[kind].able), None)
    if appliance and appliance not in map(_type, room.types):
        return {}
    able = tables()[KINDS[kind].able] if appliance else room.objects
    return {
        thing: [target for target in holders if _type(target) != appliance]
        for thing, holders in holds.items()
        if thing in able and len(holders) > 1
    }


def goal_of(design: TaskDesign) -> HouseholdGoal:
    """Returns a task's goal."""
    return HouseholdGoal(design.kind, _type(design.thing), _type(design.target))


def difficulty(design: TaskDesign) -> int:
    """Returns the number of receptacles that can hold the object at the beginning."""
    room = rooms()[design.room]
    holders = room.holders(design.thing)
    return sum(kind in holders and kind != design.target for _, kind, _ in room.receptacles)


def furnish(design: TaskDesign) -> Facts:
    """Returns the facts of a task's house, which depend on the id only.

    No object of the goal's type begins at the target.
    """
    rng, room = random.Random(f"household {design.id}"), rooms()[design.room]
    facts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    facts["atlocation"] = [(AGENT, START)]
    for one, kind, place in room.receptacles:
        facts["receptacleatlocation"].append((one, place))
        facts["receptacletype"].append((one, _type(kind)))
        if kind in tables()["openable"]:
            facts["openable"].append((one,))
    for thing in room.objects:
        _place(facts, room, rng, design, thing)
    facts["cancontain"] = [
        (_type(kind), _type(thing))
        for kind in sorted(room.types)
        for thing in room.objects
        if thing in tables()["holds"][kind]
    ]
    return facts


def _place(
    facts: dict[str, list[tuple[str, ...]]],
    room: FloorPlan,
    rng: random.Random,
    design: TaskDesign,
    thing: str,
) -> None:
    """Adds the objects of one type."""
    if thing == LAMP:
        holders, count = [kind for kind in LAMP_STANDS if kind in room.types][:1], 1
    else:
        avoided = design.target if thing == design.thing else None
        holders = [kind for kind in room.holders(thing) if kind != avoided]
        least = KINDS[design.kind].number if thing == design.thing else 1
        count = rng.randint(least, MOST)
    for number in range(count if holders else 0):
        one, kind = f"{thing.lower()}_bar_{number}", rng.choice(holders)
        receptacle, _, place = rng.choice([r for r in room.receptacles if r[1] == kind])
        facts["objecttype"].append((one, _type(thing)))
        facts["inreceptacle"].append((one, receptacle))
        facts["objectatlocation"].append((one, place))
        for name in _properties(thing):
            facts[name].append((one,))


@cache
def _properties(thing: str) -> tuple[str, ...]:
    if thing == LAMP:
        return ("toggleable",)
    able = [
        name
        for name in ("heatable", "coolable", "cleanable", "sliceable")
        if thing in tables()[name]
    ]
    return ("pickupable", *able, *(["isreceptacleobject"] * (thing in tables()["movable"])))


def _receptacles(listed: list[str]) -> Any:
    for number, (kind, place) in enumerate(one.split(":") for one in listed):
        # The original's ids name the sink, and the engine names the basin after it.
        name = kind.lower().removesuffix("basin")
        one = f"{name}_bar_{number:02d}" + f"_bar_{name}basin" * kind.endswith("Basin")
        yield one, kind, f"loc_bar_{place}"


def _type(name: str) -> str:
    return f"{name.lower()}type"
