"""One game from start to end: the acting seats, and each seat's unseen text and reward."""

import random
from collections import Counter
from collections.abc import Mapping

from agentgym_envs.core import Outcome
from agentgym_envs.multi.game import TextGame
from agentgym_envs.tasks import Task


class GameMatch:
    """A game in progress.

    Args:
        game: to be played; it holds no other match.
        task: of the game.
        rng: the episode's own.

    Attributes:
        outcomes: the latest of each seat.
        over: the game has ended.
    """

    def __init__(self, game: TextGame, task: Task, rng: random.Random):
        self.game, self.over = game, False
        self._unseen = {seat: [text] for seat, text in game.begin(task, rng).items()}
        self.outcomes: Mapping[str, Outcome] = {seat: Outcome("", 0.0) for seat in game.seats}
        self._said: dict[str, str] = {}
        self._earned = dict.fromkeys(game.seats, 0.0)
        self._misunderstood: Counter[str] = Counter()

    @property
    def waiting(self) -> tuple[str, ...]:
        """Returns the seats that must speak before the game continues, in order."""
        return (
            ()
            if self.over
            else tuple(seat for seat in self.game.acting() if seat not in self._said)
        )

    def say(self, seat: str, action: str) -> bool:
        """Takes the action of an acting seat.

        Returns whether the game continued; False if other seats must act first.
        """
        assert seat in self.waiting, f"{seat} is not waited for"
        self._said[seat] = action
        if self.waiting:
            return False
        said, self._said = self._said, {}
        self._take(self.game.act(said))
        self._count({speaker: self.outcomes[speaker].invalid for speaker in said})
        return True

    def refuse(self, seat: str) -> None:
        """Counts a response without an action. The seat must still act, unless it forfeits now."""
        assert seat in self.waiting, f"{seat} is not waited for"
        self._count({seat: True})

    def forfeit(self, seat: str, why: str) -> None:
        """Ends the game as the seat's forfeit, and shows the reason to all seats."""
        outcomes = self.game.forfeit(seat).items()
        self._take({s: o._replace(text=why, invalid=s == seat) for s, o in outcomes})

    def see(self, seat: str) -> str:
        """Returns a seat's unseen text and marks it as seen."""
        text = "\n".join(filter(None, self._unseen[seat]))
        self._unseen[seat] = []
        return text

    def earned(self, seat: str) -> float:
        """Returns a seat's reward: the change of its score since the last call."""
        before, self._earned[seat] = self._earned[seat], self.outcomes[seat].score
        return self._earned[seat] - before

    def _count(self, invalid: Mapping[str, bool]) -> None:
        """Counts the invalid actions in a row of each seat.

        After the game's ``max_invalid_actions``, all these seats forfeit.

        Each has what its own forfeit leaves it, the others what the first one leaves them.
        """
        for seat, now in invalid.items():
            self._misunderstood[seat] = self._misunderstood[seat] + 1 if now else 0
        lost = [
            seat for seat in invalid if self._misunderstood[seat] == self.game.max_invalid_actions
        ]
        if lost and not self.over:
            ended = {seat: self.game.forfeit(seat) for seat in lost}
            first = ended[lost[0]]
            self._take({s: ended.get(s, first)[s]._replace(invalid=s in ended) for s in first})

    def _take(self, outcomes: Mapping[str, Outcome]) -> None:
        self.outcomes, self.over = outcomes, all(outcome.done for outcome in outcomes.values())
        for seat, outcome in outcomes.items():
            self._unseen[seat].append(outcome.text)
