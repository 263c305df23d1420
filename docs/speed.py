"""The measured speed of each family of environments, read from ``benchmarks/results``."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parents[1] / "benchmarks/results"


class Source(NamedTuple):
    """The rows of a results file that are about a family.

    Attributes:
        file: name of the file.
        rows: beginning of the first cell of these rows; empty for all rows.
    """

    file: str
    rows: str = ""


SOURCES = {
    "babyai": Source("env_throughput.md", "BabyAI "),
    "household": Source("household.md"),
    "scienceworld": Source("env_throughput.md", "ScienceWorld, "),
    "shop": Source("shop.md"),
    "textcraft": Source("textcraft_speed.md"),
    "textworld": Source("env_throughput.md", "TextWorld, "),
    "tools": Source("tools.md"),
    "web": Source("web_throughput.md"),
    "websites": Source("web_scale.md"),
}


def speed(family: str) -> str:
    """Returns the section "Speed" of a family's page: commands, conditions and tables.

    Raises:
        ValueError: the results file has none of the family's rows.
    """
    if family not in SOURCES:
        return "## Speed\n\nThe speed of these environments has not been measured.\n"
    source, parts = SOURCES[family], ["## Speed"]
    for notes, head, rows in tables((RESULTS / source.file).read_text(encoding="utf-8")):
        if chosen := [row for row in rows if row.startswith(f"| {source.rows}")]:
            parts += [note for note in notes if note not in parts]
            parts.append("\n".join([*head, *chosen]))
    if not any("`python benchmarks/" in part for part in parts):
        raise ValueError(f"{source.file} has no command, or no row that begins {source.rows!r}")
    return "\n\n".join([*parts, f"[All figures](../results/{source.file})"]) + "\n"


def tables(text: str) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yields the notes, the two head lines and the rows of each table of a results file.

    Notes are the paragraphs above a table. They also hold for the tables that follow directly.
    """
    notes: list[str] = []
    after_table = False
    for block in text.strip().split("\n\n")[1:]:
        if block.startswith("|"):
            lines = block.splitlines()
            yield notes, lines[:2], lines[2:]
        else:
            notes = [block] if after_table else [*notes, block]
        after_table = block.startswith("|")
