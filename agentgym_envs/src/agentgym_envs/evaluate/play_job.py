"""Plays a job of ``agentgym eval`` in its folder, shows it live, and prints its tables."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

from agentgym_envs.errors import ProviderRefused
from agentgym_envs.evaluate import left_out, planned, tables
from agentgym_envs.evaluate import record as records
from agentgym_envs.evaluate.budget import UsageBudget
from agentgym_envs.evaluate.display import show_results
from agentgym_envs.evaluate.job import EvalJob
from agentgym_envs.evaluate.live import LiveDisplay, RunCounts
from agentgym_envs.evaluate.record import EpisodeKey, EpisodeRow, RunRecord
from agentgym_envs.evaluate.runner import HOPELESS, EvalRunner
from agentgym_envs.evaluate.sessions import SessionEntry, session
from agentgym_envs.models.connect import connect
from agentgym_envs.models.provider import ModelClient
from agentgym_envs.stopping import run_tasks
from agentgym_envs.terminal import CommandConsole

INTERRUPTED = "interrupted"
PATIENCE = 2.0  # seconds before a line says that the server's answer is waited for
out = CommandConsole(markup=False, emoji=False, highlight=False)
err = CommandConsole(stderr=True, markup=False, emoji=False, highlight=False)


class JobOutcome(NamedTuple):
    """The end of a job.

    Attributes:
        rows: the lines of the job's episodes, and rows of those that are missing.
        left: the number of episodes that are still missing.
        stopped: why the run ended early; empty if it did not.
        legend: explains the printed columns.
    """

    rows: list[EpisodeRow]
    left: int
    stopped: str
    legend: Sequence[str] = ()


def carry_out(job: EvalJob) -> JobOutcome:
    """Plays the episodes that the job's folder lacks, and prints the tables.

    Raises:
        AgentGymError: the folder, the model or its server cannot be used.
    """
    _announce(job)
    lines = job.folder / records.EPISODES
    fresh = not lines.exists() or not lines.stat().st_size
    if (
        job.client and fresh
    ):  # before the record, so that an unreachable server leaves no folder behind
        job.client.max_context = run_tasks(_checked(connect(job.client.endpoint)))
    opened = RunRecord(job.folder, job.settings)
    try:
        for torn in opened.torn:
            _warn(f"warning: {torn} ended in half a line, which is dropped")
        runner = _runner(job, opened)
        heads = [runner.head("missing", item) for item in job.items]
        if left := runner.missing(job.items):
            opened.begin(_session(job), change=job.options.allow_version_change)
        opened.plan(heads)
        if left:
            _run(runner, job, check=not fresh)
        return _summary(runner, job, heads)
    finally:
        opened.close()


def _announce(job: EvalJob) -> None:
    """Says what cannot be played, and how to accept that families cannot."""
    for line in job.absences:
        _warn(line)
    if job.skipped:
        option = left_out.only(job.settings.target, {item.family for item in job.items})
        _warn(f"{option} plays the other families alone, with exit status 0")


def _session(job: EvalJob) -> SessionEntry:
    env_ids = {item.env.env_id for item in job.items}
    absent = left_out.session_entry(job.skipped)
    if job.client is None:
        return {**session(env_ids, sys.argv[1:]), **absent}
    endpoint = job.client.endpoint
    begun = session(env_ids, sys.argv[1:], [endpoint])
    return {**begun, **absent, "base_url": endpoint.base_url, "served": []}


def _runner(job: EvalJob, opened: RunRecord) -> EvalRunner:
    budget = UsageBudget(job.options.budget_tokens, job.options.budget_cost, keep=opened.use)
    for usage in opened.used().values():
        budget.used.add(usage)
    return EvalRunner(
        settings=job.settings,
        factory=job.factory,
        record=opened,
        limits=job.limits,
        client=job.client,
        budget=budget,
    )


def _run(runner: EvalRunner, job: EvalJob, *, check: bool) -> None:
    """Runs to the end, with a live display; Ctrl-C keeps what is there.

    ``check``: asks first whether the model can be had.
    """
    known = {runner.key(item) for item in job.items}
    done = [row for row in records.episodes(runner.record.rows) if EpisodeKey.of(row) in known]

    async def go() -> None:
        async with runner.client or AsyncExitStack():
            if check and runner.client:
                await _check(runner.client)
            state = RunCounts(done, len(job.items), runner.budget.used)
            title = f"{job.player} on {job.settings.target}"
            async with LiveDisplay(err, title, state, job.options.max_tokens) as live:
                runner.on_row, runner.on_turn = live.row, state.turn
                runner.on_reply = live.reply
                if runner.client:
                    runner.client.on_failure = live.failure
                await runner.run(job.items)

    try:
        run_tasks(go())
    except KeyboardInterrupt:
        runner.stopped = INTERRUPTED
    except ProviderRefused as error:
        raise ProviderRefused(f"{error}{_advice(error)}", error.status) from None


def _advice(error: ProviderRefused) -> str:
    """Returns the remedy that the error does not name."""
    if error.status in HOPELESS:
        return ""
    return (
        ". The server will refuse the same request again: change the request's options"
        " (--temperature, --max-tokens, --send, --agent) or the model"
    )


async def _checked(client: ModelClient) -> int | None:
    """Asks whether the model can be had; returns its context if the server says it."""
    async with client:
        await _check(client)
        return client.max_context


async def _check(client: ModelClient) -> None:
    """Asks whether the model can be had; says what is waited for if that takes long."""
    failed: list[str] = []
    client.on_failure = lambda error, wait: failed.append(str(error))

    def report() -> None:
        limit = f"no answer yet; one try may take {client.endpoint.timeout:g} s (--request-timeout)"
        _warn(f"asking {client.endpoint.base_url} for the model: {(failed or [limit])[-1]}")

    timer = asyncio.get_running_loop().call_later(PATIENCE, report)
    try:
        await client.check()
    finally:
        timer.cancel()


def _summary(runner: EvalRunner, job: EvalJob, heads: Sequence[EpisodeRow]) -> JobOutcome:
    """Prints the tables, and why episodes are missing."""
    wanted = {runner.key(item) for item in job.items}
    rows = [row for row in runner.record.rows if EpisodeKey.of(row) in wanted]
    rows += planned.missing(rows, planned.extended([], heads))
    remarks = left_out.remarks(rows, job.skipped)
    legend = show_results(out, rows, f"{job.player} on {job.settings.target}", remarks)
    left, total = len(runner.missing(job.items)), len(job.items)
    used = runner.budget.used
    spent = f", {used.spent}" if used.calls else ""
    out.print(f"{job.folder}: {total - left} of {total} episodes{spent}", soft_wrap=True)
    if saved := used.saved:
        out.print(saved, soft_wrap=True)
    if left:
        why = runner.stopped or f"each of their tries failed, the last with: {runner.last_error}"
        why = why.rstrip(".")
        again = "" if runner.budget.spent else ". The same command plays them"
        verb = "is" if left == 1 else "are"
        _warn(f"{tables.counted(left, 'episode')} {verb} missing: {why}{again}")
    if job.skipped:
        missing = f"{left_out.counted(len(job.skipped))} of {job.settings.target} not played"
        _warn(f"{missing}: the exit status is 1")
    return JobOutcome(rows, left, runner.stopped, legend)


def _warn(text: str) -> None:
    err.print(text, style="yellow", soft_wrap=True)
