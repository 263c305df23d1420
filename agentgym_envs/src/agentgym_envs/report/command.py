"""``agentgym report``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import left_out, tables
from agentgym_envs.evaluate import record as records
from agentgym_envs.evaluate.display import PUBLISHED, show, show_results
from agentgym_envs.evaluate.folders import expanded, named
from agentgym_envs.feedback.judged import judged
from agentgym_envs.feedback.record import read, standing
from agentgym_envs.report.data import Run, Section
from agentgym_envs.report.html import replaces, write_report
from agentgym_envs.terminal import Output

PAIRED = "the same tasks in both"  # the title of a table
out = Output(markup=False, emoji=False, highlight=False)
err = Output(stderr=True, markup=False, emoji=False, highlight=False)


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
    runs = [(name, folder, _read(folder)) for name, folder in zip(named(found), found, strict=True)]
    named_rows = [(name, rows) for name, _, rows in runs]
    judgements = judged(standing(read(comparisons)[0]), named_rows) if comparisons else None
    write_report(
        page,
        [shown_run(*run) for run in runs],
        sections=shown_sections(named_rows),
        comparisons=judgements,
        legend=tables.LEGEND,
    )
    for name, folder, rows in runs:
        absent = left_out.recorded(records.read_settings(folder))
        show_results(out, rows, name, left_out.remarks(rows, absent))
    if compared := tables.pairings(named_rows):
        show(out, compared, PAIRED)
    for note in judgements["notes"] if judgements else []:
        out.print(note)
    out.print(tables.LEGEND, style="dim")
    out.print(f"{verb} {page}", soft_wrap=True)


def _read(folder: Path) -> list[records.Row]:
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


def shown_run(name: str, folder: Path, rows: list[records.Row]) -> Run:
    """Returns a run for the page, with its table as numbers."""
    table = tables.results(rows)
    columns = [
        column for key, head in table.columns for column in tables.IN_PAGE.get(key, [(key, head)])
    ]
    settings = records.read_settings(folder)
    absent = left_out.remarks(rows, left_out.recorded(settings))
    notes = [*table.notes, *absent, *tables.notes(rows)]
    return Run(
        name=name,
        settings=settings,
        rows=rows,
        table=table.lines,
        columns=columns,
        notes=notes,
        folder=folder,
        prompts=records.prompts(folder),
    )


def shown_sections(runs: Sequence[tuple[str, Sequence[records.Row]]]) -> list[Section]:
    """Returns the tables for the page that compare runs with each other and with the paper."""
    found = {PAIRED: tables.pairings(runs), PUBLISHED: tables.published(runs)}
    return [
        Section(title.capitalize(), table.columns, table.lines, table.notes)
        for title, table in found.items()
        if table
    ]
