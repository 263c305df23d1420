"""A planner that solves a level from any state. It knows the whole map.

The planner plays on a copy of the level. It fulfils the parts of the instruction one after the
other. For each part it first clears the way: it moves things aside, and it fetches the keys of
locked doors. It puts a thing down where the thing cuts off least. So each step makes more of the
map reachable.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

from minigrid.envs.babyai.core.verifier import (
    AfterInstr,
    GoToInstr,
    OpenInstr,
    PickupInstr,
    PutNextInstr,
    SeqInstr,
)

from agentgym_envs.envs.babyai.view import MOVES

MOVE_ASIDE, UNLOCK = 12, 40  # moves that an obstacle on a route costs about
REMOVALS = 60  # obstacles; a plan that moves more of them goes in circles


class NoPlan(Exception):
    """The task has no solution within the level's moves, or the planner does not find it."""


class _Fulfilled(Exception):
    """The part of the instruction is fulfilled, or the episode is over."""


def plan(level: Any, *, careful: bool = True) -> list[str]:
    """Plays a level to its end. Returns the names of the minigrid actions that solve it.

    Args:
        level: a copy of the level; the planner changes it.
        careful: put things down where they cut off nothing; without it, next to the route. That
            can save moves, but it can also cut off things that are needed later.

    Raises:
        NoPlan: the planner does not solve the level.
    """
    planner = _Planner(level, careful)
    while not planner.over:
        try:
            planner.fulfil(unfulfilled(level.instrs))
        except _Fulfilled:
            continue
    if not planner.success:
        raise NoPlan("the moves run out")
    return planner.played


def unfulfilled(instr: Any) -> Any:
    """Returns the part of an instruction that is judged next."""
    while isinstance(instr, SeqInstr):
        first, second, done = instr.instr_a, instr.instr_b, instr.a_done
        if isinstance(instr, AfterInstr):
            first, second, done = second, first, instr.b_done
        instr = second if done == "success" else first
    return instr


def is_lost(level: Any) -> bool:
    """Returns whether the instruction needs a box that was opened."""
    things = [*level.grid.grid, level.carrying]
    things += [getattr(thing, "contains", None) for thing in things]
    return _needs_others(level.instrs, {id(thing) for thing in things})


def _needs_others(instr: Any, existing: set[int]) -> bool:
    """Returns whether an instruction needs things that do not exist."""
    if isinstance(instr, SeqInstr):
        parts = ((instr.instr_a, instr.a_done), (instr.instr_b, instr.b_done))
        return any(done != "success" and _needs_others(part, existing) for part, done in parts)
    if isinstance(instr, GoToInstr):
        return not instr.desc.obj_poss  # minigrid keeps a place until the next drop
    if isinstance(instr, OpenInstr):
        return False
    taken = instr.desc if isinstance(instr, PickupInstr) else instr.desc_move
    needed = [[thing for thing in taken.obj_set if thing.can_pickup()]]
    if isinstance(instr, PutNextInstr):
        needed.append(instr.desc_fixed.obj_set)
    return any(existing.isdisjoint(map(id, things)) for things in needed)


class _Planner:
    """A game on a copy of a level.

    A cell is its index in minigrid's list. An integer stands for a set of cells, with one bit per
    cell. The walls around the level keep a shift from moving a cell into another row.

    Attributes:
        played: the actions so far.
        over: the episode is over.
        success: the instruction is fulfilled.
    """

    def __init__(self, level: Any, careful: bool):
        self.level, self.played, self._careful = level, list[str](), careful
        self.over = self.success = False
        self._cells = level.grid.grid
        self._width = int(level.grid.width)
        self._steps = [x + y * self._width for x, y in MOVES]
        self._part: Any = None
        self._keep_free = 0  # cells on which nothing is put down
        self._shut = set[int]()  # doors that no route crosses
        self._removals = 0

    def fulfil(self, part: Any) -> None:
        """Plays towards a part of the instruction.

        Raises:
            _Fulfilled: the part is fulfilled, or the episode is over.
            NoPlan: the part cannot be fulfilled.
        """
        self._part, self._keep_free, self._shut = part, 0, set()
        if isinstance(part, GoToInstr):
            self._face(int(x + y * self._width) for x, y in part.desc.obj_poss)
            self._do("left", "right")  # minigrid judges after a move only
        elif isinstance(part, OpenInstr):
            door = self._cells[self._face(self._places(part.desc.obj_set))]
            if door.is_locked:
                self._unlock(door)
            else:
                self._do("toggle")
        elif isinstance(part, PickupInstr):
            self._fetch(part.desc.obj_set)
        else:
            assert isinstance(part, PutNextInstr)
            self._put_next(part.desc_move.obj_set, part.desc_fixed.obj_set)

    def _put_next(self, movable: list[Any], fixed: list[Any]) -> None:
        """Takes the next step to a thing beside another one."""
        places = self._places(fixed)
        if not places:  # the thing is carried
            self._put_down()
            return
        beside = {place + step for place in places for step in self._steps}
        beside = {n for n in beside if not _is(self._cells[n], "wall", "door")}
        self._keep_free = _set(beside)
        empty = {n for n in beside if self._cells[n] is None}
        if not empty:
            self._move_aside(self._face(beside))
            return
        self._clear(empty)
        if any(thing is self.level.carrying for thing in movable):
            self._face(empty)
            self._do("drop")
        else:
            self._fetch(movable)

    def _fetch(self, things: Iterable[Any], route: int = 0) -> None:
        """Picks up one of the things."""
        things = [thing for thing in things if thing.can_pickup()]  # "a grey object" is also a wall
        self._clear(self._places(things))
        while self.level.carrying:
            self._put_down(route)
            self._clear(self._places(things))
        self._face(self._places(things))
        self._do("pickup")

    def _unlock(self, door: Any) -> None:
        """Opens a locked door that can be reached, or the box that holds its key."""
        (place,) = self._places([door])
        if not self._opens(door):
            self._shut.add(place)
            keys = [t for t in self._cells if _is(t, "key") and t.color == door.color]
            if keys:
                self._fetch(keys)
            elif self._holds_key(self.level.carrying, door):
                self._put_down()
            else:
                self._face(self._places(t for t in self._cells if self._holds_key(t, door)))
                self._do("toggle")
            self._shut.remove(place)
        if self._opens(door):
            self._face([place])
            self._do("toggle")

    def _face(self, targets: Iterable[int]) -> int:
        """Walks to one of the target cells and looks at it. Returns the cell."""
        self._do(*self._clear(set(targets)))
        return self._agent() + self._steps[int(self.level.agent_dir)]

    def _clear(self, targets: Iterable[int]) -> list[str]:
        """Removes the obstacles before one of the target cells. Returns the walk to it."""
        targets = set(targets)
        while True:
            moves, obstacle, route = self._route(targets)
            if obstacle is None:
                return moves
            self._removals += 1
            if self._removals > REMOVALS:
                raise NoPlan("the planner goes in circles")
            thing = self._cells[obstacle]
            if thing.type == "door":
                self._unlock(thing)
            else:
                self._move_aside(obstacle, route)

    def _move_aside(self, place: int, route: int = 0) -> None:
        self._fetch([self._cells[place]], route)
        self._put_down(route)

    def _put_down(self, route: int = 0) -> None:
        """Puts the carried thing down where it cuts off least, as near as possible.

        Args:
            route: cells that should stay free, like those of ``_keep_free``.
        """
        passable = self._where(
            lambda cell: cell is None or (_is(cell, "door") and not cell.is_locked)
        )
        solid = self._where(lambda cell: cell is not None and cell.type != "wall") & ~passable
        empty = self._where(lambda cell: cell is None)
        agent = 1 << self._agent()
        *_, region = self._spread(agent, passable)
        touched = (region | self._around(region)) & (passable | solid)
        found, best = None, (True, len(self._cells))
        before = agent
        for reached in self._spread(agent, passable):
            for place in _members(reached & ~before & empty):
                *_, left = self._spread(agent, passable & ~(1 << place))
                around = self._around(left)
                if not around >> place & 1:
                    continue
                lost = (touched & ~(left | around | 1 << place)).bit_count() * self._careful
                rank = (bool((self._keep_free | route) >> place & 1), lost)
                if rank < best:
                    found, best = place, rank
            if best == (False, 0):
                break
            before = reached
        if not self.level.carrying or found is None:
            raise NoPlan("no free cell for the carried thing")
        self._do(*self._route({found}, obstacles=False)[0], "drop")

    def _route(
        self, targets: set[int], *, obstacles: bool = True
    ) -> tuple[list[str], int | None, int]:
        """Returns the cheapest walk that ends before a target, its first obstacle, its cells."""
        start = 4 * self._agent() + int(self.level.agent_dir)
        queue: list[tuple[int, int, int, tuple[str, ...]]] = [(0, start, -1, ())]
        came_from = dict[int, tuple[int, tuple[str, ...]]]()
        while queue:
            cost, state, previous, moves = heappop(queue)
            if state in came_from:
                continue
            came_from[state] = previous, moves
            ahead = state // 4 + self._steps[state % 4]
            if ahead in targets:
                return self._walk(came_from, state)
            for turn, move in ((-1, "left"), (1, "right")):
                heappush(queue, (cost + 1, state - state % 4 + (state + turn) % 4, state, (move,)))
            entry = self._entry(ahead)
            if entry is not None and (obstacles or entry[1]):
                heappush(queue, (cost + entry[0], 4 * ahead + state % 4, state, entry[1]))
        raise NoPlan("no way leads to the thing")

    def _walk(
        self, came_from: dict[int, tuple[int, tuple[str, ...]]], state: int
    ) -> tuple[list[str], int | None, int]:
        walk, obstacle, cells = list[str](), None, 0
        while state >= 0:
            previous, moves = came_from[state]
            if previous >= 0 and not moves:
                walk, obstacle = [], state // 4
            walk[:0] = moves
            cells |= 1 << state // 4
            state = previous
        return walk, obstacle, cells

    def _entry(self, place: int) -> tuple[int, tuple[str, ...]] | None:
        """Returns the cost of a step onto a cell, and its moves: none if an obstacle is there."""
        cell = self._cells[place]
        strict = getattr(self._part, "strict", False)
        if cell is None or (_is(cell, "door") and cell.is_open):
            return 1, ("forward",)
        if _is(cell, "wall") or place in self._shut or strict:
            return None
        if not _is(cell, "door"):
            return MOVE_ASIDE, ()
        if cell.is_locked:
            return (2 if self._opens(cell) else UNLOCK), ()
        return 2, ("toggle", "forward")

    def _do(self, *actions: str) -> None:
        """Plays actions.

        Raises:
            _Fulfilled: the part is fulfilled, or the episode is over.
        """
        for action in actions:
            _, reward, terminated, truncated, _ = self.level.step(self.level.actions[action])
            self.played.append(action)
            if terminated or truncated:
                self.over, self.success = True, reward > 0
            if self.over or unfulfilled(self.level.instrs) is not self._part:
                raise _Fulfilled

    def _agent(self) -> int:
        x, y = self.level.agent_pos
        return int(x + y * self._width)

    def _opens(self, door: Any) -> bool:
        key = self.level.carrying
        return key is not None and key.type == "key" and key.color == door.color

    def _places(self, things: Iterable[Any]) -> set[int]:
        """Returns the cells on which the things lie; a carried thing lies nowhere."""
        known = {id(thing) for thing in things if thing is not None}
        return {n for n, cell in enumerate(self._cells) if id(cell) in known}

    def _where(self, holds: Callable[[Any], bool]) -> int:
        return _set(n for n, cell in enumerate(self._cells) if holds(cell))

    def _around(self, cells: int) -> int:
        return cells << 1 | cells >> 1 | cells << self._width | cells >> self._width

    def _spread(self, start: int, free: int) -> Iterator[int]:
        """Yields the cells within 0, 1, 2, … steps over free cells."""
        reached, before = start, 0
        while reached != before:
            yield reached
            before = reached
            reached |= self._around(reached) & free

    @staticmethod
    def _holds_key(thing: Any, door: Any) -> bool:
        inside: Any = getattr(thing, "contains", None)
        return _is(inside, "key") and inside.color == door.color


def _is(cell: Any, *types: str) -> bool:
    return cell is not None and cell.type in types


def _set(cells: Iterable[int]) -> int:
    return sum(1 << n for n in cells)


def _members(cells: int) -> Iterator[int]:
    while cells:
        yield (cells & -cells).bit_length() - 1
        cells &= cells - 1
