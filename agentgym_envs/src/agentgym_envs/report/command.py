"""``agentgym report``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import left_out, planned, tables
from agentgym_envs.evaluate import record as records
from agentgym_envs.evaluate.display import PUBLISHED, show, show_legend, show_results
from agentgym_envs.evaluate.folders import expanded, named
from agentgym_envs.feedback.judged import judged
from agentgym_envs.feedback.record import read, standing
from agentgym_envs.report.data import ReportRun, ReportSection
from agentgym_envs.report.html import replaces, write_report
from agentgym_envs.terminal import CommandConsole

PAIRED = "the same tasks in both"  # the title of a table
out = CommandConsole(markup=False, emoji=False, highlight=False)
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Results of agentgym eval, or runs of agentgym-train.")
    ],
    page: Annotated[
        Path, typer.Option("--html", help="The page to write; an earlier report is replaced.")
    ] = Path("report.html"),
    comparisons: Annotated[
        Path | None, typer.Option(help="Comparisons of these episodes, from agentgym compare.")
    ] = None,
) -> None:
    """Prints the tables of runs, compares them, and writes an HTML page with their episodes."""
    verb = "replaced" if replaces(page) else "wrote"
    found = expanded(folders)
    places = dict(zip(named(found), found, strict=True))
    lines = {name: _read(folder) for name, folder in places.items()}
    judgements = judged(standing(read(comparisons)[0]), [*lines.items()]) if comparisons else None
    settings = {name: records.read_settings(folder) for name, folder in places.items()}
    runs = [(name, planned.with_missing(rows, settings[name])) for name, rows in lines.items()]
    shown = [shown_run(name, places[name], rows, settings[name]) for name, rows in runs]
    write_report(
        page,
        shown,
        sections=shown_sections(runs),
        comparisons=judgements,
        legend=legend(shown),
    )
    meanings: list[str] = []
    for name, rows in runs:
        meanings += show_results(out, rows, name, remarks(rows, settings[name]))
    if compared := tables.pairings(runs):
        show(out, compared, PAIRED)
    for note in judgements["notes"] if judgements else []:
        out.print(note)
    show_legend(out, tables.in_order(meanings))
    out.print(f"{verb} {page}", soft_wrap=True)


def remarks(rows: Sequence[records.EpisodeRow], settings: Mapping[str, Any]) -> list[str]:
    """Returns what a reader must know of the families and episodes that a folder lacks."""
    return [*planned.remark(settings), *left_out.remarks(rows, left_out.recorded(settings))]


def _read(folder: Path) -> list[records.EpisodeRow]:
    """Reads the lines of a run."""
    rows, cut = records.read(folder)
    if cut:
        err.print(
            f"warning: {folder / records.EPISODES} ends in half a line",
            style="yellow",
            soft_wrap=True,
        )
    if not rows:
        raise ArgumentError(f"{folder} has no episodes yet")
    return rows


def shown_run(
    name: str, folder: Path, rows: list[records.EpisodeRow], settings: Mapping[str, Any]
) -> ReportRun:
    """Returns a run for the page, with its table as numbers.

    ``rows`` has the lines of the folder and rows of its missing episodes.
    """
    table = tables.results(rows)
    columns = [
        column for key, head in table.columns for column in tables.IN_PAGE.get(key, [(key, head)])
    ]
    notes = [*table.notes, *remarks(rows, settings), *tables.notes(rows)]
    return ReportRun(
        name=name,
        settings={key: value for key, value in settings.items() if key != "planned"},
        rows=[row for row in rows if row["row"] != "missing"],
        table=table.lines,
        columns=columns,
        notes=notes,
        warning=table.warning,
        legend=table.meanings(),
        folder=folder,
        prompts=records.prompts(folder),
    )


def legend(runs: Sequence[ReportRun]) -> str:
    """Returns the meaning of the columns of all runs."""
    return " ".join(tables.in_order({text for run in runs for text in run.legend}))


def shown_sections(runs: Sequence[tuple[str, Sequence[records.EpisodeRow]]]) -> list[ReportSection]:
    """Returns the tables for the page that compare runs with each other and with the paper."""
    found = {PAIRED: tables.pairings(runs), PUBLISHED: tables.published(runs)}
    return [
        ReportSection(
            title.capitalize(),
            table.columns,
            table.lines,
            [note for note in (table.warning, *table.notes) if note],
        )
        for title, table in found.items()
        if table
    ]
