"""The schedule of a tournament, and the loop that plays it.

A failure is recorded and retried; it never counts as a loss.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from agentgym_envs import registry
from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    EnvRaised,
    ProviderError,
    ProviderRefused,
)
from agentgym_envs.evaluate.record import Key, Row, Rows, episodes
from agentgym_envs.evaluate.runner import HOPELESS, OUTAGE
from agentgym_envs.multi.make import make_game
from agentgym_envs.multi.players import make_player
from agentgym_envs.tasks import TaskSet
from agentgym_envs.tournament.play import Stopped, play

TRIES = 3


@dataclass(frozen=True)
class Contest:
    """One game to play: a task, and the players in the order of the seats."""

    task_id: str
    difficulty: int
    players: tuple[str, ...]

    @property
    def family(self) -> str:
        """The name of the games of these players on these seats."""
        return " against ".join(self.players)


def schedule(players: Sequence[str], tasks: TaskSet, task_ids: Iterable[str]) -> list[Contest]:
    """Returns every pair in both orders on every task.

    All games of a task are adjacent, so an interrupted tournament is fair too.

    Raises:
        ArgumentError: fewer than two players, or a duplicate player.
    """
    if len(players) < 2 or len(set(players)) < len(players):
        raise ArgumentError(
            "a tournament needs at least two players, each named once, not"
            f" {', '.join(players) or 'none'}"
        )
    return [
        Contest(i, tasks.difficulty(i), pair) for i in task_ids for pair in permutations(players, 2)
    ]


def check_game(game_id: str, kwargs: Mapping[str, Any], players: Sequence[str]) -> TaskSet:
    """Returns the tasks of a game that can be played for ratings.

    Raises:
        ArgumentError: the game does not have two seats, or its seats share one score.
        UnknownName: no such game or player.
    """
    game = make_game(game_id, **kwargs)
    if game.cooperative:
        raise ArgumentError(
            f"the seats of {game_id} share one score, so players cannot beat each other: a"
            " tournament needs separate scores"
        )
    if len(game.seats) != 2:
        raise ArgumentError(
            f"{game_id} has {len(game.seats)} seats here; a tournament needs a game of two seats"
        )
    for name in players:
        make_player(game, game.seats[0], name)
    return game.make_tasks()


@dataclass
class Tournament:
    """Plays the games that a record lacks.

    Attributes:
        game_id: a registered game.
        kwargs: keywords of the game's constructor.
        tasks: the tasks of the game.
        settings: the key of the record's settings.
        record: receives the lines.
        concurrency: games at a time.
        on_row: called with each new line.
    """

    game_id: str
    kwargs: Mapping[str, Any]
    tasks: TaskSet
    settings: str
    record: Rows
    concurrency: int = 8
    on_row: Callable[[Row], None] = lambda row: None
    stopped: str = ""
    """The reason for an early end; empty if all games were played."""
    _stop: threading.Event = field(default_factory=threading.Event)

    def missing(self, contests: Sequence[Contest]) -> list[Contest]:
        """Returns the games that the record does not hold."""
        done = {Key.of(row) for row in episodes(self.record.rows)}
        return [contest for contest in contests if Key.of(self._head(contest)) not in done]

    def rows(self, contests: Sequence[Contest]) -> list[Row]:
        """Returns the lines of the games that were played."""
        wanted = {Key.of(self._head(contest)) for contest in contests}
        return [row for row in episodes(self.record.rows) if Key.of(row) in wanted]

    def run(self, contests: Sequence[Contest]) -> None:
        """Plays the games that the record lacks.

        If the tournament cannot continue, this returns early and sets ``stopped``.

        Raises:
            ProviderRefused: a server refuses every request: the key, model or address is wrong.
        """
        waiting = deque((contest, 1) for contest in self.missing(contests))
        with ThreadPoolExecutor(self.concurrency) as pool:
            try:
                self._drive(pool, waiting)
            except KeyboardInterrupt:
                self.stopped = "interrupted"
            finally:
                self._stop.set()

    def _drive(self, pool: ThreadPoolExecutor, waiting: deque[tuple[Contest, int]]) -> None:
        running: dict[Future[Row], tuple[Contest, int]] = {}
        failures = 0
        while waiting or running:
            while waiting and len(running) < self.concurrency:
                contest, number = waiting.popleft()
                running[pool.submit(self._play, contest, number)] = (contest, number)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                contest, number = running.pop(future)
                row = future.result()
                self.record.add(row)
                self.on_row(row)
                # A few games may fail again and again.
                failures = failures + (number == 1) if row["row"] == "fault" else 0
                if row["row"] == "fault" and number < TRIES:
                    waiting.append((contest, number + 1))
            if failures >= OUTAGE:
                self.stopped = f"{failures} games failed in a row, the last with: {row['error']}"
                return

    def _play(self, contest: Contest, number: int) -> Row:
        """Returns the line of a game or of a fault."""
        turns: list[Row] = []
        try:
            game = make_game(self.game_id, **self.kwargs)
            spec = registry.spec(self.game_id)
            limit = (spec.max_episode_steps or registry.DEFAULT_HORIZON) * len(game.seats)
            players = dict(zip(game.seats, contest.players, strict=True))
            played = play(
                game,
                self.tasks,
                contest.task_id,
                players,
                limit=limit,
                turns=turns,
                stop=self._stop,
            )
        except ProviderError as error:
            if isinstance(error, ProviderRefused) and error.status in HOPELESS:
                raise
            return self._fault(contest, number, turns, "provider", error)
        except (AgentGymError, Stopped):
            raise
        except Exception as error:
            failure = EnvRaised.of(registry.named(self.game_id), error)
            return self._fault(contest, number, turns, "environment", failure)
        return {"row": "episode", **self._head(contest), **played}

    def _fault(
        self, contest: Contest, number: int, turns: list[Row], kind: str, error: Exception
    ) -> Row:
        return {
            "row": "fault",
            **self._head(contest),
            "fault": kind,
            "try": number,
            "error": str(error),
            "turns": len(turns),
        }

    def _head(self, contest: Contest) -> Row:
        named = {
            "suite": "",
            "scenario": "",
            "family": contest.family,
            "env_id": self.game_id,
            "task_id": contest.task_id,
        }
        return {
            **named,
            "difficulty": contest.difficulty,
            "attempt": 0,
            "settings": self.settings,
            "usage": {},
        }
