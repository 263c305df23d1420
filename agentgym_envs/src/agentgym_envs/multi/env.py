"""A game as a Gymnasium environment.

The caller plays some seats, one action after the other. Opponents play the other seats.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

from agentgym_envs.core import ENV_KEYWORDS, Outcome, TextEnv
from agentgym_envs.errors import ArgumentError
from agentgym_envs.multi.make import game_beside
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.multi.players import make_player
from agentgym_envs.tasks import Task, TaskSet

PASS = "pass"
SEAT_KEYWORDS = ("seats", "opponents", *ENV_KEYWORDS)  # all others are the game's own


class SeatsEnv(TextEnv):
    """One or more seats of a game.

    ``info["seat"]`` is the seat that the observation and ``info["goal"]`` are for and that acts
    next; after the end it is the one that acted last. ``info["rewards"]``, ``["scores"]``,
    ``["successes"]`` and ``["invalids"]`` say what the step brought to each seat of the caller's;
    ``info["score"]`` is the mean of their scores, and ``info["success"]`` says that all have
    succeeded. Seats that speak at once are asked one after the other, and see nothing of each other
    before all have spoken. A seat knows only its observations and ``info["goal"]``:
    ``info["task_id"]`` is for who evaluates, and may tell what another seat knows.

    Args:
        game: its id.
        seats: of the caller: names, "all", or None for each task's default seat, which is the first
            one in most games.
        opponents: who plays the other seats: "random", "oracle", a player of the game's own, or
            "model:NAME" for a model at
            ``OPENAI_BASE_URL``; None for the game's ``opponents``.
        **kwargs: those of :class:`agentgym_envs.TextEnv`, and the game's.

    Raises:
        ArgumentError: no such seat, ``opponents`` is no name, or the game has no such keyword.
        UnknownName: no such player.
    """

    def __init__(
        self,
        *,
        game: str,
        seats: Sequence[str] | str | None = None,
        opponents: str | None = None,
        **kwargs: Any,
    ):
        own = {key: kwargs.pop(key) for key in ENV_KEYWORDS if key in kwargs}
        self.game = game_beside(game, kwargs, SEAT_KEYWORDS)
        self.seats, self._by_task = _chosen(self.game.seats, seats), seats is None
        self.instructions, self.tools = self.game.instructions, dict(self.game.tools)  # type: ignore[misc]
        self._opponents, self.seat = (
            self.game.opponents if opponents is None else opponents,
            self.seats[0],
        )
        self._seat_opponents()  # rejects an unknown opponent in the constructor
        super().__init__(**own)

    def make_tasks(self) -> TaskSet:
        """Returns the game's."""
        return self.game.make_tasks()

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts the game, up to where one of the caller's seats acts."""
        if self._by_task:
            self.seats = (self.game.default_seat(task),)
        self._seat_opponents()
        drawn = copy(rng).random()  # a copy: the game is the same whoever plays
        self._rngs = {seat: random.Random(f"{seat} {drawn}") for seat in self._players}
        self.match, self.seat = GameMatch(self.game, task, rng), self.seats[0]
        self._go_on()
        return self.match.see(self.seat), self.game.goal(self.seat)

    def act(self, action: str) -> Outcome:
        """Applies the acting seat's action and plays opponents until the caller's next turn."""
        invalid = dict.fromkeys(self.seats, False)
        # The match can be over already: all opponents may have forfeited before the first turn.
        if not self.match.over and self.match.say(self.seat, action):
            invalid = self._invalid()
        for seat, later in self._go_on().items():
            invalid[seat] |= later
        return self._outcome(self.match.see(self.seat), invalid)

    def refuse(self, text: str) -> Outcome:
        """Reports an invalid response to the acting seat, which must act again.

        Like any invalid action, it can forfeit the game.
        """
        if not self.match.over:
            self.match.refuse(self.seat)
        if not self.match.over:
            return super().refuse(text)
        return self._outcome(
            f"{text}\n{self.match.see(self.seat)}", {seat: seat == self.seat for seat in self.seats}
        )

    def _outcome(self, text: str, invalid: dict[str, bool]) -> Outcome:
        outcomes = {seat: self.match.outcomes[seat] for seat in self.seats}
        score = sum(outcome.score for outcome in outcomes.values()) / len(outcomes)
        success = all(outcome.success for outcome in outcomes.values())
        rewards = {seat: float(self.match.earned(seat)) for seat in self.seats}
        extra = {"rewards": rewards, "invalids": invalid}
        return Outcome(text, score, self.match.over, success, any(invalid.values()), extra)

    def actions(self) -> list[str]:
        """Returns the actions of the acting seat.

        The list is empty if other seats have ended the game before its first turn.
        """
        return [PASS] if self.match.over else self.game.actions(self.seat)

    def oracle(self) -> Iterator[str]:
        """Yields the best action for each of the caller's seats in its turn."""
        while not self.match.over:
            yield self.game.oracle(self.seat)

    def _info(self, outcome: Outcome) -> dict[str, Any]:
        outcomes = {seat: self.match.outcomes[seat] for seat in self.seats}
        # An invalid response is that of the current seat.
        result = {
            "seat": self.seat,
            "rewards": dict.fromkeys(self.seats, 0.0),
            "scores": {seat: float(o.score) for seat, o in outcomes.items()},
            "successes": {seat: bool(o.success) for seat, o in outcomes.items()},
            "invalids": {seat: outcome.invalid and seat == self.seat for seat in self.seats},
        }
        return {**result, **super()._info(outcome), "goal": self.game.goal(self.seat)}

    def _seat_opponents(self) -> None:
        """Creates new players for the episode, because players can have a memory."""
        seats = [seat for seat in self.game.seats if seat not in self.seats]
        self._players = {seat: make_player(self.game, seat, self._opponents) for seat in seats}

    def _go_on(self) -> dict[str, bool]:
        """Plays the opponents until a seat of the caller must act.

        Returns the seats of the caller whose actions were invalid meanwhile.
        """
        invalid = dict.fromkeys(self.seats, False)
        while self.match.waiting:
            seat = self.match.waiting[0]
            if seat in self.seats:
                self.seat = seat
                break
            said = self._players[seat](self.match.see(seat), self._rngs[seat])
            if self.match.say(seat, said):
                invalid = {s: invalid[s] or now for s, now in self._invalid().items()}
        return invalid

    def _invalid(self) -> dict[str, bool]:
        return {seat: self.match.outcomes[seat].invalid for seat in self.seats}


def _chosen(known: tuple[str, ...], seats: Sequence[str] | str | None) -> tuple[str, ...]:
    if seats is None:
        return known[:1]
    wanted = (
        known
        if seats == "all"
        else tuple(seats)
        if isinstance(seats, Iterable) and not isinstance(seats, str)
        else (seats,)
    )
    if not wanted or any(seat not in known for seat in wanted):
        raise ArgumentError(f"seats={seats!r}: choose at least one of {', '.join(known)}, or 'all'")
    return tuple(seat for seat in known if seat in wanted)
