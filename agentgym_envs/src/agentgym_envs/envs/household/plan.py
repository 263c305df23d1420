"""The oracle: it knows where everything is."""

from collections.abc import Iterator

from agentgym_envs.envs.household.goals import KINDS, HouseholdGoal
from agentgym_envs.envs.household.world import APPLIANCES, HouseWorld


class HousePlanner:
    """Chooses the next command of a house.

    Args:
        world: the house; it changes between two commands.
        goal: the goal.
    """

    def __init__(self, world: HouseWorld, goal: HouseholdGoal):
        self._world, self._goal = world, goal

    def commands(self) -> Iterator[str]:
        """Yields commands until the goal is met, or until nothing leads there any more."""
        while not self._goal.met(self._world):
            command = next(self._next(), None)
            if command is None:
                return
            yield command

    def _next(self) -> Iterator[str]:
        """Yields at least the next command."""
        world = self._world
        thing = min(world.held, default=None)
        if thing is None and not world.full:
            yield from self._fetch()
        elif thing is not None and world.types.get(thing) == self._goal.thing:
            yield from self._light() if KINDS[self._goal.kind].lit else self._deliver(thing)
        elif thing is not None:
            yield from self._put_away(thing)

    def _fetch(self) -> Iterator[str]:
        """Takes an object that is not yet where it counts."""
        world = self._world
        best = self._target()
        for receptacle in world.place_of:
            for one in sorted(world.contents.get(receptacle, ())):
                movable = (
                    one in world.able["pickupable"] and world.types.get(one) == self._goal.thing
                )
                if movable and not (receptacle == best and self._goal.counts(world, one)):
                    yield from self._reach(receptacle)
                    yield f"take {world.names[one]} from {world.names[receptacle]}"

    def _deliver(self, thing: str) -> Iterator[str]:
        """Changes the object in the hand if needed, and puts it at the target."""
        world, kind = self._world, KINDS[self._goal.kind]
        if not self._goal.counts(world, thing):
            for receptacle in world.place_of:
                verb, able = APPLIANCES.get(world.kinds.get(receptacle, ""), ("", ""))
                if verb and able == kind.able:
                    yield from self._walk(receptacle)
                    yield f"{verb} {world.names[thing]} with {world.names[receptacle]}"
            return
        target = self._target()
        if target is not None:
            yield from self._put(thing, target)

    def _light(self) -> Iterator[str]:
        for lamp, receptacle in self._goal.lamps(self._world):
            yield from self._walk(receptacle)
            yield f"use {self._world.names[lamp]}"

    def _put_away(self, thing: str) -> Iterator[str]:
        """Empties the hand, at the agent's place if possible."""
        world = self._world
        able = [r for r in world.place_of if world.can_hold(r, thing)]
        for receptacle in sorted(able, key=lambda r: world.place_of[r] != world.place):
            yield from self._put(thing, receptacle)

    def _target(self) -> str | None:
        """Returns the receptacle where most of the goal's objects are, which holds such objects."""
        world, goal = self._world, self._goal
        able = [
            receptacle
            for receptacle, kind in world.kinds.items()
            if kind == goal.target
            and (kind, goal.thing) in world.allowed
            # Files of the original can have receptacles without a place.
            and receptacle in world.place_of
        ]
        return max(sorted(able), key=lambda r: len(goal.placed(world, r)), default=None)

    def _put(self, thing: str, receptacle: str) -> Iterator[str]:
        yield from self._reach(receptacle)
        yield f"move {self._world.names[thing]} to {self._world.names[receptacle]}"

    def _reach(self, receptacle: str) -> Iterator[str]:
        """Goes to a receptacle and opens it."""
        yield from self._walk(receptacle)
        if not self._world.is_open(receptacle):
            yield f"open {self._world.names[receptacle]}"

    def _walk(self, receptacle: str) -> Iterator[str]:
        if self._world.place_of[receptacle] != self._world.place:
            yield f"go to {self._world.names[receptacle]}"
