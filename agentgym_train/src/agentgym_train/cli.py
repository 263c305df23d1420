"""``agentgym-train``: run, eval, plugins, config show."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from agentgym_envs.cli import user_errors
from agentgym_envs.plugins import ENVIRONMENTS, discover, distribution
from agentgym_train import config as configuration
from agentgym_train.launch import launch_command
from agentgym_train.plugins import GROUPS

app = typer.Typer(help="Multi-turn reinforcement learning for language-model agents.", no_args_is_help=True, add_completion=False)
config_app = typer.Typer(help="Configurations.", no_args_is_help=True)
app.add_typer(config_app, name="config")
out = Console()

ConfigFile = Annotated[Path, typer.Argument(help="A TOML file.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="Replaces a value: a.b=c.")]


@app.command()
@user_errors
def run(
    config_file: ConfigFile,
    set_: Overrides = None,
    processes: Annotated[int, typer.Option(min=1, help="Training processes on this machine.")] = 1,
    hostfile: Annotated[Path | None, typer.Option(help="DeepSpeed's list of machines that share the run folder.")] = None,
) -> None:
    """Trains; run again, it goes on from the newest checkpoint."""
    from agentgym_train import report
    from agentgym_train import run as runs

    config = configuration.load(config_file, set_ or [])
    with report.Display(out) as display:
        runs.prepare(config, display)
    folder = Path(config.run.folder)
    if processes == 1 and hostfile is None:
        work(folder)
    else:
        raise typer.Exit(subprocess.call(launch_command(folder, processes, hostfile)))


@app.command(hidden=True)
@user_errors
def work(folder: Path) -> None:
    """One process of a run; started by the launcher."""
    from agentgym_train import run as runs
    from agentgym_train.engine.deepspeed import end_process

    runs.work(folder, out)
    end_process()


@app.command("eval")
@user_errors
def evaluate(
    checkpoint: Annotated[Path, typer.Argument(help="A run folder, a checkpoint, or a model folder.")],
    config_file: Annotated[Path | None, typer.Option("--config", help="A TOML file; that of the run without it.")] = None,
    set_: Overrides = None,
) -> None:
    """Plays held-out tasks with a checkpoint."""
    from agentgym_train import run as runs

    runs.evaluate_checkpoint(checkpoint, config_file, set_ or [], out)


@app.command("plugins")
@user_errors
def list_plugins() -> None:
    """Lists algorithms, curricula, generators and environments, ours and installed ones."""
    table = Table("kind", "name", "from")
    for kind, group in {**GROUPS, "environment": ENVIRONMENTS}.items():
        for name, point in discover(group).items():
            table.add_row(kind, name, distribution(point))
    out.print(table)


@config_app.command("show")
@user_errors
def show(config_file: ConfigFile, set_: Overrides = None) -> None:
    """Prints a configuration with every default written out."""
    out.print(configuration.dumps(configuration.load(config_file, set_ or [])), markup=False, highlight=False)


if __name__ == "__main__":
    app()
