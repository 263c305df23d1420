"""The page around the data: markup, style and script are files beside this one."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.files import replacing
from agentgym_envs.pages import page as pages
from agentgym_envs.report.data import ReportRun, ReportSection, write_blocks

PLACE = "<!-- data -->\n"
OWN = "agentgym_envs.report"
SCRIPTS = (
    "data.js",
    "overview.js",
    "charts.js",
    "list.js",
    "comparisons.js",
    "episode.js",
    "page.js",
)
TITLE, START = b"<title>Evaluation report</title>", 4096
"""Marks a report, within its first bytes."""
PACKED, SERVED = "packed.js", "served.js"
"""The last script: the data is in the page, or comes from ``agentgym view``."""
NONE: Mapping[str, Any] = {"notes": [], "pairs": []}


def write_report(
    path: Path,
    runs: Sequence[ReportRun],
    *,
    sections: Sequence[ReportSection] = (),
    comparisons: Mapping[str, Any] | None = None,
    legend: str = "",
) -> None:
    """Writes a report of one or several runs into one self-contained HTML file.

    The browser runs only the page's script: the content security policy names script and style by
    their hashes and allows only ``data:`` pictures. The data is base64 (see
    :mod:`agentgym_envs.report.data`) and is shown only as text.

    Args:
        path: the file; an existing one is replaced when the new one is complete.
        runs: the runs to show. Episodes of the same task and attempt can be read side by side.
        sections: tables below the results.
        comparisons: see :func:`agentgym_envs.feedback.judged.judged`.
        legend: the meaning of the columns.

    Raises:
        ArgumentError: the file cannot be written; an existing file stays unchanged.
    """
    if os.path.isdir(path):
        raise ArgumentError(
            f"cannot write {path}: it is a folder. Name a file in it, such as"
            f" {path / 'report.html'}"
        )
    before, after = page(PACKED).split(PLACE)
    try:
        with replacing(path) as file:
            file.write(before)
            more: dict[str, Any] = {
                "sections": sections,
                "comparisons": comparisons or NONE,
                "legend": legend,
            }
            write_blocks(runs, lambda name, text: _block(file.write, name, text), **more)
            file.write(after)
    except OSError as error:
        raise ArgumentError(
            f"cannot write {path}: {error.strerror}. Name a file in an existing folder"
        ) from error


def replaces(path: Path) -> bool:
    """Returns whether a report is in the place of a new one.

    Raises:
        ArgumentError: another file is there, which would be lost.
    """
    try:
        with path.open("rb") as file:
            start = file.read(START)
    except OSError:  # write_report says why a file cannot be written
        return False
    if start and TITLE not in start:
        raise ArgumentError(
            f"{path} exists and is not a report of agentgym: name another file with --html"
        )
    return bool(start)


def _block(write: Callable[[str], object], name: str, text: str) -> None:
    write(f'<script type="application/octet-stream;base64" id="{name}">{text}</script>\n')


def page(source: str, **more: str) -> str:
    """Returns the page without data.

    Args:
        source: ``PACKED`` or ``SERVED``.
        **more: more directives of the content security policy.
    """
    script = "\n".join(
        [
            *map(pages.resource, pages.SCRIPTS),
            *(pages.resource(name, OWN) for name in (*SCRIPTS, source)),
        ]
    )
    style = pages.resource(pages.STYLE)
    return pages.page(pages.resource("page.html", OWN), style=style, script=script, **more)
