"""``agentgym-train``: run, prepare, work, plan, eval, plugins, config show."""

import os
import sys
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.table import Column, Table

from agentgym_envs.cli import user_errors
from agentgym_envs.errors import AgentGymError
from agentgym_envs.plugins import ENVIRONMENTS, discover, distribution
from agentgym_envs.stopping import GRACE, follow, stop
from agentgym_envs.terminal import CommandConsole, tolerate_any_encoding, version_option
from agentgym_train import config as configuration
from agentgym_train.config import Config
from agentgym_train.files import FolderLock
from agentgym_train.plugins import KINDS, culprit, resolved
from agentgym_train.reward.config import RewardConfig, load
from agentgym_train.run import hosts as run_variables
from agentgym_train.run.hosts import check_hosts, launcher_variables, read_hosts
from agentgym_train.run.launch import (
    FOLLOW,
    LIMIT,
    LaunchedProcesses,
    check_launcher,
    check_prepared,
    follow_command,
    join_launcher,
    launch_command,
    parent_ended,
)
from agentgym_train.run.ports import free_port

app = typer.Typer(
    help="Multi-turn reinforcement learning for language-model agents.",
    no_args_is_help=True,
    add_completion=False,
)
config_app = typer.Typer(help="Configurations.", no_args_is_help=True)
app.add_typer(config_app, name="config")
out = CommandConsole()
err = CommandConsole(stderr=True)

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

    config = load(config_file, set_ or [])
    hosts = read_hosts(hostfile) if hostfile else {}
    port = check_hosts(hosts) if hosts else free_port()
    lock = get_ready(config, sum(hosts.values()) or processes)
    lock.share()
    folder = Path(config.run.folder)
    here = processes == 1 and not hosts
    status = attempt(folder) if here else launch(folder, processes, hostfile, port=port)
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


def get_ready(config: Config | RewardConfig, processes: int) -> FolderLock:
    """Checks a run and prepares its folder; returns the folder's lock."""
    from agentgym_train.reporting import report
    from agentgym_train.run.prepare import prepare as prepare_folder

    with report.RunDisplay(out) as display:
        return prepare_folder(config, display, processes=processes)


def launch(folder: Path, processes: int, hostfile: Path | None, *, port: int) -> int:
    """Starts the processes of a prepared run and waits for them; returns the exit status."""
    stop.grace = LIMIT + GRACE
    try:
        with ExitStack() as stack:
            ours = {**launcher_variables(os.environ), FOLLOW: "1"}
            file = hostfile and stack.enter_context(run_variables.carried_variables(folder, ours))
            command = launch_command(folder, processes, hostfile, port=port, variables=file)
            launched = stack.enter_context(LaunchedProcesses(command, ours))
            stop.last.append(launched.kill)
            return launched.wait()
    except KeyboardInterrupt:
        err.print("interrupted")
        return stop.exit_status


@app.command("prepare")
@user_errors
def prepare_run(
    config_file: ConfigFile,
    set_: Overrides = None,
    processes: Annotated[int, typer.Option(min=1, help="Training processes of all machines.")] = 1,
) -> None:
    """Prepares a run whose processes another launcher starts, with the command `work`.

    A repeated call prepares the run to resume, also with another number of processes.
    """
    check_launcher(os.environ, "prepare")
    config = load(config_file, set_ or [])
    get_ready(config, processes).release()
    out.print(
        f"{config.run.folder} is ready for {processes} processes. Start in each of them, with"
        f" torchrun, srun or Kubernetes: agentgym-train work {config.run.folder}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


@app.command()
@user_errors
def work(
    folder: Annotated[Path, typer.Argument(help="A run folder from `prepare`.")],
    variables: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Does one process's share of a prepared run. Each process is started by another launcher.

    A repeated start of all processes resumes from the newest checkpoint.
    """
    stop.repeats = False  # a terminal and a launcher can both send the signal of one stop
    if variables:
        run_variables.adopt_variables(variables, os.environ)
    followed = os.environ.pop(FOLLOW, "") == "1"
    if followed:
        follow_command()
    elif "TORCHELASTIC_RUN_ID" in os.environ:
        follow(parent_ended)
    check_prepared(folder, join_launcher(os.environ))
    leave(attempt(folder, quiet=followed))


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


def attempt(folder: Path, *, quiet: bool = False) -> int:
    """Does one process's share of a run and shows what went wrong; returns the exit status.

    ``quiet``: another process says that the run was interrupted.
    """
    from agentgym_train.engine import watchdog

    stop.first.append(watchdog.hold)
    try:
        from agentgym_train.run import work as process

        process.work(folder, out)
    except (KeyboardInterrupt, Exception) as error:
        if stop.number or isinstance(error, KeyboardInterrupt):
            watchdog.hold()
            if not quiet and os.environ.get("LOCAL_RANK", "0") == "0":
                err.print("interrupted")
            return stop.exit_status
        return explain(error)
    return 0


def explain(error: Exception) -> int:
    """Shows what ended this process's share of a run; returns the exit status."""
    from agentgym_train.engine import watchdog

    if isinstance(error, AgentGymError):
        watchdog.hold()
        err.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
    else:
        watchdog.wait()
        traceback.print_exception(error)
        if (plugin := culprit(error)) is not None:
            err.print(f"raised in {plugin}", style="red", markup=False, soft_wrap=True)
    return 1


def leave(status: int) -> NoReturn:
    """Ends a training process at once, since gloo's threads abort an interpreter that shuts down.

    See ``end_process``.
    """
    if not stop.number:
        stop.release()
    if status == 0 and not stop.number:
        from agentgym_train.engine.rendezvous import end_process

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
    table = Table(*(Column(head, overflow="fold") for head in ("kind", "name", "from")))
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
