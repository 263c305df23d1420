"""The options of ``agentgym eval``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from agentgym_envs.models.apis import APIS, url_from_environment
from agentgym_envs.models.endpoint import LIMITS
from agentgym_envs.wrappers import FORMATS

Pairs = list[str] | None


def _temperature(text: str) -> float | None:
    """Reads a temperature, or ``none``."""
    if str(text) == "none":
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise typer.BadParameter(f"{text!r} is neither a number from 0 up nor 'none'")
    return value


Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET...",
        help='A suite such as agentgym-rl, a registered id, "module:id", "module:Class" or'
        ' "./file.py:Class".',
    ),
]
Models = Annotated[
    Pairs, typer.Option("--model", help="The model's name at its server; can be repeated.")
]
ModelApi = Annotated[str, typer.Option(help=f"The server's protocol: {', '.join(APIS)}.")]
BaseUrl = Annotated[
    str,
    typer.Option(
        help="Of the server; default: $OPENAI_BASE_URL or its like, or the API's provider."
    ),
]
ApiKeyEnv = Annotated[
    str,
    typer.Option(
        help="The environment variable that holds the key; default: OPENAI_API_KEY,"
        " ANTHROPIC_API_KEY or GEMINI_API_KEY."
    ),
]
Agent = Annotated[
    str,
    typer.Option(
        help=(
            "chat, react, function, reflect, correct, plan, summary, random, oracle, a plugin's, or"
            " module:name."
        )
    ),
]
AgentOption = Annotated[
    Pairs, typer.Option("--option", help="An option of the agent, such as window=8.")
]
Form = Annotated[
    str | None,
    typer.Option("--format", help=f"How responses hold actions: {', '.join(FORMATS)}."),
]
Split = Annotated[str, typer.Option(help="train, dev or test; suites have their own.")]
Tasks = Annotated[Pairs, typer.Option("--task", help="A task id or glob pattern; can be repeated.")]
Only = Annotated[str, typer.Option(help="Families or scenarios of a suite, with commas between.")]
Episodes = Annotated[
    int | None, typer.Option(min=1, help="Tasks per family, evenly spaced; default: all.")
]
Attempts = Annotated[int, typer.Option(min=1, help="Attempts at each task.")]
Horizon = Annotated[
    int | None, typer.Option(min=1, help="Turns per episode; default: the registered limits.")
]
Set = Annotated[Pairs, typer.Option("--set", help="A constructor keyword, such as level=10.")]
Data = Annotated[
    Pairs,
    typer.Option(
        "--data", help="A keyword for one family of a suite, such as NQ.questions=nq.jsonl."
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        parser=_temperature, metavar="NUMBER|none", help="none: the server's own default."
    ),
]
Effort = Annotated[
    str | None, typer.Option(help="How much the model reasons: low, medium or high.")
]
Cache = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Keep replies in a folder, and take them from there."),
]
MaxTokens = Annotated[int, typer.Option(min=1, help="Of a reply, reasoning included.")]
MaxTokensName = Annotated[
    str,
    typer.Option(
        help=f"The limit's name in requests: {' or '.join(LIMITS)};"
        " default: the name that the server accepts."
    ),
]
Send = Annotated[
    Pairs, typer.Option("--send", help="More of the request's body, such as top_p=0.9.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help=(
            "The results' folder; results/TARGET-MODEL-AGENT without it. Several models or targets"
            " have a folder each in it."
        ),
    ),
]
Concurrency = Annotated[int, typer.Option(min=1, help="Episodes at a time.")]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help=(
            "Environment processes, on each host of --hosts; default: one per episode, at most 8 or"
            " two per core."
        ),
    ),
]
Hosts = Annotated[
    str,
    typer.Option(
        help="Addresses of agentgym serve --pool that run the environments, with commas between."
    ),
]
Timeout = Annotated[
    float, typer.Option(min=0.001, help="Seconds that one call of an environment may take.")
]
RequestTimeout = Annotated[
    float, typer.Option(min=0.001, help="Seconds that one try of a request may take.")
]
Retries = Annotated[int, typer.Option(min=0, help="Retries of a request that failed for a time.")]
Outage = Annotated[
    float,
    typer.Option(min=0.0, help="Seconds without any good reply of the server that end a run."),
]
AgentTimeout = Annotated[
    float,
    typer.Option(
        min=0.001, help="Seconds that one call of the agent may take, with all of its requests."
    ),
]
AllowVersionChange = Annotated[
    bool,
    typer.Option(
        "--allow-version-change",
        help="Go on with results that another version of agentgym-envs played.",
    ),
]
Screenshots = Annotated[
    bool,
    typer.Option("--screenshots", help="Keep a picture of each page of a web environment."),
]
BudgetTokens = Annotated[int | None, typer.Option(min=1, help="Stop after this many tokens.")]
BudgetCost = Annotated[float | None, typer.Option(min=0.0, help="Stop after this cost.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Estimate tokens, cost and time; ask no model.")
]
Probe = Annotated[
    bool,
    typer.Option(
        "--probe", help="Ask the server what it accepts, with a few short requests; play nothing."
    ),
]
Prices = Annotated[
    tuple[float, float] | None,
    typer.Option(help="Prices of a million prompt and completion tokens, in any currency."),
]
CachedPrice = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Price of a million prompt tokens from the server's cache; default: no discount.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """The values of the options; :mod:`.command` declares the same names."""

    target: str
    model: str
    api: str
    base_url: str
    api_key_env: str
    agent: str
    option: Pairs
    form: str | None
    split: str
    task: Pairs
    only: str
    episodes: int | None
    attempts: int
    horizon: int | None
    set_: Pairs
    data: Pairs
    temperature: float | None
    max_tokens: int
    max_tokens_name: str
    effort: str | None
    cache: Path | None
    send: Pairs
    out: Path | None
    concurrency: int
    workers: int | None
    hosts: str
    timeout: float
    request_timeout: float
    retries: int
    outage: float
    agent_timeout: float
    allow_version_change: bool
    screenshots: bool
    budget_tokens: int | None
    budget_cost: float | None
    prices: tuple[float, float] | None
    cached_price: float | None
    dry_run: bool
    probe: bool
    several: bool
    """The command has several models or targets."""

    @property
    def addresses(self) -> list[str]:
        """The hosts."""
        return [part.strip() for part in self.hosts.split(",")] if self.hosts else []

    @property
    def endpoint(self) -> dict[str, Any]:
        """The options of the model's server, which do not change results."""
        url = self.base_url or url_from_environment(self.api)
        prices: tuple[float, ...] | None = self.prices
        if prices and self.cached_price is not None:
            prices = (*prices, self.cached_price)
        given = {"api_key_env": self.api_key_env, "prices": prices, "retries": self.retries}
        limit = {"max_tokens_name": self.max_tokens_name, "timeout": self.request_timeout}
        return {**given, **limit, "base_url": url}


def pairs(target: list[str], model: Pairs, **others: Any) -> list[EvalOptions]:
    """Returns the options of each pair of a target and a model."""
    found = list(dict.fromkeys((t, m) for t in target for m in model or [""]))
    several = len(found) > 1
    return [EvalOptions(target=t, model=m, several=several, **others) for t, m in found]
