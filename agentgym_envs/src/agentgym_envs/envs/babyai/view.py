"""What the agent sees, in AgentGym's words, and where it can walk within it.

A position is ``(x, y)`` on the level's grid; a direction is minigrid's: 0 east, 1 south, 2 west, 3 north.
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Position = tuple[int, int]
MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True)
class Thing:
    """An object in sight.

    Attributes:
        name: colour, state of a door, and kind.
        number: tells things of one name apart, the nearest first.
        position: on the grid.
        ahead: steps in front of the agent.
        right: steps to its right; negative to its left.
        object: minigrid's.
    """

    name: str
    number: int
    position: Position
    ahead: int
    right: int
    object: Any

    @property
    def label(self) -> str:
        """Name and number, as actions use them."""
        return f"{self.name} {self.number}"

    def sentence(self) -> str:
        """Says where it is."""
        if self.right == 0:
            return f"There is a {self.label} right in front of you {self.ahead} steps away."
        side = f"{abs(self.right)} steps to your {'left' if self.right < 0 else 'right'}"
        return f"There is a {self.label} {f'{self.ahead} steps in front of you and ' if self.ahead else ''}{side}."


@dataclass(frozen=True)
class View:
    """One look at the level.

    Attributes:
        things: objects in sight, the nearest first.
        free: positions in sight, the agent's own included, that can be walked on.
        wall: steps to the wall straight ahead, if that is the first thing there; else None.
        ahead: what is on the position in front, or None.
        carrying: what the agent holds, or None.
    """

    position: Position
    direction: int
    things: list[Thing]
    free: frozenset[Position]
    wall: int | None
    ahead: Any
    carrying: Any
    reachable: frozenset[Position] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reachable", frozenset(_flood(self.position, self.free)))

    def can_reach(self, thing: Thing) -> bool:
        """Says whether a walk within sight leads next to it."""
        x, y = thing.position
        return any((x + dx, y + dy) in self.reachable for dx, dy in MOVES)

    def path(self, thing: Thing) -> list[str]:
        """Returns the fewest turns and moves ("left", "right", "forward") that end in front of a reachable thing."""
        return _path(self, lambda position, direction: _ahead(position, direction) == thing.position)

    def text(self) -> str:
        """Describes it."""
        if self.things:
            seen = "In front of you in this room, you can see several objects: " + "".join(f"{t.sentence()}  " for t in self.things)
        else:
            seen = "You cannot see any objects within sight. "
        wall = "" if self.wall is None else f"You are facing a wall {self.wall} steps away. "
        held = f"You are carrying a {_name(self.carrying)}." if self.carrying else "You are not carrying anything."
        return f"{seen}The room has walls around you. {wall}{held}"


def look(level: Any) -> View:
    """Returns what the agent of a minigrid level sees now: the visible part of the 7 × 7 positions before it."""
    grid, visible = level.gen_obs_grid()
    width, depth = grid.width, grid.height
    (x, y), direction = (int(v) for v in level.agent_pos), int(level.agent_dir)
    (fx, fy), (rx, ry) = MOVES[direction], MOVES[(direction + 1) % 4]
    found, free, straight = [], {(x, y)}, {}
    for i in range(width):
        for j in range(depth):
            ahead, right = depth - 1 - j, i - width // 2
            if not visible[i, j] or (ahead == 0 and right == 0):
                continue
            position = (x + fx * ahead + rx * right, y + fy * ahead + ry * right)
            cell = grid.get(i, j)
            if cell is None or cell.can_overlap():
                free.add(position)
            if cell is not None:
                if right == 0:
                    straight[ahead] = cell
                if cell.type in ("key", "ball", "box", "door"):
                    found.append((ahead + abs(right), ahead, right, position, cell))
    found.sort(key=lambda row: row[:3])
    numbers: Counter[str] = Counter()
    things = []
    for _, ahead, right, position, cell in found:
        numbers[_name(cell)] += 1
        things.append(Thing(_name(cell), numbers[_name(cell)], position, ahead, right, cell))
    first = min(straight, default=None)
    wall = first if first is not None and straight[first].type == "wall" else None
    return View((x, y), direction, things, frozenset(free), wall, straight.get(1), level.carrying)


def _name(cell: Any) -> str:
    if cell.type != "door":
        return f"{cell.color} {cell.type}"
    state = "open" if cell.is_open else "locked" if cell.is_locked else "closed"
    return f"{cell.color} {state} door"


def _ahead(position: Position, direction: int) -> Position:
    return position[0] + MOVES[direction][0], position[1] + MOVES[direction][1]


def _flood(start: Position, free: frozenset[Position]) -> set[Position]:
    seen, queue = {start}, [start]
    while queue:
        x, y = queue.pop()
        new = {(x + dx, y + dy) for dx, dy in MOVES} & free - seen
        seen |= new
        queue.extend(new)
    return seen


def _path(view: View, arrived: Callable[[Position, int], bool]) -> list[str]:
    start = (view.position, view.direction)
    came: dict[tuple[Position, int], tuple[tuple[Position, int], str] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if arrived(*state):
            steps = []
            while (back := came[state]) is not None:
                state, step = back
                steps.append(step)
            return steps[::-1]
        position, direction = state
        turns = [((position, (direction - 1) % 4), "left"), ((position, (direction + 1) % 4), "right")]
        for new, step in [*turns, ((_ahead(position, direction), direction), "forward")]:
            if new not in came and new[0] in view.free:
                came[new] = (state, step)
                queue.append(new)
    raise AssertionError("path() is for reachable things")
