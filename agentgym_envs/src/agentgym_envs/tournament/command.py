"""``agentgym tournament``."""

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from agentgym_envs.evaluate.display import show
from agentgym_envs.evaluate.record import EPISODES, Record
from agentgym_envs.evaluate.settings import Settings
from agentgym_envs.keywords import keywords
from agentgym_envs.tasks import select, spread
from agentgym_envs.tournament.schedule import Contest, Tournament, check_game, schedule
from agentgym_envs.tournament.standings import LEGEND, standings

out = Console(markup=False, emoji=False, highlight=False)
err = Console(stderr=True, markup=False, emoji=False, highlight=False)


def tournament(
    game: Annotated[str, typer.Argument(help='A registered game of two seats, or "module:id".')],
    players: Annotated[
        list[str],
        typer.Argument(
            help="random, oracle, a player of the game, or model:NAME at OPENAI_BASE_URL."
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
) -> None:
    """Plays each pair of players on each task in both seats, and rates them.

    A second run plays only the missing games.
    """
    kwargs = keywords(set_)
    tasks = check_game(game, kwargs, players)
    ids = select(tasks, split, task)
    contests = schedule(players, tasks, spread(ids, len(ids) if episodes is None else episodes))
    settings = Settings(target=game, split=split, agent="tournament", format=None, kwargs=kwargs)
    folder = out_ or Path("results") / re.sub(r"[^\w.-]+", "-", f"{game}-tournament")
    record = Record(folder, settings)
    try:
        if record.cut:
            err.print(
                f"warning: {folder / EPISODES} ended in half a line, which is dropped",
                style="yellow",
                soft_wrap=True,
            )
        held = Tournament(game, kwargs, tasks, settings.key, record, concurrency)
        _carry_out(held, contests)
        left = held.missing(contests)
        show(out, standings(held.rows(contests), players, left), f"{game}, {split}")
    finally:
        record.close()
    out.print(LEGEND, style="dim")
    out.print(f"{folder}: {len(contests) - len(left)} of {len(contests)} games", soft_wrap=True)
    if left:
        why = (
            held.stopped or f"each of their tries failed, the last with: {_last_error(record.rows)}"
        )
        err.print(
            f"{len(left)} games are missing: {why}. The same command plays them",
            style="yellow",
            soft_wrap=True,
        )
        raise typer.Exit(1)


def _carry_out(held: Tournament, contests: list[Contest]) -> None:
    """Plays all games with a progress bar; Ctrl-C keeps the finished games."""
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    left = len(held.missing(contests))
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task(held.game_id, total=len(contests), completed=len(contests) - left)
        held.on_row = lambda row: progress.advance(bar, row["row"] == "episode")
        held.run(contests)


def _last_error(rows: list[dict[str, object]]) -> str:
    return next((str(row["error"]) for row in reversed(rows) if row["row"] == "fault"), "")
