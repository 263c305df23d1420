"""Tables in the terminal.

Names of models and folders, and errors, are shown as they are, never as markup.
"""

from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from agentgym_envs.evaluate import tables
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.evaluate.tables import ResultTable, TableLine
from agentgym_envs.terminal import ENDLESS

FORMATS: Mapping[str, str] = {  # key of a line's number to how it is written
    "success": "{success:.3f}",
    "low": "{low:.2f}–{high:.2f}",
    "least": "{least:.2f}–{most:.2f}",
    "score": "{score:.3f}",
    "pass": "{pass:.3f} @{k}",
    "all": "{all:.3f} ^{k}",
    "turns": "{turns:.1f}",
    "invalid": "{invalid:.2f}",
    "truncated": "{truncated:.2f}",
    "refused": "{refused:.2f}",
    "cut": "{cut:.2f}",
    "tokens": "{tokens:,.0f}",
    "any": "{any:.3f}",
}


NAMES = 14  # columns that names keep in a narrow terminal before a column is omitted
PUBLISHED = "success beside published figures"  # the title of a table


def show(console: Console, table: ResultTable, title: str) -> list[str]:
    """Prints a table and its notes.

    In a narrow terminal, long names take several lines; the last columns that still do not fit are
    omitted.

    Returns the keys of the printed columns.
    """
    shown = _show_lines(console, table, title) if table.lines else []
    if table.warning:
        console.print(Text(table.warning, style="yellow"))
    for note in table.notes:
        console.print(Text(note, style="dim"))
    return shown


def show_results(
    console: Console, rows: Sequence[EpisodeRow], title: str, remarks: Sequence[str] = ()
) -> list[str]:
    """Prints the tables of a run that has episodes or faults.

    Args:
        console: where to.
        rows: the lines of the run, and rows of its missing episodes.
        title: of the first table.
        remarks: further notes.

    Returns:
        The sentences of the legend for what was printed.
    """
    if not any(row["row"] != "missing" for row in rows):
        return []
    table = tables.results(rows)
    shown = show(console, table, title)
    for remark in remarks:  # with commands, which a terminal can copy from several lines
        console.print(Text(remark, style="dim"), soft_wrap=True)
    for note in tables.notes(rows):
        console.print(Text(note, style="dim"))
    published = tables.published([("this run", rows)])
    if published:
        show(console, published, PUBLISHED)
    return table.meanings(shown)


def show_legend(console: Console, sentences: Iterable[str]) -> None:
    """Prints the sentences of a legend."""
    if text := " ".join(sentences):
        console.print(Text(text, style="dim"))


def _show_lines(console: Console, table: ResultTable, title: str) -> list[str]:
    for number in range(len(table.columns), 0, -1):
        narrow = _drawn(table, table.columns[:number], title, names=NAMES)
        unlimited = console.options.update(max_width=ENDLESS)
        if console.measure(narrow, options=unlimited).maximum <= console.width:
            break
    console.print(_drawn(table, table.columns[:number], title))
    if number < len(table.columns):
        left_out = ", ".join(head for _, head in table.columns[number:])
        console.print(
            Text(
                f"{left_out}: in a wider terminal, in a pipe, and in the page of agentgym report",
                style="dim",
            )
        )
    return [key for key, _ in table.columns[:number]]


def _drawn(
    table: ResultTable, columns: Sequence[tuple[str, str]], title: str, names: int | None = None
) -> RichTable:
    """Draws a table, whose first column takes the columns of the terminal that are left to it.

    ``names``: the most that the first column takes.
    """
    drawn = RichTable(
        title=Text(title, style="italic"), box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for number, (_, head) in enumerate(columns):
        if number:
            drawn.add_column(Text(head), justify="right", no_wrap=True)
        else:
            drawn.add_column(Text(head), overflow="fold", max_width=names)
    for line in table.lines:
        drawn.add_row(*(Text(_written(line, key)) for key, _ in columns))
    return drawn


def _written(line: TableLine, key: str) -> str:
    """Returns a line's value as text; empty where it has none."""
    if line.get(key) is None:
        return ""
    return FORMATS[key].format_map(line) if key in FORMATS else str(line[key])
