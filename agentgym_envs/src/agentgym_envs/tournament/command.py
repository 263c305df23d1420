"""``agentgym tournament``."""

import math
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from agentgym_envs.errors import ProviderError
from agentgym_envs.evaluate.calls import AgentCaller
from agentgym_envs.evaluate.display import show, show_legend
from agentgym_envs.evaluate.live import ErrorPrinter
from agentgym_envs.evaluate.options import AgentTimeout, AllowVersionChange
from agentgym_envs.evaluate.prompt_limit import warning
from agentgym_envs.evaluate.record import EPISODES, EpisodeRow, RunRecord
from agentgym_envs.evaluate.sessions import SessionEntry, session
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.evaluate.tables import counted
from agentgym_envs.keywords import keywords
from agentgym_envs.tasks import select, spread
from agentgym_envs.terminal import CommandConsole
from agentgym_envs.tournament.competitor import TournamentPlayer, competitors
from agentgym_envs.tournament.loop import EventLoopThread
from agentgym_envs.tournament.players import players as read_players
from agentgym_envs.tournament.schedule import (
    TRIES,
    PlannedGame,
    TournamentRunner,
    checked_game,
    schedule,
)
from agentgym_envs.tournament.standings import meanings, shared_standings, standings

SELDOM = 10.0  # seconds between two reports of a server's failures
out = CommandConsole(markup=False, emoji=False, highlight=False)
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)


def tournament(
    game: Annotated[
        str,
        typer.Argument(help='A registered game, "module:id", "module:Class" or "./file.py:Class".'),
    ],
    players: Annotated[
        list[str],
        typer.Argument(
            help=(
                "random, oracle, a player of the game, AGENT:MODEL@URL, or FILE.toml with a table"
                " [[player]] for each player."
            )
        ),
    ],
    split: Annotated[str, typer.Option(help="train, dev or test.")] = "test",
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="A task id or glob pattern; can be repeated."),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(min=1, help="Tasks, evenly spaced over the split; default: all."),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A keyword of the game, such as columns=4.")
    ] = None,
    out_: Annotated[
        Path | None,
        typer.Option("--out", help="The folder of results; default: results/ID-tournament."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Games at a time.")] = 8,
    agent_timeout: AgentTimeout = 3600.0,
    allow_version_change: AllowVersionChange = False,
) -> None:
    """Plays each pair of players on each task in both seats, and rates them.

    A second run plays only the missing games.
    """
    kwargs, entered = keywords(set_), read_players(players)
    played = checked_game(game, kwargs)
    settings = RunSettings(target=game, split=split, agent="tournament", format=None, kwargs=kwargs)
    folder = out_ or Path("results") / re.sub(r"[^\w.-]+", "-", f"{game}-tournament").lstrip("-.")
    with ExitStack() as stack:
        loop, caller = stack.enter_context(closing(EventLoopThread())), AgentCaller(agent_timeout)
        rivals = competitors(entered, played, loop, caller, connections=concurrency)
        for rival in rivals.values():
            stack.callback(rival.close)
        tasks = played.make_tasks()
        ids = select(tasks, split, task)
        chosen = spread(ids, len(ids) if episodes is None else episodes)
        contests = schedule(rivals, tasks, chosen, shared=played.cooperative)
        record = stack.enter_context(closing(_opened(folder, settings, rivals.values())))
        held = TournamentRunner(
            game, kwargs, tasks, rivals, loop, settings.key, record, concurrency
        )
        if missing := held.missing(contests):
            for rival in rivals.values() if record.rows else ():
                with suppress(ProviderError):  # the failure takes this player out later
                    _check([rival])
            record.begin(_session(game, rivals.values()), change=allow_version_change)
        record.plan(map(held.head, contests))
        if missing:
            _carry_out(held, contests)
        left = _summary(held, contests, f"{game}, {split}", shared=played.cooperative)
    if left:
        raise typer.Exit(1)


def _opened(folder: Path, settings: RunSettings, rivals: Iterable[TournamentPlayer]) -> RunRecord:
    """Opens the record. A new one is created only if all models can be had."""
    lines = folder / EPISODES
    if not lines.exists() or not lines.stat().st_size:
        _check(rivals)
    record = RunRecord(folder, settings)
    for torn in record.torn:
        _warn(f"warning: {torn} ended in half a line, which is dropped")
    return record


def _session(game: str, rivals: Iterable[TournamentPlayer]) -> SessionEntry:
    """Describes this start; the settings of a game's players name their servers."""
    return session([game], sys.argv[1:], [r.client.endpoint for r in rivals if r.client])


def _check(rivals: Iterable[TournamentPlayer]) -> None:
    """Asks the server of each player whether it has the model."""
    for rival in rivals:
        if rival.client:
            rival.loop.run(rival.client.check())


def _carry_out(held: TournamentRunner, contests: list[PlannedGame]) -> None:
    """Plays all games with a progress bar; Ctrl-C keeps the finished games."""
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    left = held.missing(contests)
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task(
            held.game_id, total=len(contests), completed=len(contests) - len(left)
        )

        def say(text: str) -> None:
            progress.console.print(text, soft_wrap=True)

        # By player, or by both players of a game.
        kinds: dict[str, ErrorPrinter] = defaultdict(lambda: ErrorPrinter(progress.console))

        def on_row(row: EpisodeRow) -> None:
            progress.advance(bar, row["row"] == "episode")
            if limit := row.get("prompt_limit"):
                kinds[row["family"]].add(warning(limit), begin=f"{row['family']}: ")
            if row["row"] == "fault":
                who = row["player"] or held.game_id
                more = f" (task {row['task_id']}, try {row['try']} of {TRIES})"
                kinds[who].add(row["error"], more, begin=f"{who}: ")

        held.on_row = on_row
        for player in held.players.values():
            if player.client:
                player.client.on_failure = _reporter(player.name, say)
        held.run(contests)


def _reporter(
    name: str, say: Callable[[str], None]
) -> Callable[[ProviderError, float | None], None]:
    """Returns a function that reports the failures of a server, seldom enough to be read."""
    latest = -math.inf

    def report(error: ProviderError, wait: float | None) -> None:
        nonlocal latest
        if wait is not None and time.monotonic() - latest > SELDOM:
            latest = time.monotonic()
            say(f"{name}: {error}; the next try follows in {wait:.1f} s")

    return report


def _summary(
    held: TournamentRunner, contests: list[PlannedGame], title: str, *, shared: bool
) -> int:
    """Prints the table, and why games are missing; returns their number."""
    left, rows = held.missing(contests), held.rows(contests)
    table = (shared_standings if shared else standings)(rows, list(held.players), left)
    shown = show(out, table, title)
    show_legend(out, meanings(table, shown, shared=shared))
    folder = held.record.folder
    out.print(f"{folder}: {len(contests) - len(left)} of {len(contests)} games", soft_wrap=True)
    if left:
        verb = "is" if len(left) == 1 else "are"
        missing = f"{counted(len(left), 'game')} {verb} missing"
        _warn(f"{missing}: {_why(held, left)}. The same command plays them")
    return len(left)


def _why(held: TournamentRunner, left: list[PlannedGame]) -> str:
    """Returns why games are missing, for each player that is at fault."""
    outs = {name: p.out for name, p in held.players.items() if p.out}
    reasons = [held.stopped] if held.stopped else []
    reasons += [f"{name} dropped out: {out}" for name, out in outs.items()]
    failed = {
        row["player"] or held.game_id: row["error"]
        for row in held.faults(left)
        if row["try"] == TRIES and row["player"] not in outs
    }
    if not reasons and len(failed) == 1:
        return f"each of their tries failed, the last with: {next(iter(failed.values()))}"
    reasons += [f"three tries of {who} failed, the last with: {e}" for who, e in failed.items()]
    return "; ".join(reasons)


def _warn(text: str) -> None:
    err.print(text, style="yellow", soft_wrap=True)
