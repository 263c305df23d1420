"""The live display of a run, and tables in the terminal.

Names of models and folders, and errors, are shown as they are, never as markup.
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as RichTable
from rich.text import Text

from agentgym_envs.evaluate import tables
from agentgym_envs.evaluate.budget import Budget
from agentgym_envs.evaluate.metrics import wilson
from agentgym_envs.evaluate.record import Row
from agentgym_envs.evaluate.tables import Line, Table

COLUMNS = (
    TextColumn("{task.description}", markup=False),
    BarColumn(bar_width=24),
    MofNCompleteColumn(),
    TextColumn("{task.fields[news]}", markup=False),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
)
FORMATS: Mapping[str, str] = {  # key of a line's number to how it is written
    "success": "{success:.3f}",
    "low": "{low:.2f}–{high:.2f}",
    "score": "{score:.3f}",
    "pass": "{pass:.3f} @{k}",
    "turns": "{turns:.1f}",
    "invalid": "{invalid:.2f}",
    "truncated": "{truncated:.2f}",
    "tokens": "{tokens:,.0f}",
    "any": "{any:.3f}",
}


PUBLISHED = "success in percent"  # the title of a table


class Display:
    """Episodes, success so far with its interval, faults, tokens, cost and time.

    Args:
        console: where to.
        title: the environment or suite.
        done: lines of earlier runs.
        total: episodes in all.
        budget: the used budget.
    """

    def __init__(
        self, console: Console, title: str, done: Sequence[Row], total: int, budget: Budget
    ):
        self._budget, self._done, self._solved, self._faults = budget, 0, 0, 0
        self._progress = Progress(*COLUMNS, console=console, transient=True)
        self._bar = self._progress.add_task(title, total=total, news="")
        for row in done:
            self._count(row)

    def __enter__(self) -> Self:
        self._progress.start()
        self._show()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def row(self, row: Row) -> None:
        """Takes a new line in."""
        self._count(row)
        self._show()

    def _count(self, row: Row) -> None:
        if row["row"] == "fault":
            self._faults += 1
        else:
            self._done += 1
            self._solved += bool(row["success"])

    def _show(self) -> None:
        used = self._budget.used
        parts = []
        if self._done:
            low, high = wilson(self._solved, self._done)
            parts.append(f"success {self._solved / self._done:.2f} ({low:.2f}–{high:.2f})")
        if used.tokens:
            parts.append(f"{used.tokens:,} tokens")
        if used.cost:
            parts.append(f"cost {used.cost:.2f}")
        if self._faults:
            parts.append(f"{self._faults} faults")
        self._progress.update(self._bar, completed=self._done, news=", ".join(parts))


def show(console: Console, table: Table, title: str) -> None:
    """Prints a table and its notes; omits last columns that do not fit the terminal."""
    if table.lines:
        _show_lines(console, table, title)
    for note in table.notes:
        console.print(Text(note, style="dim"))


def show_results(console: Console, rows: Sequence[Row], title: str) -> None:
    """Prints the tables of a run that has episodes or faults."""
    if not rows:
        return
    show(console, tables.results(rows), title)
    for note in tables.notes(rows):
        console.print(Text(note, style="dim"))
    published = tables.published([("this run", rows)])
    if published:
        show(console, published, PUBLISHED)


def _show_lines(console: Console, table: Table, title: str) -> None:
    for number in range(len(table.columns), 0, -1):
        drawn = _drawn(table, table.columns[:number], title)
        if (
            console.measure(drawn, options=console.options.update(max_width=10_000)).maximum
            <= console.width
        ):
            break
    console.print(drawn)
    if number < len(table.columns):
        left_out = ", ".join(head for _, head in table.columns[number:])
        console.print(
            Text(
                f"{left_out}: in a wider terminal, and in the page of agentgym report", style="dim"
            )
        )


def _drawn(table: Table, columns: Sequence[tuple[str, str]], title: str) -> RichTable:
    drawn = RichTable(
        title=Text(title, style="italic"), box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for number, (_, head) in enumerate(columns):
        drawn.add_column(Text(head), justify="right" if number else "left", no_wrap=True)
    for line in table.lines:
        drawn.add_row(*(Text(_written(line, key)) for key, _ in columns))
    return drawn


def _written(line: Line, key: str) -> str:
    """Returns a line's value as text; empty where it has none."""
    if line.get(key) is None:
        return ""
    return FORMATS[key].format_map(line) if key in FORMATS else str(line[key])
