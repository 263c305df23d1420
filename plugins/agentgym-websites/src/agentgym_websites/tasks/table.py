"""Counts the tasks for the README: ``python -m agentgym_websites.tasks.table``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from agentgym_websites.site import ORIGINS
from agentgym_websites.tasks.load import load
from agentgym_websites.tasks.template import KINDS

Task = Mapping[str, Any]
BANDS = ((2, 4), (5, 7), (8, 11), (12, 99))


def searches(task: Task) -> bool:
    """Returns whether the plan begins with a search for words of the task's text."""
    first = task["oracle"][0]
    return bool(first[0] == "enter" and first[3].lower() in task["intent"].lower())


def rows(tasks: Sequence[Task]) -> dict[str, Callable[[Task], bool]]:
    """Returns the table's rows: each has a condition for the tasks that it counts."""
    steps = [task["steps"] for task in tasks]
    bands = [(max(low, min(steps)), min(high, max(steps))) for low, high in BANDS]
    return {
        "all": lambda t: True,
        **{kind: lambda t, kind=kind: t["kind"] == kind for kind in KINDS},  # type: ignore[misc]
        **{
            f"{low}–{high} steps": lambda t, a=low, b=high: a <= t["steps"] <= b  # type: ignore[misc]
            for low, high in bands
        },
        "begins with a search for words of its text": searches,
        "begins otherwise": lambda t: not searches(t),
        "needs two sites": lambda t: len(t["sites"]) > 1,
    }


def table(tasks: Sequence[Task]) -> str:
    """Returns the numbers of templates and tasks, by the site where a task begins."""
    lines = [
        f"| templates / tasks | all | {' | '.join(ORIGINS)} |",
        "|---" * (len(ORIGINS) + 2) + "|",
    ]
    for name, fits in rows(tasks).items():
        found = [t for t in tasks if fits(t)]
        sites = [found, *([t for t in found if t["sites"][0] == site] for site in ORIGINS)]
        cells = [
            f"{len({t['intent_template_id'] for t in some})} / {len(some):,}" for some in sites
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    typer.echo(table(load()))
