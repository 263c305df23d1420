"""The live display of a run, and tables in the terminal."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from agentgym_envs.evaluate.budget import Budget
from agentgym_envs.evaluate.metrics import wilson
from agentgym_envs.evaluate.record import Row
from agentgym_envs.evaluate.tables import Table

COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(bar_width=24),
    MofNCompleteColumn(),
    TextColumn("{task.fields[news]}"),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
)


class Display:
    """Episodes, success so far with its interval, faults, tokens, cost and time.

    Args:
        console: where to.
        title: what is played.
        done: lines of earlier runs.
        total: episodes in all.
        budget: what is used.
    """

    def __init__(self, console: Console, title: str, done: Sequence[Row], total: int, budget: Budget):
        self._budget, self._done, self._solved, self._faults = budget, 0, 0, 0
        self._progress = Progress(*COLUMNS, console=console, transient=True)
        self._bar = self._progress.add_task(title, total=total, news="")
        for row in done:
            self._count(row)

    def __enter__(self) -> Self:
        self._progress.start()
        self._show()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
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
    """Prints a table, without the columns at its end that the terminal has no room for."""
    for number in range(len(table.columns), 0, -1):
        drawn = _drawn(table, table.columns[:number], title)
        if console.measure(drawn, options=console.options.update(max_width=10_000)).maximum <= console.width:
            break
    console.print(drawn)
    if number < len(table.columns):
        left_out = ", ".join(head for _, head in table.columns[number:])
        console.print(f"{left_out}: in a wider terminal, and in the page of agentgym report", style="dim")


def _drawn(table: Table, columns: Sequence[tuple[str, str]], title: str) -> RichTable:
    drawn = RichTable(title=title, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, (_, head) in enumerate(columns):
        drawn.add_column(head, justify="right" if number else "left", no_wrap=True)
    for line in table.lines:
        drawn.add_row(*(str(line.get(key, "")) for key, _ in columns))
    return drawn
