"""One run of ``agentgym eval``: its options become settings, episodes and a client."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym_envs.agents.base import AgentFactory, load
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import left_out
from agentgym_envs.evaluate.left_out import SkippedFamily
from agentgym_envs.evaluate.options import EvalOptions, Pairs
from agentgym_envs.evaluate.plan import PlannedEpisode, plan
from agentgym_envs.evaluate.runner import RunLimits
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.evaluate.suites import suites
from agentgym_envs.keywords import keywords
from agentgym_envs.models.cache import ReplyCache
from agentgym_envs.models.connect import connect
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.models.provider import ModelClient

RESULTS = Path("results")


class NothingToPlay(ArgumentError):
    """No family of a suite can be played on this machine."""


@dataclass(frozen=True, kw_only=True)
class EvalJob:
    """One agent, one target and one folder."""

    options: EvalOptions
    settings: RunSettings
    factory: AgentFactory
    items: list[PlannedEpisode]
    skipped: list[SkippedFamily]
    """Families that cannot be played here."""
    client: ModelClient | None
    """None if the agent does not act through a model."""

    @property
    def folder(self) -> Path:
        """The results' folder."""
        parts = [self.settings.target, self.settings.model, self.factory.name]
        name = re.sub(r"[^\w.-]+", "-", "-".join(filter(None, parts))).strip("-.")
        given = self.options
        return given.out if given.out and not given.several else (given.out or RESULTS) / name

    @property
    def player(self) -> str:
        """The model's or the agent's name."""
        return self.settings.model or self.factory.name

    @property
    def absences(self) -> list[str]:
        """A line for each reason why less is played than the options name."""
        asked, there = self.options.episodes or 0, len({item.task_id for item in self.items})
        fewer = f"--episodes {asked}: {self.settings.target} has {there} tasks; all are played"
        one = self.settings.target not in suites
        return left_out.lines(self.skipped) + ([fewer] if one and there < asked else [])

    @property
    def limits(self) -> RunLimits:
        """The limits of the execution."""
        given = self.options
        return RunLimits(
            concurrency=given.concurrency,
            workers=given.workers,
            hosts=given.addresses,
            timeout=given.timeout,
            agent_timeout=given.agent_timeout,
            outage=given.outage,
            screenshots=given.screenshots,
        )


def prepared(given: EvalOptions) -> EvalJob:
    """Checks all options and plans the episodes.

    Raises:
        AgentGymError: an option is invalid, or nothing can be played.
    """
    if not (given.agent or given.model):
        raise ArgumentError("no agent: pass --model or --agent")
    if given.screenshots and given.hosts:
        raise ArgumentError("--screenshots: --hosts keep no pictures; leave one of the two out")
    factory = load(given.agent or "react", keywords(given.option))
    settings = _settings(given, factory)
    _check_budget(given, factory)
    items, skipped = _planned(given)
    _check_functions(settings, items)
    return EvalJob(
        options=given,
        settings=settings,
        factory=factory,
        items=items,
        skipped=skipped,
        client=_client(given, factory, settings),
    )


def _settings(given: EvalOptions, factory: AgentFactory) -> RunSettings:
    factory.check_format(given.form)
    _check_model(given, factory)
    return RunSettings(
        target=given.target,
        split="" if given.target in suites else given.split,
        agent=factory.name,
        options=factory.options,
        model=given.model,
        sampling=_sampling(given) if given.model else {},
        format=given.form or factory.format,
        horizon=given.horizon,
        kwargs={**keywords(given.set_), **keywords(given.data)},
    )


def _check_model(given: EvalOptions, factory: AgentFactory) -> None:
    asked = [name for name in ("model", "effort", "cache") if getattr(given, name)]
    if asked and not factory.needs_client:
        raise ArgumentError(
            f"agent {factory.name!r} does not act through a model: leave --{asked[0]} out"
        )
    if factory.needs_client and not given.model:
        raise ArgumentError(f"agent {factory.name!r} acts through a model: name one with --model")


def _check_budget(given: EvalOptions, factory: AgentFactory) -> None:
    limits = {"--budget-tokens": given.budget_tokens, "--budget-cost": given.budget_cost}
    passed = [name for name, value in limits.items() if value is not None]
    if passed and not factory.needs_client:
        raise ArgumentError(
            f"agent {factory.name!r} does not act through a model and uses no tokens: leave"
            f" {passed[0]} out"
        )
    priced = {"--budget-cost": given.budget_cost, "--cached-price": given.cached_price}
    needy = [name for name, value in priced.items() if value is not None]
    if needy and given.prices is None:
        raise ArgumentError(
            f"{needy[0]} needs --prices: the cost of a million prompt and completion tokens"
        )


def _sampling(given: EvalOptions) -> dict[str, Any]:
    """Returns the sampling options of every request."""
    extra = keywords(given.send)
    if clash := sorted({"temperature", "max_tokens"} & extra.keys()):
        raise ArgumentError(f"--send {clash[0]}=…: use --{clash[0].replace('_', '-')}")
    chosen = {"api": given.api if given.api != "chat" else None, "effort": given.effort}
    return {
        "temperature": given.temperature,
        "max_tokens": given.max_tokens,
        "extra": extra,
        # Left out by default, so that the settings of earlier runs stay the same.
        **{name: value for name, value in chosen.items() if value is not None},
    }


def _client(given: EvalOptions, factory: AgentFactory, settings: RunSettings) -> ModelClient | None:
    if not factory.needs_client:
        return None
    if given.dry_run:
        factory.make()
        return None
    endpoint = ModelEndpoint(model=given.model, **settings.sampling, **given.endpoint)
    cache = ReplyCache(given.cache) if given.cache else None
    client = connect(endpoint, connections=given.concurrency, cache=cache)
    factory.make(client)  # rejects an invalid option before any file is written
    return client


def _planned(given: EvalOptions) -> tuple[list[PlannedEpisode], list[SkippedFamily]]:
    items, skipped = plan(
        given.target,
        split=given.split,
        tasks=given.task,
        episodes=given.episodes,
        attempts=given.attempts,
        only=[name.strip() for name in given.only.split(",")] if given.only else [],
        kwargs=keywords(given.set_),
        data=_by_family(given.data),
    )
    if not items:
        reasons = "".join(f". {line}" for line in left_out.lines(skipped))
        raise NothingToPlay(f"nothing of {given.target} can be played here{reasons}")
    return items, skipped


def _check_functions(settings: RunSettings, items: Sequence[PlannedEpisode]) -> None:
    """Refuses function calls in environments that have no functions."""
    lacking = sorted({item.family for item in items if not item.env.tools})
    if settings.format == "function" and lacking:
        raise ArgumentError(
            f"no functions in {', '.join(lacking)}, which the format 'function' calls: choose"
            " another --agent or --format"
        )


def _by_family(pairs: Pairs) -> dict[str, dict[str, Any]]:
    """Reads FAMILY.KEY=VALUE."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in keywords(pairs).items():
        family, dot, key = name.rpartition(".")
        if not dot:
            raise ArgumentError(f"--data takes FAMILY.KEY=VALUE, not {name!r}")
        found.setdefault(family, {})[key] = value
    return found
