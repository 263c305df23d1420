"""The command ``agentgym-verifiers``: an exit code for runs, because ``vf-eval`` has none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
import verifiers.v1 as vf
from pydantic import ValidationError
from verifiers.v1.cli.output import saved_config_path
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.utils.eval import plan_rollouts
from verifiers.v1.utils.trace_store import TRACES_FILE

from agentgym_envs.errors import AgentGymError

app = typer.Typer(add_completion=False)


@app.command()
def main(
    runs: Annotated[list[Path], typer.Argument(help="Runs, or folders of runs.", exists=True)],
) -> None:
    """Checks that every rollout of every run has a reward. Exit code 1: one has none."""
    found = [traces.parent for path in runs for traces in sorted(path.rglob(TRACES_FILE))]
    if not found:
        typer.echo(f"no run in {', '.join(map(str, runs))}", err=True)
        raise typer.Exit(1)
    faults = 0
    for run in found:
        problem = problems(run)
        faults += bool(problem)
        typer.echo(f"{run.name}: {problem or 'all rollouts have rewards'}")
    raise typer.Exit(1 if faults else 0)


def problems(run: Path) -> str:
    """Returns what a run lacks; empty if it lacks nothing."""
    path = saved_config_path(run)
    if path is None:
        return "it has no configuration"
    config = EvalConfig.model_validate_json(path.read_text())
    try:
        tasks = list(vf.load_taskset(config.env.taskset).select(config.select))
    except AgentGymError as error:
        return f"its tasks cannot be listed: {error}"
    episodes = list(_episodes(run))
    scored = [episode for episode in episodes if _scored(episode)]
    plan = plan_rollouts(tasks, config.num_rollouts, scored)
    owed = sum(count for _, _, count in plan)
    if not owed:
        return ""
    errors = [error.message for e in episodes for error in e.errors[-1:]]
    first = f", first error: {''.join(errors[0].splitlines()[:1])}" if errors else ""
    return f"{owed} of {len(plan) * config.num_rollouts} rollouts have no reward{first}"


def _episodes(run: Path) -> Iterator[vf.WireEpisode]:
    for line in (run / TRACES_FILE).read_text().splitlines():
        try:
            yield vf.WireEpisode.model_validate_json(line)
        except ValidationError:  # the run was killed while it wrote
            continue


def _scored(episode: vf.WireEpisode) -> bool:
    return episode.ok and all(trace.rewards for trace in episode.traces)
