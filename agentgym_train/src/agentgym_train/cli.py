"""``agentgym-train``: run, plan, eval, plugins, config show."""

import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from agentgym_envs.cli import user_errors
from agentgym_envs.errors import AgentGymError
from agentgym_envs.plugins import ENVIRONMENTS, discover, distribution
from agentgym_envs.terminal import tolerate_any_encoding, version_option
from agentgym_train import config as configuration
from agentgym_train.plugins import KINDS, culprit, resolved
from agentgym_train.reward.config import load
from agentgym_train.run.launch import check_launcher, launch_command, process_count

app = typer.Typer(
    help="Multi-turn reinforcement learning for language-model agents.",
    no_args_is_help=True,
    add_completion=False,
)
config_app = typer.Typer(help="Configurations.", no_args_is_help=True)
app.add_typer(config_app, name="config")
out = Console()
err = Console(stderr=True)

ConfigFile = Annotated[Path, typer.Argument(help="A TOML file.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="Replaces a value: a.b=c.")]


@app.callback()
def start(
    version: Annotated[bool, version_option("agentgym-train", "agentgym-envs")] = False,
) -> None:
    """Prepares the standard streams for any text."""
    tolerate_any_encoding()


@app.command()
@user_errors
def run(
    config_file: ConfigFile,
    set_: Overrides = None,
    processes: Annotated[int, typer.Option(min=1, help="Training processes on this machine.")] = 1,
    hostfile: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="DeepSpeed's list of machines that share the run folder.",
        ),
    ] = None,
) -> None:
    """Trains a policy, or a reward model if the file has comparisons.

    A repeated call resumes from the newest checkpoint.
    """
    check_launcher(os.environ)
    from agentgym_train.engine import checkpoint
    from agentgym_train.reporting import report
    from agentgym_train.run.prepare import prepare

    config = load(config_file, set_ or [])
    count = process_count(processes, hostfile)
    with report.Display(out) as display:
        lock = prepare(config, display, processes=count)
    lock.share()
    folder = Path(config.run.folder)
    here = processes == 1 and hostfile is None
    status = (
        attempt(folder) if here else subprocess.call(launch_command(folder, processes, hostfile))
    )
    if status:
        err.print(
            checkpoint.where_to_go_on(folder, steps=config.run.steps),
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    if here:
        leave(status)
    raise typer.Exit(status)


@app.command()
@user_errors
def plan(
    config_file: ConfigFile,
    gpus: Annotated[int, typer.Option(min=1, help="Cards, each with one process.")] = 1,
    memory: Annotated[float, typer.Option(min=0.001, help="Memory of a card, in GiB.")] = 80.0,
    set_: Overrides = None,
) -> None:
    """Shows the memory that each card needs, and settings with which a run fits.

    No weights are loaded. The exit status is 1 if the run does not fit.
    """
    from agentgym_train.planning.command import show_plan

    raise typer.Exit(0 if show_plan(load(config_file, set_ or []), gpus, memory, out) else 1)


@app.command(hidden=True)
def work(folder: Path) -> None:
    """One process of a run; started by the launcher."""
    leave(attempt(folder))


def attempt(folder: Path) -> int:
    """Does one process's share of a run and shows what went wrong; returns the exit status."""
    try:
        from agentgym_train.run import work as process

        process.work(folder, out)
    except KeyboardInterrupt:
        err.print("interrupted")
    except AgentGymError as error:
        err.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
    except Exception as error:
        traceback.print_exc()
        if (plugin := culprit(error)) is not None:
            err.print(f"raised in {plugin}", style="red", markup=False, soft_wrap=True)
    else:
        return 0
    return 1


def leave(status: int) -> NoReturn:
    """Ends a training process at once, since gloo's threads abort an interpreter that shuts down.

    See ``end_process``.
    """
    if status == 0:
        from agentgym_train.engine.deepspeed import end_process

        end_process()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


@app.command("eval")
@user_errors
def evaluate(
    checkpoint: Annotated[
        Path, typer.Argument(help="A run folder, a checkpoint, or a model folder.")
    ],
    config_file: Annotated[
        Path | None, typer.Option("--config", help="A TOML file (default: the run's).")
    ] = None,
    set_: Overrides = None,
) -> None:
    """Plays held-out tasks with a checkpoint."""
    from agentgym_train.run.work import evaluate_checkpoint

    evaluate_checkpoint(checkpoint, config_file, set_ or [], out)


@app.command("plugins")
@user_errors
def list_plugins() -> None:
    """Lists the installed environments and plugins of all kinds, built-in ones included."""
    table = Table("kind", "name", "from")
    for kind, group in {
        **{kind.section: kind.group for kind in KINDS},
        "environment": ENVIRONMENTS,
    }.items():
        for name, point in discover(group).items():
            table.add_row(kind, name, distribution(point))
    out.print(table)


@config_app.command("show")
@user_errors
def show(config_file: ConfigFile, set_: Overrides = None) -> None:
    """Prints a configuration with all defaults, those of its plugins included."""
    out.print(
        configuration.dumps(resolved(load(config_file, set_ or []))),
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    app()
