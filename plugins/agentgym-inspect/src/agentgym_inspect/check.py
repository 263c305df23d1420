"""The command ``agentgym-inspect``: an exit code for logs, because ``inspect eval`` has none."""

from pathlib import Path
from typing import Annotated

import typer
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

app = typer.Typer(add_completion=False)


@app.command()
def main(
    logs: Annotated[list[Path], typer.Argument(help="Logs, or folders of logs.", exists=True)],
) -> None:
    """Checks that every sample of every log has a score. Exit code 1: one has none."""
    names = [name for path in logs for name in list_eval_logs(str(path))]
    if not names:
        typer.echo(f"no log in {', '.join(map(str, logs))}", err=True)
        raise typer.Exit(1)
    faults = 0
    for name in names:
        log = read_eval_log(name)
        found = problems(log)
        faults += len(found)
        typer.echo(f"{Path(name.name).name}: {'; '.join(found) or 'all samples have scores'}")
    raise typer.Exit(1 if faults else 0)


def problems(log: EvalLog) -> list[str]:
    """Returns what a log lacks."""
    found = [] if log.status == "success" else [f"its status is {log.status!r}"]
    if log.eval.config.limit is None:
        planned = len(log.eval.dataset.sample_ids or ()) * (log.eval.config.epochs or 1)
    else:
        planned = log.results.total_samples if log.results else 0
    samples = log.samples or []
    errors = [sample for sample in samples if sample.error]
    unscored = [s for s in samples if not s.error and not _scored(s.scores)]
    if len(samples) < planned:
        found.append(f"{planned - len(samples)} of {planned} samples were not played")
    if errors:
        first = (errors[0].error.message if errors[0].error else "").splitlines()[:1]
        found.append(f"{len(errors)} of {planned} samples failed, first: {''.join(first)}")
    if unscored:
        found.append(f"{len(unscored)} of {planned} samples have no score")
    return found


def _scored(scores: object) -> bool:
    values = [one.value for one in scores.values()] if isinstance(scores, dict) else []
    return bool(values) and all(value == value for value in values)  # not NaN
