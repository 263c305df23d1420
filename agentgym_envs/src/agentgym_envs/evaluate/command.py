"""``agentgym eval``."""

import asyncio
import re
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.evaluate import record as records
from agentgym_envs.evaluate import tables
from agentgym_envs.evaluate.agents.base import AgentFactory, load
from agentgym_envs.evaluate.budget import Budget
from agentgym_envs.evaluate.display import Display, show_results
from agentgym_envs.evaluate.plan import Item, plan
from agentgym_envs.evaluate.record import Key, Record
from agentgym_envs.evaluate.runner import Limits, Runner
from agentgym_envs.evaluate.settings import Settings
from agentgym_envs.evaluate.suites import suites
from agentgym_envs.keywords import keywords
from agentgym_envs.models.client import Client
from agentgym_envs.models.endpoint import Endpoint
from agentgym_envs.wrappers import FORMATS

Target = Annotated[
    str, typer.Argument(help='A suite such as agentgym-rl, a registered id, or "module:id".')
]
Pairs = list[str] | None
out = Console(markup=False, emoji=False, highlight=False)
err = Console(stderr=True, markup=False, emoji=False, highlight=False)


def evaluate(
    target: Target,
    model: Annotated[str, typer.Option(help="The model's name at its server.")] = "",
    base_url: Annotated[
        str, typer.Option(help="Of an OpenAI-compatible server.", envvar="OPENAI_BASE_URL")
    ] = "https://api.openai.com/v1",
    api_key_env: Annotated[
        str, typer.Option(help="The environment variable that holds the key.")
    ] = "OPENAI_API_KEY",
    agent: Annotated[
        str,
        typer.Option(
            help=(
                "chat, react, function, reflect, correct, plan, random, oracle, a plugin's, or"
                " module:name."
            )
        ),
    ] = "",
    option: Annotated[
        Pairs, typer.Option("--option", help="An option of the agent, such as window=8.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help=f"How responses hold actions: {', '.join(FORMATS)}."),
    ] = None,
    split: Annotated[str, typer.Option(help="train, dev or test; suites have their own.")] = "test",
    task: Annotated[
        Pairs, typer.Option("--task", help="A task id or glob pattern; can be repeated.")
    ] = None,
    only: Annotated[
        str, typer.Option(help="Families or scenarios of a suite, with commas between.")
    ] = "",
    episodes: Annotated[
        int | None, typer.Option(min=1, help="Tasks per family, evenly spaced; default: all.")
    ] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts at each task.")] = 1,
    horizon: Annotated[
        int | None, typer.Option(min=1, help="Turns per episode; default: the registered limits.")
    ] = None,
    set_: Annotated[
        Pairs, typer.Option("--set", help="A constructor keyword, such as level=10.")
    ] = None,
    data: Annotated[
        Pairs,
        typer.Option(
            "--data", help="A keyword for one family of a suite, such as NQ.questions=nq.jsonl."
        ),
    ] = None,
    temperature: Annotated[float, typer.Option(min=0.0)] = 1.0,
    max_tokens: Annotated[int, typer.Option(min=1, help="Of a response.")] = 512,
    send: Annotated[
        Pairs, typer.Option("--send", help="More of the request's body, such as top_p=0.9.")
    ] = None,
    out_: Annotated[
        Path | None,
        typer.Option("--out", help="The results' folder; results/TARGET-MODEL-AGENT without it."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 8,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Environment processes; default: one per episode, at most 8 or two per core.",
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that one call of an environment may take.")
    ] = 60.0,
    screenshots: Annotated[
        bool,
        typer.Option("--screenshots", help="Keep a picture of each page of a web environment."),
    ] = False,
    budget_tokens: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many tokens.")
    ] = None,
    budget_cost: Annotated[
        float | None, typer.Option(min=0.0, help="Stop after this cost.")
    ] = None,
    prices: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Prices of a million prompt and completion tokens, in any currency."),
    ] = None,
) -> None:
    """Plays the tasks of a suite or an environment with a model or another agent.

    A second run plays only the missing episodes.
    """
    if not (agent or model):
        raise ArgumentError("no agent: pass --model or --agent")
    factory = load(agent or "react", keywords(option))
    sampling = Sampling(temperature, max_tokens, keywords(send))
    settings, endpoint = _settings(
        factory, model, form, horizon, {**keywords(set_), **keywords(data)}, sampling
    )
    settings = replace(settings, target=target, split="" if target in suites else split)
    named = "-".join(filter(None, [target, model, factory.name]))
    folder = out_ or Path("results") / re.sub(r"[^\w.-]+", "-", named).strip("-")
    families = [name.strip() for name in only.split(",")] if only else []
    items = _planned(
        target,
        split=split,
        tasks=task,
        episodes=episodes,
        attempts=attempts,
        only=families,
        kwargs=keywords(set_),
        data=_by_family(data),
    )
    if budget_cost is not None and prices is None:
        raise ArgumentError(
            "--budget-cost needs --prices: the cost of a million prompt and completion tokens"
        )
    client = None
    if endpoint:
        address: dict[str, Any] = {
            "base_url": base_url,
            "api_key_env": api_key_env,
            "prices": prices,
        }
        client = Client(Endpoint(**endpoint, **address), connections=concurrency)
        factory.make(client)  # rejects an invalid option before any file is written
    lines = folder / records.EPISODES
    fresh = not lines.exists() or not lines.stat().st_size
    if client and fresh:  # before Record, so that an unreachable server leaves no folder behind
        asyncio.run(_checked(Client(client.endpoint)))
    limits = Limits(
        concurrency=concurrency, workers=workers, timeout=timeout, screenshots=screenshots
    )
    opened = Record(folder, settings)
    try:
        if opened.cut:
            err.print(
                f"warning: {folder / records.EPISODES} ended in half a line, which is dropped",
                style="yellow",
                soft_wrap=True,
            )
        budget = Budget(budget_tokens, budget_cost)
        for row in opened.rows:
            budget.used.add(row["usage"])
        runner = Runner(
            settings=settings,
            factory=factory,
            record=opened,
            limits=limits,
            client=client,
            budget=budget,
        )
        _carry_out(runner, items, target, check=not fresh)
        planned = {runner.key(item) for item in items}
        show_results(
            out,
            [row for row in opened.rows if Key.of(row) in planned],
            f"{model or factory.name} on {target}",
        )
        out.print(tables.LEGEND, style="dim")
        left = runner.missing(items)
    finally:
        opened.close()
    out.print(
        f"{folder}: {len(items) - len(left)} of {len(items)} episodes",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    if left:
        why = runner.stopped or f"each of their tries failed, the last with: {runner.last_error}"
        again = "" if budget.spent else ". The same command plays them"
        err.print(
            f"{len(left)} episodes are missing: {why}{again}",
            style="yellow",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(1)


class Sampling(NamedTuple):
    """The sampling options of a model."""

    temperature: float
    max_tokens: int
    extra: dict[str, Any]


async def _checked(client: Client) -> None:
    async with client:
        await client.check()


def _settings(
    factory: AgentFactory,
    model: str,
    form: str | None,
    horizon: int | None,
    kwargs: dict[str, Any],
    sampling: Sampling,
) -> tuple[Settings, dict[str, Any] | None]:
    """Returns the settings, and the endpoint's options if the agent uses a model."""
    if form is not None and form not in FORMATS:
        raise UnknownName("format", form, FORMATS)
    if form not in (None, factory.format) and factory.format in (None, "function"):
        raise ArgumentError(
            f"agent {factory.name!r} has no choice of how its responses hold actions: leave"
            " --format out"
        )
    agent = {"agent": factory.name, "options": factory.options}
    common: dict[str, Any] = {**agent, "format": form or factory.format, "horizon": horizon}
    if not factory.needs_client:
        if model:
            raise ArgumentError(
                f"agent {factory.name!r} does not act through a model: leave --model out"
            )
        return Settings(**common, kwargs=kwargs), None
    if not model:
        raise ArgumentError(f"agent {factory.name!r} acts through a model: name one with --model")
    if clash := sorted({"temperature", "max_tokens"} & sampling.extra.keys()):
        raise ArgumentError(f"--send {clash[0]}=…: use --{clash[0].replace('_', '-')}")
    request = sampling._asdict()
    return Settings(**common, model=model, sampling=request, kwargs=kwargs), {
        "model": model,
        **request,
    }


def _by_family(pairs: Pairs) -> dict[str, dict[str, Any]]:
    """Reads FAMILY.KEY=VALUE."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in keywords(pairs).items():
        family, dot, key = name.rpartition(".")
        if not dot:
            raise ArgumentError(f"--data takes FAMILY.KEY=VALUE, not {name!r}")
        found.setdefault(family, {})[key] = value
    return found


def _planned(target: str, **options: Any) -> list[Item]:
    items, skipped = plan(target, **options)
    for family in skipped:
        err.print(
            f"skipped {family.family}: {family.reason}",
            style="yellow",
            markup=False,
            soft_wrap=True,
        )
    if not items:
        raise ArgumentError(f"nothing of {target} can be played here")
    return items


def _carry_out(runner: Runner, items: list[Item], title: str, *, check: bool) -> None:
    """Runs to the end, with a live display; Ctrl-C keeps what is there.

    ``check``: asks first whether the model can be had.
    """
    known = {runner.key(item) for item in items}
    done = [row for row in records.episodes(runner.record.rows) if Key.of(row) in known]

    async def go() -> None:
        async with runner.client or AsyncExitStack():
            if check and runner.client and runner.missing(items):
                await runner.client.check()
            with Display(err, title, done, len(items), runner.budget) as display:
                runner.on_row = display.row
                await runner.run(items)

    try:
        asyncio.run(go())
    except KeyboardInterrupt:
        runner.stopped = "interrupted"
