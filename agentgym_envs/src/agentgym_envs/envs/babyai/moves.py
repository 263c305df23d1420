"""What the agent can do: AgentGym's macro actions, which of them are available, and why others are not."""

import re
from typing import NamedTuple

from agentgym_envs.envs.babyai.view import BITS, CELLS, SIZE, Thing, View

UNKNOWN = "The action is not recognized. Please check valid actions."
State = tuple[int, int, int]  # row and column of the view, quarter turns to the right
_AHEAD = ((-1, 0), (0, 1), (1, 0), (0, -1))
_MACRO = re.compile(r"(pickup|go to|go through|toggle and go through) (.+ \d+)")


class Move(NamedTuple):
    """A walk and what follows it.

    Attributes:
        then: minigrid's actions after the walk.
        thing: where the walk leads, or None for none.
        onto: the walk ends on the thing's cell, else before it.
    """

    then: tuple[str, ...]
    thing: Thing | None = None
    onto: bool = False


_LEFT, _RIGHT, _FORWARD, _DROP, _TOGGLE = (Move((step,)) for step in ("left", "right", "forward", "drop", "toggle"))


def offered(view: View) -> dict[str, Move]:
    """Returns the available actions by their words, in AgentGym's order."""
    moves = {"turn left": _LEFT, "turn right": _RIGHT}
    if not _blocked(view):
        moves["move forward"] = _FORWARD
    near = [thing for thing in view.things if view.can_reach(thing)]
    if view.carrying is None:
        moves |= {f"pickup {t.label}": Move(("pickup",), t) for t in near if t.object.type != "door"}
    elif _can_drop(view):
        moves["drop"] = _DROP
    for thing in near:
        if thing.object.type == "door":
            if thing.object.is_open:
                moves[f"go through {thing.label}"] = Move((), thing, onto=True)
            elif _why_locked(view, thing) is None:
                moves[f"toggle and go through {thing.label}"] = Move(("toggle", "forward"), thing)
        if thing.object is view.front and _can_toggle(view, thing):
            moves["toggle"] = _TOGGLE
    for thing in near:
        moves[f"go to {thing.label}"] = Move((), thing)
    return moves


def refusal(view: View, action: str) -> str:
    """Returns AgentGym's answer to an action that is not available."""
    if action == "move forward":
        return "There is a barrier in front of you, you can't move forward."
    if action == "drop":
        held = "there is already an object in front of you" if view.carrying else "you are not carrying anything"
        return f"You cannot drop the object, as {held}."
    match = _MACRO.fullmatch(action)
    thing = next((t for t in view.things if match and t.label == match[2]), None)
    why = _why(view, match[1], thing) if match and thing else None
    return f"You cannot {action}, as {why}." if why else UNKNOWN


def steps(view: View, move: Move) -> list[str]:
    """Returns minigrid's actions that carry out an available move."""
    return [*(_path(view, move.thing, onto=move.onto) if move.thing else ()), *move.then]


def _why(view: View, verb: str, thing: Thing) -> str | None:
    door = thing.object if thing.object.type == "door" else None
    if verb == "pickup" and (door or view.carrying):
        return None
    if verb == "go through":
        if not door or door.is_locked:
            return None
        if not door.is_open:
            return "it is closed. You should toggle it first"
    if verb == "toggle and go through":
        if not door or door.is_open:
            return None
        if locked := _why_locked(view, thing):
            return locked
    return "there is no path leading to it"


def _why_locked(view: View, thing: Thing) -> str | None:
    """Returns why a door cannot be opened, or None."""
    key, door = view.carrying, thing.object
    if not door.is_locked or door.is_open:
        return None
    if key is None or key.type != "key":
        return "you are not carrying a key"
    return None if key.color == door.color else "the color of the key you are carrying does not match the color of door"


def _blocked(view: View) -> bool:
    return view.barrier is not None and view.barrier[1] == 1


def _can_drop(view: View) -> bool:
    return view.front is None or view.front.type == "door"


def _can_toggle(view: View, thing: Thing) -> bool:
    return thing.object.type == "box" or (thing.object.type == "door" and _why_locked(view, thing) is None)


def _path(view: View, thing: Thing, *, onto: bool) -> list[str]:
    """Returns the fewest turns and moves that end before a reachable thing, or on it.

    Of equally short walks, which may end on different sides of the thing, it is AgentGym's. Its breadth-first search tries
    "forward", "left", "right", does not look whether a state waits already, and remembers the latest way into a state. So a
    state is looked at when its first copy comes up, and entered from the neighbour whose last copy came up last.
    """
    row, column = CELLS[thing.cell]
    start: State = (SIZE - 1, SIZE // 2, 0)
    came: dict[State, tuple[State, str] | None] = {start: None}
    first, last = [start], [start]
    while True:
        for state in first:
            if (state[:2] if onto else _ahead(state)) == (row, column):
                return _back(came, state)
        queued = dict.fromkeys(new for state in first for new, _ in _next(view, state) if new not in came)
        entered: dict[State, tuple[State, str]] = {}
        for state in last:
            for new, step in _next(view, state):
                if new not in came:
                    entered.pop(new, None)  # so that it goes to the end
                    entered[new] = (state, step)
        assert entered, "a path is asked for reachable things only"
        came |= entered
        first, last = list(queued), list(entered)


def _next(view: View, state: State) -> list[tuple[State, str]]:
    row, column, turn = state
    new = _ahead(state)
    inside = 0 <= new[0] < SIZE and 0 <= new[1] < SIZE
    forward = [((*new, turn), "forward")] if inside and BITS[new[0] * SIZE + new[1]] & view.free else []
    return [*forward, ((row, column, (turn - 1) % 4), "left"), ((row, column, (turn + 1) % 4), "right")]


def _ahead(state: State) -> tuple[int, int]:
    return state[0] + _AHEAD[state[2]][0], state[1] + _AHEAD[state[2]][1]


def _back(came: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    path = []
    while (back := came[state]) is not None:
        state, step = back
        path.append(step)
    return path[::-1]
