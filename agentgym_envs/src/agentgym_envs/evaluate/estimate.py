"""``agentgym eval --dry-run``: tokens, cost and time, estimated without a model.

One episode per family is played by the oracle, or at random without one. Its observations and its
turns give the estimate. The figure of the whole horizon has all turns and ``--max-tokens`` instead.
Neither is a bound: a model can get longer observations, such as messages of errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from agentgym_envs import registry
from agentgym_envs.agents.base import load
from agentgym_envs.evaluate.budget import money
from agentgym_envs.evaluate.display import show
from agentgym_envs.evaluate.job import EvalJob
from agentgym_envs.evaluate.plan import PlannedEpisode
from agentgym_envs.evaluate.record import EpisodeRow, EpisodeRows
from agentgym_envs.evaluate.runner import EvalRunner, RunLimits
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.evaluate.tables import ResultTable
from agentgym_envs.stopping import run_tasks
from agentgym_envs.terminal import CommandConsole
from agentgym_envs.wrappers import FORMATS

CHARACTERS = 4  # per token
RESPONSE = 60  # tokens of a response in the estimate
RATE = 30  # generated tokens per second of one request
COLUMNS = (
    ("family", ""),
    ("episodes", "episodes"),
    ("sample", "turns"),
    ("horizon", "horizon"),
    ("estimate", "tokens"),
    ("most", "whole horizon"),
)
ASSUMED = (
    f"Assumed: {CHARACTERS} characters per token; observations and turns as in one episode per"
    " family, which the oracle or random play went through; in the estimate responses of"
    f" {RESPONSE} tokens, over the whole horizon all of its turns and responses of --max-tokens;"
    f" {RATE} generated tokens per second of each request; a request per turn of 'summary' and of"
    " agents that are not built in. Requests that fail and prompt caches do not count. A model that"
    " solves less than the oracle uses more turns. Neither figure is a bound: other observations,"
    " such as messages of errors, can be longer. --budget-tokens ends a run."
)
out = CommandConsole(markup=False, emoji=False, highlight=False)


class RequestShape(NamedTuple):
    """The requests of an agent.

    Attributes:
        turn: in each turn.
        first: before the first turn. The reply stays in the system prompt.
        last: after the last turn. The reply is in the system prompt of later attempts.
    """

    turn: int = 1
    first: int = 0
    last: int = 0


METHODS = {
    "correct": RequestShape(turn=2),
    "plan": RequestShape(first=1),
    "reflect": RequestShape(last=1),
}


class TokenEstimate(NamedTuple):
    """Tokens of one or more episodes."""

    prompt: float
    completion: float


@dataclass(frozen=True, kw_only=True)
class FamilyEstimate:
    """The episodes of a family, and the sample of it."""

    name: str
    episodes: int
    horizon: int
    turns: int
    system: float
    """Tokens of the system prompt."""
    observation: float
    """Mean tokens of an observation."""

    def tokens(
        self,
        turns: int,
        response: float,
        window: int | None,
        method: RequestShape,
        attempts: int = 1,
    ) -> TokenEstimate:
        """Returns the tokens of all episodes if each has these turns and responses."""
        kept = method.first + method.last * (attempts - 1) / 2  # replies in the system prompt

        def prompt(seen: int, kept: float) -> float:
            return self.system + kept * response + seen * (self.observation + response) - response

        sent = sum(
            prompt(min(n, window or n), kept) + again * response
            for n in range(1, turns + 1)
            for again in range(method.turn)
        )
        after = min(turns, window or turns) + 1
        sent += method.first * prompt(1, 0) + method.last * prompt(after, kept)
        calls = turns * method.turn + method.first + method.last
        return TokenEstimate(self.episodes * sent, self.episodes * calls * response)


def show_all(jobs: Sequence[EvalJob]) -> bool:
    """Prints the estimate of each job; returns whether every family has one."""
    complete = True
    for job in jobs:
        title = f"{job.player} on {job.settings.target}: {len(job.items)} episodes"
        if job.settings.model:
            complete = _show(job, title) and complete
        else:
            out.print(f"{title}, no tokens: the agent uses no model", soft_wrap=True)
            for line in job.absences:
                out.print(line, soft_wrap=True)
            complete = complete and not job.skipped
    if any(job.settings.model for job in jobs):
        out.print(ASSUMED, style="dim")
    return complete


def families(job: EvalJob) -> tuple[list[FamilyEstimate], list[str]]:
    """Plays a sample of each family; returns the families, and why others have no sample."""
    groups: dict[tuple[str, str], list[PlannedEpisode]] = {}
    for item in job.items:
        groups.setdefault((item.scenario, item.family), []).append(item)
    found, failed = [], []
    for (_, name), items in groups.items():
        sample = _sample(job, items[len(items) // 2])
        if sample["row"] == "fault":
            failed.append(f"{name} has no estimate: {sample['error']}")
        else:
            found.append(_family(job, name, items, sample))
    return found, failed


def _family(
    job: EvalJob, name: str, items: Sequence[PlannedEpisode], sample: EpisodeRow
) -> FamilyEstimate:
    env, form = items[0].env, job.settings.format
    rules = FORMATS[form](env.tools).describe() if form else ""
    seen = [len(turn["observation"]) for turn in sample["turns"]] or [len(sample["last"])]
    return FamilyEstimate(
        name=name,
        episodes=len(items),
        horizon=_horizon(job, env.env_id),
        turns=max(1, len(sample["turns"])),
        system=(len(env.instructions) + len(rules)) / CHARACTERS,
        observation=fmean(seen) / CHARACTERS,
    )


def _horizon(job: EvalJob, env_id: str) -> int:
    return job.settings.horizon or registry.spec(env_id).max_episode_steps or 0


def _sample(job: EvalJob, item: PlannedEpisode) -> EpisodeRow:
    """Plays an episode by the oracle. Without an action of the oracle, plays at random."""
    if item.env.text_env:
        row = _played(job, item, "oracle")
        if row["row"] == "fault" or row["turns"]:
            return row
    return _played(job, item, "random")


def _played(job: EvalJob, item: PlannedEpisode, agent: str) -> EpisodeRow:
    factory = load(agent)
    settings = RunSettings(agent=factory.name, format=None, horizon=job.settings.horizon)
    limits = RunLimits(concurrency=1, retries=0, timeout=job.options.timeout)
    runner = EvalRunner(settings=settings, factory=factory, record=EpisodeRows(), limits=limits)
    run_tasks(runner.run([item]))
    return runner.record.rows[-1]


def _show(job: EvalJob, title: str) -> bool:
    """Prints an estimate; returns whether every family has one."""
    found, failed = families(job)
    asked = len(found) + len(failed) + len(job.skipped)
    complete = len(found) == asked
    part = "" if complete else f" of {len(found)} of {asked} families"
    method = METHODS.get(job.factory.name, RequestShape())
    how = (job.factory.options.get("window"), method, job.options.attempts)
    estimates = [f.tokens(min(f.turns, f.horizon), RESPONSE, *how) for f in found]
    wholes = [f.tokens(f.horizon, job.options.max_tokens, *how) for f in found]
    lines: list[dict[str, Any]] = [
        {
            **{"family": f.name, "episodes": f.episodes, "sample": f.turns, "horizon": f.horizon},
            **{"estimate": f"{sum(e):,.0f}", "most": f"{sum(w):,.0f}"},
        }
        for f, e, w in zip(found, estimates, wholes, strict=True)
    ]
    show(out, ResultTable(COLUMNS, lines, failed), title)
    for line in job.absences:
        out.print(line, style="dim", soft_wrap=True)
    for name, parts in (("estimate", estimates), ("whole horizon", wholes)):
        total = TokenEstimate(sum(p.prompt for p in parts), sum(p.completion for p in parts))
        out.print(f"{name}{part}: {_described(job, total)}", soft_wrap=True)
    return complete


def _described(job: EvalJob, total: TokenEstimate) -> str:
    parts = [f"{total.prompt:,.0f} prompt and {total.completion:,.0f} completion tokens"]
    if job.options.prices:
        prompt, completion = job.options.prices
        cost = (total.prompt * prompt + total.completion * completion) / 1e6
        parts.append(f"cost {money(cost)}")
    at_once = min(job.options.concurrency, len(job.items))
    minutes = total.completion / RATE / at_once / 60
    parts.append(f"about {minutes:,.1f} minutes at {at_once} episodes at a time")
    return ", ".join(parts)
