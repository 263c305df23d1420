"""The schedule of a tournament, and the loop that plays it.

A failure is recorded and retried; it never counts as a loss. A player that cannot go on drops out:
its remaining games are missing, and the others go on.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

from agentgym_envs import registry
from agentgym_envs.errors import (
    AgentFailure,
    AgentGymError,
    ArgumentError,
    EnvRaised,
    ProviderRefused,
)
from agentgym_envs.evaluate.budget import UsageTotals
from agentgym_envs.evaluate.record import EpisodeKey, EpisodeRow, EpisodeRows, episodes
from agentgym_envs.evaluate.runner import HOPELESS
from agentgym_envs.evaluate.transcript import EpisodeTranscript
from agentgym_envs.multi.game import TextGame
from agentgym_envs.multi.make import make_game
from agentgym_envs.tasks import TaskSet
from agentgym_envs.tournament.competitor import FAILURES, TournamentPlayer
from agentgym_envs.tournament.loop import EventLoopThread, RunStopped
from agentgym_envs.tournament.play import GameCourse, PlayerFailed, play
from agentgym_envs.tournament.players import difference

TRIES = 3


@dataclass(frozen=True)
class PlannedGame:
    """One game to play: a task, and the player of the first seat and that of the others."""

    task_id: str
    difficulty: int
    players: tuple[str, str]
    shared: bool
    """The seats share one score."""

    @property
    def family(self) -> str:
        """The name of the games of these players on these seats."""
        return (" with " if self.shared else " against ").join(self.players)


def schedule(
    players: Iterable[str], tasks: TaskSet, task_ids: Iterable[str], *, shared: bool
) -> list[PlannedGame]:
    """Returns every pair in both orders on every task.

    All games of a task are adjacent, so an interrupted tournament is fair too. If the seats share
    one score, each player plays with itself too.
    """
    pairs = [(a, b) for a, b in product(list(players), repeat=2) if shared or a != b]
    return [PlannedGame(i, tasks.difficulty(i), pair, shared) for i in task_ids for pair in pairs]


def checked_game(game_id: str, kwargs: Mapping[str, Any]) -> TextGame:
    """Returns a game that can be played in a tournament.

    Raises:
        ArgumentError: the game has one seat, or more than two seats with separate scores.
        UnknownName: no such game.
    """
    game = make_game(game_id, **kwargs)
    if len(game.seats) < 2 or (len(game.seats) > 2 and not game.cooperative):
        raise ArgumentError(
            f"{game_id} has {len(game.seats)} seats here; a tournament needs two, or more that"
            " share one score"
        )
    return game


@dataclass
class TournamentRunner:
    """Plays the games that a record lacks.

    Attributes:
        game_id: a registered game.
        kwargs: keywords of the game's constructor.
        tasks: the tasks of the game.
        players: the players by name.
        loop: runs the players' agents.
        settings: the key of the record's settings.
        record: receives the lines.
        concurrency: games at a time.
        on_row: called with each new line.
    """

    game_id: str
    kwargs: Mapping[str, Any]
    tasks: TaskSet
    players: Mapping[str, TournamentPlayer]
    loop: EventLoopThread
    settings: str
    record: EpisodeRows
    concurrency: int = 8
    on_row: Callable[[EpisodeRow], None] = lambda row: None
    stopped: str = ""
    """The reason for an early end; empty if all games were played."""
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Checks the players' recorded settings, and counts what their games have used.

        Raises:
            ArgumentError: a player has played with other settings.
        """
        for row in self.record.rows:
            for result in row.get("seats", {}).values():
                self._check(result["player"], result.get("settings", {}))
        used = self.record.used()
        for name, player in self.players.items():
            player.budget.used.add(used.get(name, UsageTotals()))
            player.budget.keep = partial(self.record.use, player=name)

    def _check(self, name: str, recorded: Mapping[str, Any]) -> None:
        player = self.players.get(name)
        if player and (found := difference(player.recorded, recorded)):
            raise ArgumentError(
                f"{self.record.folder} holds games of {name} with other settings: {found}. Give the"
                " player another name, or another --out"
            )

    def missing(self, contests: Sequence[PlannedGame]) -> list[PlannedGame]:
        """Returns the games that the record does not hold."""
        done = {EpisodeKey.of(row) for row in episodes(self.record.rows)}
        return [contest for contest in contests if EpisodeKey.of(self.head(contest)) not in done]

    def rows(self, contests: Sequence[PlannedGame]) -> list[EpisodeRow]:
        """Returns the lines of the games that were played."""
        wanted = {EpisodeKey.of(self.head(contest)) for contest in contests}
        return [row for row in episodes(self.record.rows) if EpisodeKey.of(row) in wanted]

    def faults(self, contests: Sequence[PlannedGame]) -> list[EpisodeRow]:
        """Returns the lines of the failed tries of games."""
        wanted = {EpisodeKey.of(self.head(contest)) for contest in contests}
        faults = [row for row in self.record.rows if row["row"] == "fault"]
        return [row for row in faults if EpisodeKey.of(row) in wanted]

    def run(self, contests: Sequence[PlannedGame]) -> None:
        """Plays the games that the record lacks.

        If the tournament cannot continue, this returns early and sets ``stopped``.
        """
        waiting = deque((contest, 1) for contest in self.missing(contests))
        with ThreadPoolExecutor(self.concurrency) as pool:
            try:
                self._drive(pool, waiting)
            except KeyboardInterrupt:
                self.stopped = "interrupted"
            finally:
                self._stop.set()
                self.loop.stop()

    def _drive(self, pool: ThreadPoolExecutor, waiting: deque[tuple[PlannedGame, int]]) -> None:
        running: dict[Future[EpisodeRow], tuple[PlannedGame, int]] = {}
        failures = 0
        while waiting or running:
            while waiting and len(running) < self.concurrency:
                contest, number = waiting.popleft()
                if not any(self.players[name].is_out() for name in contest.players):
                    running[pool.submit(self._play, contest, number)] = (contest, number)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                contest, number = running.pop(future)
                row = future.result()
                self.record.add(row)
                self.on_row(row)
                self._judge(contest, row)
                # A few games may fail again and again.
                broken = row.get("fault") == "environment"
                failures = failures + (number == 1) if broken else 0
                if row["row"] == "fault" and number < TRIES:
                    waiting.append((contest, number + 1))
            if failures >= FAILURES:
                self.stopped = f"{failures} games failed in a row, the last with: {row['error']}"
                return

    def _judge(self, contest: PlannedGame, row: EpisodeRow) -> None:
        """Counts the failures of each player in a row; too many end its tournament."""
        if row["row"] == "episode":
            for name in contest.players:
                self.players[name].failures = 0
        elif name := row["player"]:
            self.players[name].failed(
                row["error"], first=row["try"] == 1, server=row["fault"] == "provider"
            )

    def _play(self, contest: PlannedGame, number: int) -> EpisodeRow:
        """Returns the line of a game or of a fault."""
        course = GameCourse()
        transcript = EpisodeTranscript(self.record.share, course.turns)
        course.on_reply = transcript.add
        try:
            game = make_game(self.game_id, **self.kwargs)
            spec = registry.spec(self.game_id)
            limit = (spec.max_episode_steps or registry.DEFAULT_HORIZON) * len(game.seats)
            first, other = (self.players[name] for name in contest.players)
            played = play(
                game,
                self.tasks,
                contest.task_id,
                dict(zip(game.seats, [first, *[other] * (len(game.seats) - 1)], strict=True)),
                limit=limit,
                course=course,
                stop=self._stop,
            )
        except PlayerFailed as error:
            cause = error.cause
            said = {"fault": "provider", "player": error.player, "error": str(error)}
            if isinstance(cause, ProviderRefused):
                said["fault"] = "rejected"
                if cause.status in HOPELESS:
                    self.players[error.player].out = f"its server refuses it: {cause}"
            if isinstance(cause, AgentFailure):
                said |= {"fault": "agent", "traceback": cause.trace}
        except (AgentGymError, RunStopped):
            raise
        except Exception as error:
            failure = EnvRaised.of(registry.named(self.game_id), error)
            said = {"fault": "environment", "player": "", "error": str(failure)}
        else:
            row = {"row": "episode", **self.head(contest), **played, **transcript.row}
            return {**row, **_used(contest, course)}
        head = {"row": "fault", **self.head(contest), **_used(contest, course)}
        return {**head, **said, "try": number, "turns": len(course.turns)}

    def head(self, contest: PlannedGame) -> EpisodeRow:
        """Returns the first keys of a game's line."""
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
        }


def _used(contest: PlannedGame, course: GameCourse) -> EpisodeRow:
    """Returns the usage of a game, in all and by player."""
    usages = {name: UsageTotals() for name in contest.players}
    for number, seated in enumerate(course.seated.values()):
        usages[contest.players[min(number, 1)]].add(seated.usage)
    total = UsageTotals()
    for usage in usages.values():
        total.add(usage)
    return {
        "usage": vars(total) if total.calls else {},
        "usages": {name: dict(vars(usage)) for name, usage in usages.items() if usage.calls},
    }
