"""An expert that knows only what it has seen, and which types of receptacles hold which objects."""

import re
from collections.abc import Generator

from agentgym_envs.envs.household.goals import KINDS
from agentgym_envs.envs.household.rooms import LAMP_STANDS, tables
from agentgym_envs.envs.household.world import APPLIANCES, NOTHING

Play = Generator[str, str, None]
"""Yields commands, and receives the observation after each of them."""
_LISTED = re.compile(r"\ba ([a-z]+ \d+)")
_GOALS = [
    (name, re.compile(text.format(obj="(?P<thing>[a-z]+)", recep="(?P<target>[a-z]+)")))
    for name, kind in KINDS.items()
    for text in kind.texts
]


def search(observation: str) -> Play:
    """Plays an episode without knowing the state.

    Args:
        observation: the first observation.

    Yields:
        Commands; send the observation after each of them.
    """
    room, _, task = observation.partition("Your task is to: ")
    for name, pattern in _GOALS:
        if found := pattern.fullmatch(task.rstrip(".")):
            yield from _Search(room, name, found["thing"], found["target"]).play()


class _Search:
    """The memory of one episode."""

    def __init__(self, room: str, kind: str, thing: str, target: str):
        self._receptacles: list[str] = _LISTED.findall(room)
        self._kind, self._thing, self._target = KINDS[kind], thing, target
        self._seen: dict[str, list[str]] = {}

    def play(self) -> Play:
        """Finds the objects, changes them and puts them at the target."""
        lamp = (yield from self._find(self._target, list(LAMP_STANDS))) if self._kind.lit else None
        target = "" if self._kind.lit else self._first(self._target)
        for _ in range(self._kind.number):
            found = yield from self._find(self._thing, _holders(self._thing), without=target)
            if found is None:
                return
            yield from self._walk(found[1])
            yield f"take {found[0]} from {found[1]}"
            self._seen[found[1]].remove(found[0])
            yield from self._change(found[0])
            if lamp is not None:
                yield from self._walk(lamp[1])
                yield f"use {lamp[0]}"
            else:
                yield from self._walk(target)
                yield f"move {found[0]} to {target}"

    def _find(
        self, thing: str, holders: list[str], without: str = ""
    ) -> Generator[str, str, tuple[str, str] | None]:
        """Looks into the receptacles that can hold an object, surfaces first, until one has it."""
        able = [r for r in self._receptacles if _type(r) in map(str.lower, holders)]
        hidden = {name.lower() for name in tables()["openable"]}
        for receptacle in sorted(able, key=lambda r: (r not in self._seen, _type(r) in hidden)):
            if receptacle == without:
                continue
            if receptacle not in self._seen:
                yield from self._walk(receptacle)
            for one in self._seen[receptacle]:
                if _type(one) == thing:
                    return one, receptacle
        return None

    def _walk(self, receptacle: str) -> Play:
        """Goes to a receptacle, opens it and remembers what is in it."""
        text = yield f"go to {receptacle}"
        if text == NOTHING:  # the agent is there already
            text = yield f"examine {receptacle}"
        if "is closed." in text:
            text = yield f"open {receptacle}"
        self._seen[receptacle] = _LISTED.findall(text)

    def _change(self, thing: str) -> Play:
        for appliance, (verb, able) in APPLIANCES.items():
            if able == self._kind.able:
                receptacle = self._first(appliance.removesuffix("type"))
                yield f"go to {receptacle}"
                yield f"{verb} {thing} with {receptacle}"

    def _first(self, kind: str) -> str:
        return next(r for r in self._receptacles if _type(r) == kind)


def _type(name: str) -> str:
    return name.partition(" ")[0]


def _holders(thing: str) -> list[str]:
    return [kind for kind, objects in tables()["holds"].items() if thing in map(str.lower, objects)]
