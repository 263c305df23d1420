"""The rules and the sentences of ALFWorld's text engine.

After the files ``alfred.pddl`` and ``alfred.twl2`` of ALFWorld 0.4.2 (Shridhar et al., 2021; MIT).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

Facts = Mapping[str, Iterable[tuple[str, ...]]]
"""Predicates in lower case, each with the ids of its facts: ``inreceptacle``: (object, receptacle).
"""
_BAR = "_bar_"  # between the kind and the number of an id
NOTHING = "Nothing happens."
HELP = """Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""
KNIVES = ("knifetype", "butterknifetype")
APPLIANCES = {
    "microwavetype": ("heat", "heatable"),
    "sinkbasintype": ("clean", "cleanable"),
    "fridgetype": ("cool", "coolable"),
}
"""Types of receptacles with the action that they allow and the objects that it changes."""
MARKS = ("isclean", "ishot", "iscool", "issliced", "istoggled")


class HouseCommand(NamedTuple):
    """A valid command: a verb with its objects and receptacles, as ids."""

    verb: str
    first: str = ""
    second: str = ""


class HouseWorld:
    """A house in one state.

    Args:
        facts: the facts of the beginning.
    """

    def __init__(self, facts: Facts):
        self.names = thing_names({one for rows in facts.values() for row in rows for one in row})
        self.place_of = dict(sorted(_pairs(facts, "receptacleatlocation")))
        self.receptacles_at = _grouped((p, r) for r, p in self.place_of.items())
        self.types = dict(_pairs(facts, "objecttype"))
        self.kinds = dict(_pairs(facts, "receptacletype"))
        self.allowed = frozenset(_pairs(facts, "cancontain"))
        self.able = {
            name: frozenset(row[0] for row in facts.get(name, ()))
            for name in (
                *("openable", "pickupable", "toggleable", "sliceable", "isreceptacleobject"),
                *(able for _, able in APPLIANCES.values()),
            )
        }
        self.inside = _grouped((outer, o) for o, outer in _pairs(facts, "inreceptacleobject"))
        self.place = next(iter(_pairs(facts, "atlocation")))[1]
        self.opened = {row[0] for row in facts.get("opened", ())}
        self.contents = _grouped((r, o) for o, r in _pairs(facts, "inreceptacle"))
        self.near = _grouped((p, o) for o, p in _pairs(facts, "objectatlocation"))
        self.held = {o for _, o in _pairs(facts, "holds")}
        self.full = bool(list(facts.get("holdsany", ())))
        self.marks = {name: {row[0] for row in facts.get(name, ())} for name in MARKS}
        self._taken: set[tuple[str, str]] = set()
        self._walks = {f"go to {self.names[r]}": HouseCommand("go", r) for r in self.place_of}

    def moves(self) -> dict[str, HouseCommand]:
        """Returns the valid commands. Their order is not that of the engine, which sorts them."""
        here = self.receptacles_at.get(self.place, set())
        found = {name: HouseCommand(name) for name in ("help", "inventory", "look")}
        found |= {text: move for text, move in self._walks.items() if move.first not in here}
        for receptacle in here:
            found |= self._at(receptacle)
        for one in self.held:
            found[f"examine {self.names[one]}"] = HouseCommand("examine", one)
            if self.types.get(one) in KNIVES:
                for other in self.near.get(self.place, set()) & self.able["sliceable"]:
                    text = f"slice {self.names[other]} with {self.names[one]}"
                    found[text] = HouseCommand("slice", other, one)
        return found

    def step(self, command: str) -> str:
        """Carries out a command and returns the engine's answer."""
        move = self.moves().get(command)
        return NOTHING if move is None else self._do(move)

    def intro(self) -> str:
        """Returns the description at the beginning."""
        if self.receptacles_at.get(self.place):
            return self._look()
        seen = self._listed(self.place_of)
        return f"You are in the middle of a room. Looking quickly around you, you see {seen}."

    def is_open(self, receptacle: str) -> bool:
        """Returns whether the agent can put its hand into a receptacle."""
        return receptacle not in self.able["openable"] or receptacle in self.opened

    def can_hold(self, receptacle: str, thing: str) -> bool:
        """Returns whether the type of a receptacle holds the type of an object."""
        return (self.kinds.get(receptacle), self.types.get(thing)) in self.allowed

    def _at(self, receptacle: str) -> dict[str, HouseCommand]:
        """Returns the commands that a receptacle at the agent's place allows."""
        name = self.names[receptacle]
        found = {f"examine {name}": HouseCommand("examine", receptacle)}
        if receptacle in self.able["openable"]:
            verb = "close" if receptacle in self.opened else "open"
            found[f"{verb} {name}"] = HouseCommand(verb, receptacle)
        usable = self.is_open(receptacle)
        inside = self.contents.get(receptacle, set())
        if usable and not self.full:
            for one in inside & self.able["pickupable"]:
                found[f"take {self.names[one]} from {name}"] = HouseCommand("take", one, receptacle)
        for one in inside & self.able["toggleable"]:
            found[f"use {self.names[one]}"] = HouseCommand("use", one)
        verb, able = APPLIANCES.get(self.kinds.get(receptacle, ""), ("", ""))
        for one in self.held:
            if usable and self.can_hold(receptacle, one):
                found[f"move {self.names[one]} to {name}"] = HouseCommand("move", one, receptacle)
            if verb and one in self.able[able]:
                found[f"{verb} {self.names[one]} with {name}"] = HouseCommand(verb, one, receptacle)
        return found

    def _do(self, move: HouseCommand) -> str:
        verb, first, second = move
        action = getattr(self, f"_{verb}")
        return str(action(*(one for one in (first, second) if one)))

    def _help(self) -> str:
        return HELP

    def _inventory(self) -> str:
        carried = self._listed(self.held)
        return f"You are carrying: {carried}." if self.full else "You are not carrying anything."

    def _look(self) -> str:
        here = sorted(self.receptacles_at.get(self.place, ()))
        if not here:
            # The engine binds the place first, so it finds receptacles at this place only.
            return "You are in the middle of a room. Looking quickly around you, you see nothing."
        facing = _joined([self.names[r] for r in here])
        beside = sorted(self.near.get(self.place, ()))
        left = [self._a(o) for o in beside for r in here if (o, r) in self._taken]
        return f"You are facing the {facing}. Next to it, you see {_joined(left)}."

    def _go(self, receptacle: str) -> str:
        self.place = self.place_of[receptacle]
        return f"You arrive at {self.names[receptacle]}. {self._seen(receptacle)}"

    def _open(self, receptacle: str) -> str:
        self.opened.add(receptacle)
        return f"You open the {self.names[receptacle]}. {self._seen(receptacle)}"

    def _close(self, receptacle: str) -> str:
        self.opened.discard(receptacle)
        return f"You close the {self.names[receptacle]}."

    def _take(self, thing: str, receptacle: str) -> str:
        self.contents[receptacle].discard(thing)
        self._taken.add((thing, receptacle))
        self.near[self.place].discard(thing)
        self.held.add(thing)
        self.full = True
        return f"You pick up the {self.names[thing]} from the {self.names[receptacle]}."

    def _move(self, thing: str, receptacle: str) -> str:
        self.contents[receptacle].add(thing)
        self._taken.discard((thing, receptacle))
        self.near[self.place].add(thing)
        self.held.discard(thing)
        self.full = False
        return f"You move the {self.names[thing]} to the {self.names[receptacle]}."

    def _use(self, thing: str) -> str:
        self.marks["istoggled"].add(thing)  # the engine never takes this mark away
        return f"You turn on the {self.names[thing]}."

    def _heat(self, thing: str, receptacle: str) -> str:
        return self._change("heat", thing, receptacle, "ishot", "iscool")

    def _cool(self, thing: str, receptacle: str) -> str:
        return self._change("cool", thing, receptacle, "iscool", "ishot")

    def _clean(self, thing: str, receptacle: str) -> str:
        return self._change("clean", thing, receptacle, "isclean")

    def _slice(self, thing: str, knife: str) -> str:
        self.marks["issliced"].add(thing)
        return f"You sliced the {self.names[thing]} with the {self.names[knife]}."

    def _change(self, verb: str, thing: str, receptacle: str, mark: str, lost: str = "") -> str:
        self.marks[mark].add(thing)
        if lost:
            self.marks[lost].discard(thing)
        return f"You {verb} the {self.names[thing]} using the {self.names[receptacle]}."

    def _examine(self, one: str) -> str:
        return self._seen(one) if one in self.place_of else self._described(one)

    def _seen(self, receptacle: str) -> str:
        name = self.names[receptacle]
        inside = self._listed(self.contents.get(receptacle, ()))
        if receptacle not in self.able["openable"]:
            return f"On the {name}, you see {inside}."
        if receptacle in self.opened:
            return f"The {name} is open. In it, you see {inside}."
        return f"The {name} is closed."

    def _described(self, thing: str) -> str:
        name = self.names[thing]
        if thing in self.able["isreceptacleobject"]:
            return f"This is a normal {name}. In it, you see {self._listed(self.inside[thing])}."
        clean, hot, cool, sliced, toggled = (thing in self.marks[mark] for mark in MARKS)
        if clean or hot or cool:
            return f"This is a {_state(clean, hot, cool, sliced)} {name}."
        if thing in self.able["toggleable"] and toggled:
            return f"This {name} is on."
        if thing in self.able["sliceable"] and sliced:
            return f"This is a sliced {name}."
        return f"There's nothing special about {name}."

    def _a(self, thing: str) -> str:
        return f"a {self.names[thing]}"

    def _listed(self, things: Iterable[str]) -> str:
        return _joined([self._a(one) for one in sorted(things)])


def _state(clean: bool, hot: bool, cool: bool, sliced: bool) -> str:
    """Returns the adjectives of an object. Only a cool object that is nothing else is "cold"."""
    if cool and not (clean or hot or sliced):
        return "cold"
    warmth = "hot" if hot else "cool" if cool else ""
    words = [" and ".join(word for word in (warmth, "clean" * clean) if word), "sliced" * sliced]
    return " ".join(word for word in words if word)


def _joined(parts: list[str]) -> str:
    """Returns a list in the engine's form: with a comma also between two parts."""
    if len(parts) < 2:
        return parts[0] if parts else "nothing"
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _pairs(facts: Facts, name: str) -> Iterable[tuple[str, str]]:
    return ((first, second) for first, second in facts.get(name, ()))


def _grouped(pairs: Iterable[tuple[str, str]]) -> defaultdict[str, set[str]]:
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for key, value in pairs:
        groups[key].add(value)
    return groups


def thing_names(ids: Iterable[str]) -> dict[str, str]:
    """Returns the name of each id, as ALFWorld makes it: "mug 2" from ``mug_bar_plus_00``.

    Things of one kind are numbered. The first id in the order of the letters has the highest
    number. An id without ``_bar_`` is not numbered and its name ends with a blank.

    >>> thing_names(["mug_bar_2", "mug_bar_1"])
    {'mug_bar_1': 'mug 2', 'mug_bar_2': 'mug 1'}
    """
    ordered = sorted(ids)
    left = Counter(_kind(one) for one in ordered if _BAR in one)
    named = {}
    for one in ordered:
        kind = _kind(one)
        named[one] = f"{kind} {left[kind]}" if _BAR in one else f"{_signs(one)} "
        left[kind] -= _BAR in one
    return named


def _kind(one: str) -> str:
    """Returns the first part of an id; a basin is named after the sink or bathtub around it."""
    return _signs(one.partition(_BAR)[0]) + ("basin" if "basin" in one else "")


def _signs(text: str) -> str:
    for word, sign in (("_minus_", "-"), ("_plus_", "+"), ("_dot_", "."), ("_comma_", ",")):
        text = text.replace(word, sign)
    return text
