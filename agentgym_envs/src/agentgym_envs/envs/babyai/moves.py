"""AgentGym's actions: the available ones, and the answers to the others."""

import re
from typing import NamedTuple

from agentgym_envs.envs.babyai.view import BITS, CELLS, SIZE, AgentView, SeenObject

UNKNOWN = "The action is not recognized. Please check valid actions."
_MACRO = re.compile(r"(pickup|go to|go through|toggle and go through) (.+ \d+)")


def _beside(cell: int, turn: int) -> int | None:
    row, column = CELLS[cell][0] + (-1, 0, 1, 0)[turn], CELLS[cell][1] + (0, 1, 0, -1)[turn]
    return CELLS.index((row, column)) if (row, column) in CELLS else None


# A state of a walk is 4 · cell of the view + quarter turns to the right.
Steps = tuple[tuple[int, str], ...]  # pairs of a next state and the action that leads to it
_START = 4 * CELLS.index((SIZE - 1, SIZE // 2))
_STATES = [(cell, turn) for cell in range(len(CELLS)) for turn in range(4)]
_CELL = [cell for cell, _ in _STATES]
_FACED = [_beside(cell, turn) for cell, turn in _STATES]
_TURNS: list[Steps] = [
    ((4 * cell + (turn - 1) % 4, "left"), (4 * cell + (turn + 1) % 4, "right"))
    for cell, turn in _STATES
]
_STEPS: list[Steps] = [
    ((4 * (_FACED[n] or 0) + turn, "forward"), *_TURNS[n]) for n, (_, turn) in enumerate(_STATES)
]


class MacroMove(NamedTuple):
    """A walk and the actions after it.

    Attributes:
        then: minigrid's actions after the walk.
        thing: target of the walk, or None without a walk.
        onto: the walk ends on the thing's cell; if false, it ends before the cell.
    """

    then: tuple[str, ...]
    thing: SeenObject | None = None
    onto: bool = False


_LEFT, _RIGHT, _FORWARD, _DROP, _TOGGLE = (
    MacroMove((step,)) for step in ("left", "right", "forward", "drop", "toggle")
)


def offered(view: AgentView) -> dict[str, MacroMove]:
    """Returns the available actions: text -> move, in AgentGym's order."""
    moves = {"turn left": _LEFT, "turn right": _RIGHT}
    if not _blocked(view):
        moves["move forward"] = _FORWARD
    near = [thing for thing in view.things if view.can_reach(thing)]
    if view.carrying is None:
        moves |= {
            f"pickup {t.label}": MacroMove(("pickup",), t) for t in near if t.object.type != "door"
        }
    elif _can_drop(view):
        moves["drop"] = _DROP
    for thing in near:
        if thing.object.type == "door":
            if thing.object.is_open:
                moves[f"go through {thing.label}"] = MacroMove((), thing, onto=True)
            elif _why_locked(view, thing) is None:
                moves[f"toggle and go through {thing.label}"] = MacroMove(
                    ("toggle", "forward"), thing
                )
        if thing.object is view.front and _can_toggle(view, thing):
            moves["toggle"] = _TOGGLE
    for thing in near:
        moves[f"go to {thing.label}"] = MacroMove((), thing)
    return moves


def refusal(view: AgentView, action: str) -> str:
    """Returns AgentGym's answer to an action that is not available."""
    if action == "move forward":
        return "There is a barrier in front of you, you can't move forward."
    if action == "drop":
        held = (
            "there is already an object in front of you"
            if view.carrying
            else "you are not carrying anything"
        )
        return f"You cannot drop the object, as {held}."
    match = _MACRO.fullmatch(action)
    thing = next((t for t in view.things if match and t.label == match[2]), None)
    why = _why(view, match[1], thing) if match and thing else None
    return f"You cannot {action}, as {why}." if why else UNKNOWN


def steps(view: AgentView, move: MacroMove) -> list[str]:
    """Returns the minigrid actions that carry out an available move."""
    return [*(_path(view, move.thing, onto=move.onto) if move.thing else ()), *move.then]


def _why(view: AgentView, verb: str, thing: SeenObject) -> str | None:
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


def _why_locked(view: AgentView, thing: SeenObject) -> str | None:
    """Returns the reason that a door cannot be opened, or None."""
    key, door = view.carrying, thing.object
    if not door.is_locked or door.is_open:
        return None
    if key is None or key.type != "key":
        return "you are not carrying a key"
    return (
        None
        if key.color == door.color
        else "the color of the key you are carrying does not match the color of door"
    )


def _blocked(view: AgentView) -> bool:
    return view.barrier is not None and view.barrier[1] == 1


def _can_drop(view: AgentView) -> bool:
    return view.front is None or view.front.type == "door"


def _can_toggle(view: AgentView, thing: SeenObject) -> bool:
    return thing.object.type == "box" or (
        thing.object.type == "door" and _why_locked(view, thing) is None
    )


def _path(view: AgentView, thing: SeenObject, *, onto: bool) -> list[str]:
    """Returns the shortest walk that ends before a reachable thing, or on it.

    Equally short walks can end on different sides of the thing. The result is the walk of
    AgentGym's breadth-first search. That search tries "forward", "left" and "right" in this order.
    It queues a state again although the queue already holds it, and it keeps the latest
    predecessor of a state. So the first copy of a state decides when the search visits the state.
    The predecessor is the neighbour whose last copy was visited last.
    """
    goal, places = thing.cell, _CELL if onto else _FACED
    came_from: dict[int, tuple[int, str] | None] = {_START: None}
    first, last = [_START], [_START]
    while True:
        for state in first:
            if places[state] == goal:
                return _back(came_from, state)
        queued = dict.fromkeys(
            new for state in first for new, _ in _next(view, state) if new not in came_from
        )
        entered: dict[int, tuple[int, str]] = {}
        for state in last:
            for new, step in _next(view, state):
                if new not in came_from:
                    entered.pop(new, None)  # moves the state to the end
                    entered[new] = (state, step)
        assert entered, "the thing is not reachable"
        came_from |= entered
        first, last = list(queued), list(entered)


def _next(view: AgentView, state: int) -> Steps:
    ahead = _FACED[state]
    return _STEPS[state] if ahead is not None and BITS[ahead] & view.free else _TURNS[state]


def _back(came_from: dict[int, tuple[int, str] | None], state: int) -> list[str]:
    """Returns the actions from the start to a state."""
    path = []
    while (previous := came_from[state]) is not None:
        state, step = previous
        path.append(step)
    return path[::-1]
