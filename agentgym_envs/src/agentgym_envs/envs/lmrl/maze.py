"""``agentgym/LMRLMaze-v0``: LMRL-Gym's maze: walk to a known position.

It is the fully observed double-T maze of Abdulhai et al. (2023), implemented anew from their
description.
"""

import random
from collections import deque
from collections.abc import Iterator
from functools import cache
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, command
from agentgym_envs.tasks import Task, TaskSet

MazePosition = tuple[int, int]
"""A row and a column. The row grows downwards, the column to the right."""

MOVES = {"move up": (-1, 0), "move down": (1, 0), "move left": (0, -1), "move right": (0, 1)}
SIDES = {
    "to your right": (0, 1),
    "to your left": (0, -1),
    "above you": (-1, 0),
    "below you": (1, 0),
}
GOAL: MazePosition = (8, 6)
STEPS = 50  # the action after these is not carried out: the episode has failed
FAILURE = "Failure"


def _corridors() -> list[MazePosition]:
    """Returns the places in the order of AgentGym's numbers of games.

    Two bars at the top, each with a stem that leads down to a common bar; the goal is at the end of
    the stem of that bar.
    """
    tops = [(1, column) for column in (*range(1, 6), *range(7, 12))]
    left = [(row, 3) for row in range(2, 6)]
    down = [(5, 4), (5, 5), (5, 6), (6, 6), (7, 6)]
    right = [(5, 7), (5, 8), (5, 9), (4, 9), (3, 9), (2, 9)]
    return [*tops, *left, *down, *right, GOAL]


PLACES = _corridors()
"""All places. AgentGym's game N begins at place N. Game 25 would begin at the goal, so it is left
out."""
HELD_OUT = {"dev": (3, 10, 17), "test": (0, 5, 12, 16, 20, 23)}  # games; the rest is for training


class LMRLMazeEnv(TextEnv):
    """Walk to a position in LMRL-Gym's maze.

    The agent always knows the position of the goal and its own.

    Args:
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.
    """

    instructions = (
        "You are in a maze. Each turn shows the position of the goal, your position and the walls"
        " next to you. A move right increases the second number of your position, a move down the"
        " first.\nAnswer with one action and nothing else: move up, move down, move left, move"
        " right."
    )
    tools = {"move": "move {direction}"}

    def make_tasks(self) -> TaskSet:
        """Returns one task per place to begin at. The difficulty is the distance to the goal."""
        return _tasks()

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Puts the agent at its place."""
        self._place: MazePosition = PLACES[task.data["game"]]
        return self._look(), f"reach position {GOAL[0]}, {GOAL[1]}"

    def act(self, action: str) -> Outcome:
        """Moves the agent, unless a wall is in the way or the steps are used up."""
        text = command(action, 100).lower()
        if self._turn >= STEPS:
            return Outcome(FAILURE, 0.0, done=True, invalid=text not in MOVES)
        if text in MOVES and (place := _next(self._place, text)) in PLACES:
            self._place = place
        if self._place == GOAL:
            return Outcome("Success", 1.0, done=True, success=True)
        return Outcome(self._look(), 0.0, invalid=text not in MOVES)

    def actions(self) -> list[str]:
        """Returns the moves that no wall prevents."""
        return [move for move in MOVES if _next(self._place, move) in PLACES]

    def oracle(self) -> Iterator[str]:
        """Yields the moves of a shortest way."""
        while self._place != GOAL:
            yield min(MOVES, key=lambda move: _distances().get(_next(self._place, move), 99))

    def _look(self) -> str:
        walls = [side for side, step in SIDES.items() if _plus(self._place, step) not in PLACES]
        found = (
            "There are no walls near you."
            if not walls
            else f"There is a wall {walls[0]}."
            if len(walls) == 1
            else f"There are walls {', '.join(walls)}."
        )
        row, column = self._place
        return (
            f"The goal is at position {GOAL[0]}, {GOAL[1]}. Your current position is at position"
            f" {row}, {column}. {found}"
        )


def _plus(place: MazePosition, step: MazePosition) -> MazePosition:
    return place[0] + step[0], place[1] + step[1]


def _next(place: MazePosition, move: str) -> MazePosition:
    return _plus(place, MOVES[move])


@cache
def _distances() -> dict[MazePosition, int]:
    """Returns the number of moves from each place to the goal."""
    found, left = {GOAL: 0}, deque([GOAL])
    while left:
        place = left.popleft()
        for move in MOVES:
            if (other := _next(place, move)) in PLACES and other not in found:
                found[other] = found[place] + 1
                left.append(other)
    return found


@cache
def _tasks() -> TaskSet:
    splits: dict[Any, str] = {game: split for split, games in HELD_OUT.items() for game in games}
    return TaskSet(
        Task(
            id=f"game-{game}",
            split=splits.get(game, "train"),
            difficulty=_distances()[place],
            data={"game": game},
        )
        for game, place in enumerate(PLACES[:-1])
    )
