"""``agentgym eval``."""

import typer

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import estimate, options, several
from agentgym_envs.evaluate import probe as probing


def evaluate(
    target: options.Targets,
    model: options.Models = None,
    api: options.ModelApi = "chat",
    base_url: options.BaseUrl = "",
    api_key_env: options.ApiKeyEnv = "",
    agent: options.Agent = "",
    option: options.AgentOption = None,
    form: options.Form = None,
    split: options.Split = "test",
    task: options.Tasks = None,
    only: options.Only = "",
    episodes: options.Episodes = None,
    attempts: options.Attempts = 1,
    horizon: options.Horizon = None,
    set_: options.Set = None,
    data: options.Data = None,
    temperature: options.Temperature = 1.0,
    max_tokens: options.MaxTokens = 8192,
    max_tokens_name: options.MaxTokensName = "",
    effort: options.Effort = None,
    cache: options.Cache = None,
    send: options.Send = None,
    out: options.Out = None,
    concurrency: options.Concurrency = 8,
    workers: options.Workers = None,
    hosts: options.Hosts = "",
    timeout: options.Timeout = 60.0,
    request_timeout: options.RequestTimeout = 600.0,
    retries: options.Retries = 12,
    outage: options.Outage = 600.0,
    agent_timeout: options.AgentTimeout = 3600.0,
    allow_version_change: options.AllowVersionChange = False,
    screenshots: options.Screenshots = False,
    budget_tokens: options.BudgetTokens = None,
    budget_cost: options.BudgetCost = None,
    prices: options.Prices = None,
    cached_price: options.CachedPrice = None,
    dry_run: options.DryRun = False,
    probe: options.Probe = False,
) -> None:
    """Plays the tasks of suites and environments with models or another agent.

    A second run plays only the missing episodes. The exit status is 0 if all episodes are there, 1
    if some are missing, and 2 if the input is invalid. The episodes of a family whose extra is not
    installed are missing; --only names the families to play. With --dry-run the exit status is 1 if
    a family has no estimate, and with --probe if the server refuses the requests of the run.
    """
    if dry_run and probe:
        raise ArgumentError("--dry-run asks no model and --probe asks one: leave one out")
    pairs = several.prepared_all(options.pairs(**locals()))
    jobs = [pair.job for pair in pairs if pair.job]
    if dry_run:
        complete = estimate.show_all(jobs) and len(jobs) == len(pairs)
    elif probe:
        complete = probing.probe_all(jobs)
    else:
        complete = several.carry_out_all(pairs)
    if not complete:
        raise typer.Exit(1)
