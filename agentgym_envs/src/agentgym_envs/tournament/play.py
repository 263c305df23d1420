"""Plays one game between named players and records its turns."""

import random
import threading
import time
from collections.abc import Mapping
from typing import Any

from agentgym_envs.errors import ContextExceeded
from agentgym_envs.evaluate.record import Row
from agentgym_envs.multi.game import TextGame
from agentgym_envs.multi.match import Match
from agentgym_envs.multi.players import make_player
from agentgym_envs.tasks import TaskSet


class Stopped(Exception):
    """Stops the game because the run ends."""


def play(
    game: TextGame,
    tasks: TaskSet,
    task_id: str,
    players: Mapping[str, str],
    *,
    limit: int,
    turns: list[Row],
    stop: threading.Event | None = None,
) -> Row:
    """Plays a game.

    Args:
        game: a game without another match in progress.
        tasks: the tasks of the game.
        task_id: a task id; the game begins the same every time.
        players: a name for each seat, as :func:`agentgym_envs.multi.players.make_player` takes it.
        limit: the limit of turns, of all seats together.
        turns: an empty list that is filled during play, so that a fault's turns are known too.
        stop: ends the game between two turns.

    Returns:
        The keys of the game's line that describe the play. ``seats`` has the player and result of
        each seat. A model whose conversation is full forfeits: the end is "context".

    Raises:
        ProviderError: the server of a player's model failed.
        Stopped: ``stop`` was set.
    """
    began = time.monotonic()
    task, rng = tasks.start(0, (), named=task_id, filtered=True)
    match = Match(game, task, rng)
    seated = {seat: make_player(game, seat, name) for seat, name in players.items()}
    rngs = {seat: random.Random(f"{task_id} {seat} {name}") for seat, name in players.items()}
    end = ""
    while match.waiting and len(turns) < limit:
        if stop is not None and stop.is_set():
            raise Stopped
        seat = match.waiting[0]
        seen = match.see(seat)
        try:
            said = seated[seat](seen, rngs[seat])
        except ContextExceeded:
            end = "context"
            match.forfeit(
                seat, f"The conversation of {seat} is too long for its model: the game is over."
            )
            _pay(match, turns)
            break
        turns.append(_turn(seat, players[seat], seen, said))
        if match.say(seat, said):
            _settle(match, turns)
    seats = {seat: _seat(match, seat, name) for seat, name in players.items()}
    if end == "context":
        # It was shown to a model that could not answer.
        seats[seat]["last"] = f"{seen}\n{seats[seat]['last']}"
    first = seats[game.seats[0]]
    end = end or ("terminated" if match.over else "truncated")
    result = {
        "goal": first["goal"],
        "success": first["success"],
        "score": first["score"],
        "end": end,
        "last": first["last"],
    }
    return {
        **result,
        "turns": turns,
        "seats": seats,
        "seconds": round(time.monotonic() - began, 3),
        "memory": None,
    }


def _turn(seat: str, player: str, seen: str, said: str) -> Row:
    turn = {
        "seat": seat,
        "player": player,
        "observation": seen,
        "response": said,
        "thought": "",
        "action": said,
    }
    return {**turn, "reward": 0.0, "invalid": False}


def _settle(match: Match, turns: list[Row]) -> None:
    """Adds each seat's reward and validity to its last turn."""
    for turn in _pay(match, turns):
        turn["invalid"] |= match.outcomes[turn["seat"]].invalid


def _pay(match: Match, turns: list[Row]) -> list[Row]:
    """Adds each seat's reward, from any seat's turn, to its last turn; returns the last turns."""
    latest = {turn["seat"]: turn for turn in turns}
    for seat, turn in latest.items():
        turn["reward"] += match.earned(seat)
    return list(latest.values())


def _seat(match: Match, seat: str, player: str) -> dict[str, Any]:
    """Returns a game's result for a seat; at the end only the forfeiting seat is invalid."""
    outcome, goal = match.outcomes[seat], match.game.goal(seat)
    result = {
        "score": float(outcome.score),
        "success": bool(outcome.success),
        "forfeit": match.over and bool(outcome.invalid),
    }
    return {"player": player, "goal": goal, **result, "last": match.see(seat)}
