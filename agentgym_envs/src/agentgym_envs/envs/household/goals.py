"""The six kinds of goals of ALFWorld."""

from collections import Counter
from typing import NamedTuple

from agentgym_envs.envs.household.world import HouseWorld
from agentgym_envs.errors import TaskError


class GoalKind(NamedTuple):
    """A kind of goals.

    Attributes:
        texts: the goal in words; ``obj`` and ``recep`` stand for the types.
        able: the fact that an object needs for the change; empty without a change.
        mark: the fact that the change makes.
        number: objects that the goal asks for.
        lit: whether the agent must look at the object under a lamp.
    """

    texts: tuple[str, str]
    able: str = ""
    mark: str = ""
    number: int = 1
    lit: bool = False


KINDS = {
    "pick_and_place_simple": GoalKind(("put a {obj} in {recep}", "put some {obj} on {recep}")),
    "look_at_obj_in_light": GoalKind(
        ("look at {obj} under the {recep}", "examine the {obj} with the {recep}"), lit=True
    ),
    "pick_clean_then_place_in_recep": GoalKind(
        ("put a clean {obj} in {recep}", "clean some {obj} and put it in {recep}"),
        able="cleanable",
        mark="isclean",
    ),
    "pick_heat_then_place_in_recep": GoalKind(
        ("put a hot {obj} in {recep}", "heat some {obj} and put it in {recep}"),
        able="heatable",
        mark="ishot",
    ),
    "pick_cool_then_place_in_recep": GoalKind(
        ("put a cool {obj} in {recep}", "cool some {obj} and put it in {recep}"),
        able="coolable",
        mark="iscool",
    ),
    "pick_two_obj_and_place": GoalKind(
        ("put two {obj} in {recep}", "find two {obj} and put them in {recep}"), number=2
    ),
}


class HouseholdGoal(NamedTuple):
    """A goal.

    Attributes:
        kind: a name in ``KINDS``.
        thing: type of the object, such as ``mugtype``.
        target: type of the receptacle or of the lamp.
    """

    kind: str
    thing: str
    target: str

    def met(self, world: HouseWorld) -> bool:
        """Returns whether a house is in the state that the goal asks for."""
        if KINDS[self.kind].lit:
            return self._lit(world)
        return any(
            kind == self.target and len(self.placed(world, receptacle)) >= KINDS[self.kind].number
            for receptacle, kind in world.kinds.items()
        )

    def placed(self, world: HouseWorld, receptacle: str) -> list[str]:
        """Returns the objects in a receptacle that count for the goal, in the order of ids."""
        inside = world.contents.get(receptacle, ())
        return sorted(one for one in inside if self.counts(world, one))

    def counts(self, world: HouseWorld, one: str) -> bool:
        """Returns whether an object has the type and the state of the goal."""
        _, able, mark, *_ = KINDS[self.kind]
        if world.types.get(one) != self.thing:
            return False
        return not mark or (one in world.marks[mark] and one in world.able[able])

    def lamps(self, world: HouseWorld) -> list[tuple[str, str]]:
        """Returns the lamps of the goal that stand in receptacles, each with its receptacle."""
        return [
            (one, receptacle)
            for receptacle in world.place_of
            for one in sorted(world.contents.get(receptacle, ()))
            if world.types.get(one) == self.target and one in world.able["toggleable"]
        ]

    def _lit(self, world: HouseWorld) -> bool:
        return any(self.counts(world, one) for one in world.held) and any(
            lamp in world.marks["istoggled"] and world.place_of[receptacle] == world.place
            for lamp, receptacle in self.lamps(world)
        )


_PLACED = ("inreceptacle", "objecttype", "receptacletype")
_SHAPES = {
    "pick_and_place_simple": _PLACED,
    "look_at_obj_in_light": (
        *("atlocation", "holds", "inreceptacle", "istoggled", "objecttype", "objecttype"),
        *("receptacleatlocation", "toggleable"),
    ),
    "pick_two_obj_and_place": ("=", *_PLACED, *_PLACED),
    **{name: (*_PLACED, kind.able, kind.mark) for name, kind in KINDS.items() if kind.mark},
}
"""The predicates in the condition of each kind."""


def read_goal(atoms: list[tuple[str, ...]]) -> HouseholdGoal:
    """Returns the goal with a condition.

    Args:
        atoms: the predicates of the condition, each followed by its variables and types. An
            inequality has the name "=".

    Raises:
        TaskError: the condition is of another kind.
    """
    found = Counter(name for name, *_ in atoms)
    for kind, shape in _SHAPES.items():
        if found == Counter(shape):
            things, targets = _types(atoms)
            if len(things) == len(targets) == 1:
                return HouseholdGoal(kind, things.pop(), targets.pop())
    raise TaskError(
        f"the goal's predicates {sorted(found)} are not those of one of the six kinds:"
        f" {', '.join(KINDS)}"
    )


def _types(atoms: list[tuple[str, ...]]) -> tuple[set[str], set[str]]:
    """Returns the types of the objects, and those of the receptacles or the lamp."""
    lamps = {row[1] for row in atoms if row[0] == "toggleable"}
    objects = [row for row in atoms if row[0] == "objecttype"]
    things = {kind for _, one, kind in objects if one not in lamps}
    targets = {kind for _, one, kind in objects if one in lamps}
    return things, targets | {row[2] for row in atoms if row[0] == "receptacletype"}
