"""The game under test, and a match that checks every turn."""

import random
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any

from agentgym_envs.core import Outcome
from agentgym_envs.multi.game import TextGame
from agentgym_envs.multi.make import make_game
from agentgym_envs.multi.match import GameMatch
from agentgym_envs.tasks import SPLITS, TaskSet, spread
from agentgym_envs.testing.checked_env import LONGEST_OBSERVATION
from agentgym_envs.testing.side_effects import SideEffects
from agentgym_envs.testing.subject import expect


class TestedGame:
    """The game under test.

    Args:
        game_id: a registered id.
        kwargs: the game's keywords.
        evidence: the side effects on this process.
    """

    def __init__(self, game_id: str, kwargs: dict[str, Any], evidence: SideEffects):
        self.game_id, self.kwargs, self.evidence = game_id, kwargs, evidence

    def make(self) -> TextGame:
        """Returns a new copy of the game."""
        return make_game(self.game_id, **self.kwargs)

    def sample(self, count: int) -> list[str]:
        """Returns ``count`` tasks of each split; the splits alternate."""
        chosen = [spread(self._tasks.ids(split), count) for split in SPLITS]
        return [task_id for task_id in chain(*zip_longest(*chosen)) if task_id is not None]

    def start_match(self, task_id: str) -> "CheckedMatch":
        """Starts a match of a task; the previous match cannot go on."""
        return CheckedMatch(self._game, self._tasks.get(task_id))

    @cached_property
    def _game(self) -> TextGame:
        return self.make()

    @cached_property
    def _tasks(self) -> TaskSet:
        return self._game.make_tasks()


class CheckedMatch:
    """Plays a match and checks every turn for every seat.

    Attributes:
        match: the match in progress.
        turns: the number of turns so far.
    """

    def __init__(self, game: TextGame, task: Any):
        self.game, self.turns = game, 0
        self.match = GameMatch(game, task, random.Random(task.id))
        self._secrets = {seat: game.secrets(seat) for seat in game.seats}
        self._look()

    def say(self, seat: str, action: str) -> Outcome | None:
        """Takes the action of a seat.

        Returns:
            The outcome for this seat, or None if the match still waits for other seats.
        """
        alone = tuple(self.game.acting()) == (seat,)
        went_on = self.match.say(seat, action)
        self.turns += 1
        if not went_on:
            return None
        self._check_outcomes()
        self._look()
        if alone and self.match.outcomes[seat].invalid and not self.match.over:
            acting = tuple(self.game.acting())
            expect(
                acting == (seat,),
                f"turn {self.turns}: {seat} was not understood and is to act again, but acting()"
                f" gives {acting}",
            )
        return self.match.outcomes[seat]

    def _check_outcomes(self) -> None:
        outcomes, seats = self.match.outcomes, self.game.seats
        expect(
            set(outcomes) == set(seats),
            f"turn {self.turns}: the outcomes are of {sorted(outcomes)}, the seats are {seats}",
        )
        done = {seat: bool(outcome.done) for seat, outcome in outcomes.items()}
        expect(
            len(set(done.values())) == 1,
            f"turn {self.turns}: all seats must end together, not {done}",
        )
        for seat, outcome in outcomes.items():
            score = outcome.score
            expect(
                0.0 <= score <= 1.0,
                f"turn {self.turns}: the score {score} of {seat} is not in [0, 1]",
            )
        scores = {seat: outcome.score for seat, outcome in outcomes.items()}
        same = len(set(scores.values())) == 1
        expect(
            same or not self.game.cooperative,
            f"turn {self.turns}: cooperative is True, and the scores are {scores}",
        )

    def _look(self) -> None:
        """Checks the acting seats and the texts of all seats."""
        acting = () if self.match.over else tuple(self.game.acting())
        fine = self.match.over or (
            acting and set(acting) <= set(self.game.seats) and len(set(acting)) == len(acting)
        )
        expect(
            bool(fine),
            f"turn {self.turns}: acting() gives {acting}, the seats are {self.game.seats}",
        )
        for seat in self.game.seats:
            text = self.match.see(seat)
            expect(
                isinstance(text, str) and len(text) < LONGEST_OBSERVATION,
                f"turn {self.turns}: {seat} sees {len(text)} characters",
            )
            text.encode("utf-8")
            if not self.match.over:
                self._check_secrets(seat, text, "is shown")
                self._check_secrets(seat, self.game.goal(seat), "has the goal")

    def _check_secrets(self, seat: str, text: str, how: str) -> None:
        for owner, secrets in self._secrets.items():
            for secret in set(secrets) - set(self._secrets[seat]):
                expect(
                    secret not in text,
                    f"turn {self.turns}: {seat} {how} {text[:200]!r}, which tells {secret!r}, a"
                    f" secret of {owner}",
                )
