"""The command ``agentgym``.

It lists, plays and checks environments, evaluates agents, compares episodes and builds games.
"""

import errno
import logging
import random
import threading
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.markdown import Markdown
from rich.markup import escape
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agentgym_envs import plugins, registry
from agentgym_envs.describe import description, readme
from agentgym_envs.envs.web.webarena.command import login
from agentgym_envs.errors import (
    AgentGymError,
    ArgumentError,
    ConformanceError,
    EnvRaised,
    MissingExtra,
    escaped,
)
from agentgym_envs.evaluate.command import evaluate
from agentgym_envs.example import example
from agentgym_envs.feedback.commands import compare, export
from agentgym_envs.keywords import keywords
from agentgym_envs.listing import listing
from agentgym_envs.report.command import report
from agentgym_envs.report.view import view
from agentgym_envs.serve.command import serve
from agentgym_envs.stopping import stop
from agentgym_envs.terminal import (
    CommandConsole,
    discard_unwritten,
    tolerate_any_encoding,
    version_option,
)
from agentgym_envs.tournament.command import tournament

if TYPE_CHECKING:
    from agentgym_envs.testing.kit import CheckResult

log = logging.getLogger(__name__)
app = typer.Typer(
    help="Text environments for language-model agents.", no_args_is_help=True, add_completion=False
)
out = CommandConsole(emoji=False, highlight=False)
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)

EnvId = Annotated[
    str,
    typer.Argument(help='A registered id, "module:id", "module:Class" or "./file.py:Class".'),
]
Split = Annotated[str, typer.Option(help="train, dev or test.")]
Tasks = Annotated[
    list[str] | None, typer.Option("--task", help="A task id or glob pattern; can be repeated.")
]
Kwargs = Annotated[
    list[str] | None, typer.Option("--set", help="A constructor keyword, such as level=10.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of processes; default: one per core.")
]


@app.callback()
def start(version: Annotated[bool, version_option("agentgym-envs")] = False) -> None:
    """Prepares the standard streams for any text."""
    tolerate_any_encoding()


def user_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Turns errors that a user can act on into one line and exit status 2.

    A command that a signal ends has the exit status 128 plus the number of the signal.
    """

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            with stop.handled():
                command(*args, **kwargs)
        except KeyboardInterrupt:
            err.print("interrupted")
            raise typer.Exit(stop.exit_status) from None
        except AgentGymError as error:
            err.print(f"error: {escaped(str(error))}", style="red", markup=False, soft_wrap=True)
            raise typer.Exit(2) from error
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            place = f" at {error.filename}" if error.filename else ""
            err.print(f"error: the disk is full{place}; complete results were kept", style="red")
            raise typer.Exit(2) from error
        finally:
            if stop.number:
                discard_unwritten()
                raise typer.Exit(stop.exit_status)

    return wrapped


@app.command("list")
@user_errors
def list_envs() -> None:
    """Lists all environments, including those of plugins, with a description.

    A mark shows games, missing extras and broken registrations. The last lines have the pip command
    for missing extras and the errors of broken registrations.
    """
    for line in listing(out.width):
        out.print(line, markup=False, soft_wrap=True)


@app.command()
@user_errors
def show(env_id: EnvId) -> None:
    """Shows an environment: keywords, tasks, rules, a transcript and its README.

    The oracle plays the transcript, unless the README holds one.
    """
    about, more = description(env_id), readme(env_id)
    if f"```text {env_id.rpartition(':')[2]} " not in more:
        about += f"\n## Transcript\n\n```text\n{example(env_id)}\n```\n"
    text = f"{about}\n{more}"
    out.print(Markdown(text) if out.is_terminal else text, markup=False, soft_wrap=True)


@app.command()
@user_errors
def play(
    env_id: EnvId,
    split: Split = "train",
    task: Tasks = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Picks the task.")] = None,
    headed: Annotated[
        bool, typer.Option("--headed", help="Show the browser of a web environment.")
    ] = False,
    set_: Kwargs = None,
) -> None:
    """Plays an environment in the terminal.

    An empty line lists the possible actions; Ctrl-D leaves.
    """
    shown = {"headed": True} if headed else {}
    env = registry.make(env_id, split=split, tasks=task, **shown, **keywords(set_))
    observation, info = env.reset(seed=random.randrange(2**31) if seed is None else seed)
    inner: Any = env.unwrapped
    out.print(inner.instructions, style="dim", markup=False)
    out.print(f"\n{observation}", markup=False)
    try:
        over = False
        while not over:
            action = input(f"{info['seat']}> " if "seat" in info else "> ")
            if not action.strip():
                out.print(", ".join(inner.actions()), style="dim", markup=False)
                continue
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            out.print(observation, markup=False)
        out.print(_ending(info))
    except EOFError:
        out.print()
    finally:
        env.close()


def _ending(info: dict[str, Any]) -> str:
    if "scores" in info:
        return (
            f"Over after {info['turn']} turns, score:"
            f" {', '.join(f'{seat} {score:.2f}' for seat, score in info['scores'].items())}."
        )
    return (
        f"{'Solved' if info['success'] else 'Not solved'} after {info['turn']} turns, score"
        f" {info['score']:.2f}."
    )


@app.command()
@user_errors
def check(env_id: EnvId, set_: Kwargs = None) -> None:
    """Checks that an environment keeps the contract; for a game, also the contract of its seats.

    One line per property says "ok", "FAILED", or "--" if there was nothing to check. The exit
    status is 0 if no property failed and 1 otherwise.
    """
    given = keywords(set_)
    try:
        results = _properties(env_id, given)
    except ConformanceError as error:
        _fail(f"{registry.named(env_id)} breaks the contract: {error}")
    except (AgentGymError, KeyboardInterrupt):
        raise
    except BaseException as error:  # also SystemExit, whose status would be that of this command
        _fail(str(EnvRaised.of(registry.named(env_id), error)))
    for result in results:
        mark = "[green]ok[/]" if result.checked else "[yellow]--[/]"
        mark = "[red]FAILED[/]" if result.fault else mark
        out.print(f"{mark} {escape(str(result).removeprefix(f'{env_id}: '))}", soft_wrap=True)
    if failed := sum(result.fault is not None for result in results):
        name = registry.named(env_id)
        _fail(f"{name} breaks the contract: {failed} of {len(results)} properties failed")


def _fail(message: str) -> NoReturn:
    err.print(f"error: {message}", style="red", markup=False, soft_wrap=True)
    raise typer.Exit(1)


def _properties(env_id: str, given: dict[str, Any]) -> list["CheckResult"]:
    """Checks an environment and returns the result of each check."""
    from agentgym_envs.multi.env import SEAT_KEYWORDS
    from agentgym_envs.testing import kit
    from agentgym_envs.testing.author import place_of
    from agentgym_envs.testing.side_effects import no_exit

    with no_exit():
        try:
            env = registry.make(env_id, **given)
        except EnvRaised as error:  # the environment cannot be made
            place = place_of(error, env_id)
            raise EnvRaised(f"{error}{f' ({place})' * (place not in str(error))}") from error
        try:
            env.close()
        except KeyboardInterrupt:
            raise
        except BaseException:
            log.debug("close failed; a check reports it", exc_info=True)
        results = list(kit.properties(env_id, **given))
        if registry.has_seats(env_id):
            own = {key: value for key, value in given.items() if key not in SEAT_KEYWORDS}
            results += kit.game_properties(env_id, **own)
        return results


@app.command()
@user_errors
def new(name: Annotated[str, typer.Argument(help="Name of the package, such as my-lock.")]) -> None:
    """Writes a small package with an environment that keeps the contract, as a start for yours."""
    from agentgym_envs.new import names, write_package

    for path in write_package(name):
        out.print(f"wrote {path}", markup=False, soft_wrap=True)
    chosen = names(name)
    out.print(
        f"next: cd {name} && agentgym check {chosen.module}:{chosen.kind}\n"
        f"then: python -m pip install -e . && agentgym check {chosen.env_id}",
        markup=False,
        soft_wrap=True,
    )


@app.command()
@user_errors
def build(
    env_id: EnvId,
    split: Split = "train",
    task: Tasks = None,
    set_: Kwargs = None,
    workers: Workers = None,
) -> None:
    """Builds in advance the data that an environment builds on demand: games, a search index."""
    env: Any = registry.make(env_id, split=split, tasks=task, **keywords(set_)).unwrapped
    if not hasattr(env, "prepare"):
        raise ArgumentError(f"{env_id} has nothing to build")
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task(env_id, total=None)
        env.prepare(workers=workers, on_item=lambda: progress.advance(bar))


@app.command()
@user_errors
def install(what: Annotated[str, typer.Argument(help="web: a browser.")]) -> None:
    """Installs a browser for the web environments.

    This is Playwright's browser or, as root, the system's package.
    """
    if what != "web":
        raise ArgumentError(f"there is nothing to install for {what!r}, only for 'web'")
    from agentgym_envs.envs.web.install import install_browser

    out.print(f"browser: {install_browser()}", markup=False, soft_wrap=True)


@app.command()
@user_errors
def sites(
    port: Annotated[
        int, typer.Option(help="Port of the first site; the others use the next ports.")
    ] = 8100,
    address: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serves the web sites of agentgym/WebSites-v1 to your browser until Ctrl-C.

    Changes that you make are lost at the end.
    """
    env_id = "agentgym/WebSites-v1"
    if registry.install_command(plugins.discover(plugins.ENVIRONMENTS)[env_id]) is not None:
        raise MissingExtra("agentgym sites", "web")
    servers = registry.author_class(env_id).servers(address, port)
    table = Table("site", "address", "user", "password")
    for row in servers.logins():
        table.add_row(*row)
    out.print(table)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        out.print("bye")
    finally:
        servers.close()


webarena = typer.Typer(help="Prepares the sites of WebArena, which you host.", no_args_is_help=True)
webarena.command()(user_errors(login))
webarena.callback()(lambda: None)  # with a callback, Typer keeps a single command as a subcommand
app.add_typer(webarena, name="webarena")
app.command("eval")(user_errors(evaluate))
app.command()(user_errors(report))
app.command()(user_errors(view))
app.command()(user_errors(serve))
app.command()(user_errors(tournament))
app.command()(user_errors(compare))
app.command()(user_errors(export))

if __name__ == "__main__":
    app()
