"""Plays one game between players and records its turns."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.errors import (
    AgentFailure,
    ContextExceeded,
    ConversationRefused,
    ProviderError,
)
from agentgym_envs.evaluate import episode
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.evaluate.transcript import OnReply
from agentgym_envs.multi.game import TextGame
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.tasks import TaskSet
from agentgym_envs.tournament.competitor import SeatedPlayer, TournamentPlayer
from agentgym_envs.tournament.loop import RunStopped
from agentgym_envs.wrappers import FormatError


@dataclass
class GameCourse:
    """The course of a game, filled during play, so that a fault's part is known too."""

    turns: list[EpisodeRow] = field(default_factory=list)
    on_reply: OnReply = lambda messages, tools, reply: None
    """Receives the requests and the replies of all players."""
    seated: dict[str, SeatedPlayer] = field(default_factory=dict)
    """The player in each seat."""


class PlayerFailed(Exception):
    """A player's agent or the server of its model failed.

    Args:
        player: its name.
        cause: the failure.
    """

    def __init__(self, player: str, cause: AgentFailure | ProviderError):
        super().__init__(str(cause))
        self.player, self.cause = player, cause


def play(
    game: TextGame,
    tasks: TaskSet,
    task_id: str,
    players: Mapping[str, TournamentPlayer],
    *,
    limit: int,
    course: GameCourse,
    stop: threading.Event | None = None,
) -> EpisodeRow:
    """Plays a game.

    Args:
        game: a game without another match in progress.
        tasks: the tasks of the game.
        task_id: a task id; the game begins the same every time.
        players: the player of each seat.
        limit: the limit of turns, of all seats together.
        course: an empty one.
        stop: ends the game between two turns.

    Returns:
        The keys of the game's line that describe the play. ``seats`` has the player, its settings
        and the result of each seat. A model forfeits if its conversation is full (the end is
        "context"), or if it or a filter refuses the conversation (the end is "refused").

    Raises:
        PlayerFailed: a player's agent or the server of its model failed.
        RunStopped: ``stop`` was set.
    """
    began = time.monotonic()
    task, rng = tasks.start(0, (), named=task_id, filtered=True)
    table = _SeatedPlayers(GameMatch(game, task, rng), players, course)
    table.sit(task_id)
    while table.match.waiting and len(course.turns) < limit and not table.end:
        if stop is not None and stop.is_set():
            raise RunStopped
        table.take_turn()
    match = table.match
    seats = {seat: _seat(match, seat, player) for seat, player in players.items()}
    if table.end:
        # It was shown to a model that could not answer.
        last = seats[table.silent]
        last["last"] = f"{table.seen}\n{last['last']}".lstrip()
    first = seats[game.seats[0]]
    cause = {"error": table.error} if table.end else {}
    return {
        **{key: first[key] for key in ("goal", "success", "score", "last")},
        "end": table.end or ("terminated" if match.over else "truncated"),
        **cause,
        "turns": course.turns,
        "seats": seats,
        "seconds": round(time.monotonic() - began, 3),
        "memory": None,
    }


class _SeatedPlayers:
    """The players of a game in their seats."""

    def __init__(
        self, match: GameMatch, players: Mapping[str, TournamentPlayer], course: GameCourse
    ):
        self.match, self.players, self.course = match, players, course
        self.complaints: dict[str, str] = {}
        """The error of a seat's latest response; the seat must answer again."""
        self.seen = self.silent = self.end = self.error = ""
        """The latest text that a player saw; the seat whose model cannot answer, why, and the
        server's message."""

    def sit(self, task_id: str) -> None:
        """Seats all players."""
        for seat, player in self.players.items():
            seated = player.sit(self.match.game, seat, self.course.on_reply)
            self.course.seated[seat] = seated
            try:
                seated.start(task_id)
            except (ContextExceeded, ConversationRefused) as error:
                self._forfeit(seat, error)
                return
            except (AgentFailure, ProviderError) as error:
                raise PlayerFailed(player.name, error) from error

    def take_turn(self) -> None:
        """Asks the first waiting seat and applies its response."""
        seat, match = self.match.waiting[0], self.match
        self.seen = "\n".join(filter(None, [self.complaints.pop(seat, ""), match.see(seat)]))
        number = sum(one["seat"] == seat for one in self.course.turns)
        try:
            said = self.course.seated[seat].respond(self.seen, number)
        except (ContextExceeded, ConversationRefused) as error:
            self._forfeit(seat, error)
        except (AgentFailure, ProviderError) as error:
            raise PlayerFailed(self.players[seat].name, error) from error
        else:
            self._apply(seat, said)

    def _forfeit(self, seat: str, error: ContextExceeded | ConversationRefused) -> None:
        """Ends the game: the seat's model cannot answer."""
        full = isinstance(error, ContextExceeded)
        self.silent, self.end = seat, "context" if full else "refused"
        self.error = str(error)
        why = "is too long for its model" if full else "is refused by its model or a filter"
        self.match.forfeit(seat, f"The conversation of {seat} {why}: the game is over.")
        _pay(self.match, self.course.turns)

    def _apply(self, seat: str, said: str) -> None:
        reader = self.course.seated[seat].reader
        row = episode.turn(self.seen, said, reader, 0.0, False, seat)
        self.course.turns.append({**row, "player": self.players[seat].name})
        try:
            action = reader.parse(said) if reader else said
        except FormatError as error:
            self.complaints[seat] = str(error)
            self.match.refuse(seat)
            _pay(self.match, self.course.turns)
        else:
            if self.match.say(seat, action):
                _settle(self.match, self.course.turns)


def _settle(match: GameMatch, turns: list[EpisodeRow]) -> None:
    """Adds each seat's reward and validity to its last turn."""
    for turn in _pay(match, turns):
        turn["invalid"] |= match.outcomes[turn["seat"]].invalid


def _pay(match: GameMatch, turns: list[EpisodeRow]) -> list[EpisodeRow]:
    """Adds each seat's reward, from any seat's turn, to its last turn; returns the last turns."""
    latest = {turn["seat"]: turn for turn in turns}
    for seat, turn in latest.items():
        turn["reward"] += match.earned(seat)
    return list(latest.values())


def _seat(match: GameMatch, seat: str, player: TournamentPlayer) -> dict[str, Any]:
    """Returns a game's result for a seat; at the end only the forfeiting seat is invalid."""
    outcome, goal = match.outcomes[seat], match.game.goal(seat)
    result = {
        "score": float(outcome.score),
        "success": bool(outcome.success),
        "forfeit": match.over and bool(outcome.invalid),
    }
    named = {"player": player.name, "settings": player.recorded, "goal": goal}
    return {**named, **result, "last": match.see(seat)}
