"""Pages of results whose long tables are in a CSV file beside them."""

import csv
from collections.abc import Callable
from pathlib import Path


def write(page: Path, text: str, shown: Callable[[list[str]], bool]) -> str:
    """Writes a page. If it does not show all rows of its tables, a CSV file beside it has them.

    A line of the CSV file begins with the heading above its table. Returns the text of the page.

    Args:
        page: the Markdown file.
        text: the page with all rows of its tables.
        shown: whether the page shows a row, from its cells.
    """
    kept, rows, heading, place = [], [], "", 0
    for line in text.splitlines():
        place = place + 1 if line.startswith("|") else 0  # 1: the names; 2: the rule below them
        if line.startswith("#"):
            heading = line.strip("# ")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if place and place != 2:
            rows.append([heading, *cells])
        if place < 3 or shown(cells):
            kept.append(line)
    if len(kept) < len(text.splitlines()):
        kept += ["", f"[{page.stem}.csv]({page.stem}.csv) has all rows."]
        with page.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    page.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return page.read_text(encoding="utf-8")
