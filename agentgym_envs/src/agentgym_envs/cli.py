"""``agentgym``: list the environments, play one, check one, measure an agent on one, build games ahead."""

import random
import threading
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from agentgym_envs import baselines, plugins, registry
from agentgym_envs.errors import AgentGymError, ArgumentError, ConformanceError, MissingExtra

app = typer.Typer(help="Text environments for language-model agents.", no_args_is_help=True, add_completion=False)
out = Console()
err = Console(stderr=True)

EnvId = Annotated[str, typer.Argument(help='A registered id, or "module:id".')]
Split = Annotated[str, typer.Option(help="train, dev or test.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help="A task id or glob pattern; may be given several times.")]
Kwargs = Annotated[list[str] | None, typer.Option("--set", help="A constructor keyword, such as level=10.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes; one a core without it.")]
COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())


def user_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Turns errors that a user can act on into one line and exit status 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except AgentGymError as error:
            err.print(f"error: {error}", style="red", markup=False, soft_wrap=True)
            raise typer.Exit(2) from error

    return wrapped


@app.command("list")
@user_errors
def list_envs() -> None:
    """Lists all environments, also the plugins', how to install what is missing, and what is wrong with the broken ones."""
    table = Table("id", "horizon", "from", "installed")
    faults = []
    for env_id, plugin in plugins.discover(plugins.ENVIRONMENTS).items():
        if wrong := registry.fault(plugin):
            faults.append(wrong)
            horizon, state = "", "[red]broken, see below[/]"
        else:
            horizon, missing = str(registry.spec(env_id).max_episode_steps), registry.install_command(plugin)
            state = "[green]yes[/]" if missing is None else escape(missing)
        table.add_row(escape(env_id), horizon, plugins.distribution(plugin), state)
    out.print(table)
    for wrong in faults:
        out.print(f"broken: {wrong}", style="red", markup=False, soft_wrap=True)


@app.command()
@user_errors
def play(
    env_id: EnvId,
    split: Split = "train",
    task: Tasks = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Picks the task.")] = None,
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser of a web environment.")] = False,
    set_: Kwargs = None,
) -> None:
    """Lets a person play in the terminal. An empty line shows what is possible; Ctrl-D leaves."""
    shown = {"headed": True} if headed else {}
    env = registry.make(env_id, split=split, tasks=task, **shown, **_keywords(set_))
    observation, info = env.reset(seed=random.randrange(2**31) if seed is None else seed)
    world: Any = env.unwrapped
    out.print(world.instructions, style="dim", markup=False)
    out.print(f"\n{observation}", markup=False)
    try:
        over = False
        while not over:
            action = input("> ")
            if not action.strip():
                out.print(", ".join(world.actions()), style="dim", markup=False)
                continue
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            out.print(observation, markup=False)
        out.print(f"{'Solved' if info['success'] else 'Not solved'} after {info['turn']} turns, score {info['score']:.2f}.")
    except EOFError:
        out.print()
    finally:
        env.close()


@app.command()
@user_errors
def check(env_id: EnvId, set_: Kwargs = None) -> None:
    """Proves that an environment keeps the contract."""
    from agentgym_envs.testing import check_text_env

    registry.make(env_id, **_keywords(set_)).close()  # what is broken before it can be checked has an error of its own
    try:
        for line in check_text_env(env_id, **_keywords(set_)):
            out.print(f"[green]ok[/] {line}")
    except ConformanceError as error:
        raise ConformanceError(f"{registry.named(env_id)} breaks the contract: {error}") from error


@app.command()
@user_errors
def rollout(
    env_id: EnvId,
    agent: Annotated[str, typer.Option(help="random or oracle.")] = "random",
    episodes: Annotated[int, typer.Option(min=1, help="Tasks, one episode each, at even distances over the split.")] = 100,
    split: Split = "test",
    horizon: Annotated[int | None, typer.Option(min=1, help="Turns an episode; the registered limit without it.")] = None,
    task: Tasks = None,
    set_: Kwargs = None,
) -> None:
    """Plays held-out tasks and prints success by difficulty."""
    kwargs = {"split": split, "tasks": task, **_keywords(set_)}
    env: Any = registry.make(env_id, **kwargs)
    with Progress(*COLUMNS, console=err, transient=True) as progress:
        bar = progress.add_task(f"{agent} on {env_id}", total=episodes)
        results = baselines.play(
            env_id, agent, episodes=episodes, horizon=horizon, on_episode=lambda: progress.advance(bar), **kwargs
        )
    table = Table("difficulty", "episodes", "success", "score", "turns", title=f"{agent} on {env_id}, {split}")
    levels = [env.unwrapped.task_set.get(r.task_id).difficulty for r in results]
    for level in [*sorted(set(levels)), None]:
        rows = [r for r, d in zip(results, levels, strict=True) if level is None or d == level]
        mean = [sum(values) / len(rows) for values in zip(*[(r.success, r.score, r.turns) for r in rows], strict=True)]
        table.add_row("all" if level is None else str(level), str(len(rows)), f"{mean[0]:.3f}", f"{mean[1]:.3f}", f"{mean[2]:.1f}")
    out.print(table)


@app.command()
@user_errors
def suite(
    name: Annotated[str, typer.Argument(help="A named task list, such as agentgym-rl.")],
    agent: Annotated[str, typer.Option(help="random or oracle.")] = "random",
    horizon: Annotated[int | None, typer.Option(min=1, help="Turns an episode; the registered limits without it.")] = None,
) -> None:
    """Plays a named task list and prints success family by family."""
    from agentgym_envs.suite import evaluate

    with Progress(*COLUMNS, console=err, transient=True) as progress:
        bar = progress.add_task(name, total=None)
        on_episode: Callable[[str], None] = lambda family: progress.update(bar, advance=1, description=family)  # noqa: E731
        results = evaluate(name, agent, horizon=horizon, on_episode=on_episode)
    table = Table("scenario", "family", "tasks", "success", "score", "note", title=f"{agent} on {name}")
    for r in results:
        means = ["–" if mean is None else f"{mean:.3f}" for mean in (r.success, r.score)]
        table.add_row(r.family.scenario, r.family.name, f"{len(r.episodes)}/{r.family.count}", *means, r.family.note)
    out.print(table)


@app.command()
@user_errors
def build(env_id: EnvId, split: Split = "train", task: Tasks = None, set_: Kwargs = None, workers: Workers = None) -> None:
    """Makes ahead what an environment makes on demand: TextWorld's games, a search index."""
    env: Any = registry.make(env_id, split=split, tasks=task, **_keywords(set_)).unwrapped
    if not hasattr(env, "prepare"):
        raise ArgumentError(f"{env_id} has nothing to build")
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task(env_id, total=None)
        env.prepare(workers=workers, on_item=lambda: progress.advance(bar))


@app.command()
@user_errors
def install(what: Annotated[str, typer.Argument(help="web: a browser.")]) -> None:
    """Installs what pip cannot: the browser of the web environments."""
    if what != "web":
        raise ArgumentError(f"there is nothing to install for {what!r}, only for 'web'")
    from agentgym_envs.envs.web.install import install_browser

    out.print(f"browser: {install_browser()}", markup=False, soft_wrap=True)


@app.command()
@user_errors
def sites(
    port: Annotated[int, typer.Option(help="Of the first site; the others follow.")] = 8100,
    address: Annotated[str, typer.Option(help="To listen on.")] = "127.0.0.1",
) -> None:
    """Serves the web sites of agentgym/WebSites-v0 to your own browser until Ctrl-C; what you change is then forgotten."""
    if registry.install_command(plugins.discover(plugins.ENVIRONMENTS)["agentgym/WebSites-v0"]) is not None:
        raise MissingExtra("agentgym sites", "web")
    from agentgym_envs.envs.web.sites.host import SITES, Servers

    servers = Servers(address, port)
    table = Table("site", "address", "user", "password")
    for name, site in SITES.items():
        login = servers.host.database(site.tables).execute(
            f"SELECT login, password FROM ({site.people}) WHERE id = ?", (site.user,)
        )
        table.add_row(site.title, servers.origins[name], *login.fetchone())
    out.print(table)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        out.print("bye")
    finally:
        servers.close()


def _keywords(pairs: list[str] | None) -> dict[str, Any]:
    """Reads ``key=value`` pairs; a value is TOML, or a plain string where it is none."""
    import tomllib

    keywords: dict[str, Any] = {}
    for pair in pairs or []:
        key, equals, text = pair.partition("=")
        if not equals:
            raise ArgumentError(f"--set takes key=value, not {pair!r}")
        try:
            keywords[key] = tomllib.loads(f"x = {text}")["x"]
        except tomllib.TOMLDecodeError:
            keywords[key] = text
    return keywords
