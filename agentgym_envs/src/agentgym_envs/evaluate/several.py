"""Several models and targets in one command: each pair in its own folder, then one table."""

from collections.abc import Sequence

from rich.console import Console

from agentgym_envs.errors import AgentGymError
from agentgym_envs.evaluate import tables
from agentgym_envs.evaluate.display import show
from agentgym_envs.evaluate.job import Job
from agentgym_envs.evaluate.play_job import INTERRUPTED, Outcome, carry_out
from agentgym_envs.evaluate.tables import Line, Table

out = Console(markup=False, emoji=False, highlight=False)
err = Console(stderr=True, markup=False, emoji=False, highlight=False)


def carry_out_all(jobs: Sequence[Job]) -> bool:
    """Plays the jobs one after the other; returns whether all episodes are there.

    A job that fails does not stop the others.
    """
    done: list[tuple[Job, Outcome | None]] = []
    for job in jobs:
        outcome = _carried_out(job)
        done.append((job, outcome))
        if outcome and outcome.stopped == INTERRUPTED:
            break
    show(out, table(done), "success")
    return len(done) == len(jobs) and all(outcome and not outcome.left for _, outcome in done)


def table(done: Sequence[tuple[Job, Outcome | None]]) -> Table:
    """Returns a row per model and a column per target, and per family of a suite."""
    lines: dict[str, Line] = {}
    columns = {"player": ""}
    for job, outcome in done:
        line = lines.setdefault(job.player, {"player": job.player})
        cells = _cells(job.settings.target, outcome)
        columns |= {key: head for key, head, _ in cells}
        line |= {key: cell for key, _, cell in cells}
    marked = any("*" in str(cell) for line in lines.values() for cell in line.values())
    notes = ["*: episodes are missing; the figure is of those that were played"] if marked else []
    return Table(list(columns.items()), list(lines.values()), notes)


def _carried_out(job: Job) -> Outcome | None:
    """Plays a job; returns None after printing the error that ended it."""
    try:
        return carry_out(job)
    except AgentGymError as error:
        text = f"error: {job.player} on {job.settings.target}: {error}"
        err.print(text, style="red", soft_wrap=True)
        return None


def _cells(target: str, outcome: Outcome | None) -> list[tuple[str, str, str]]:
    """Returns key, head and text of a target's cells: the whole, and each family of a suite."""
    if outcome is None:
        return [(f"of {target}", target, "failed")]
    mark = "*" if outcome.left else ""
    found = tables.results(outcome.rows).lines
    families = [line for line in found if line["kind"] == "family"]
    means = [line for line in found if line.get("group") == "families"]
    whole = [(f"of {target}", target, _cell(line, mark)) for line in means or families]
    parts = [(f"of {target}: {f['name']}", f["name"], _cell(f, "")) for f in families]
    return (whole or [(f"of {target}", target, f"none{mark}")]) + (parts if means else [])


def _cell(line: Line, mark: str) -> str:
    if "success" not in line:
        return f"none{mark}"
    interval = f" ({line['low']:.2f}–{line['high']:.2f})" if "low" in line else ""
    return f"{line['success']:.3f}{mark}{interval}"
