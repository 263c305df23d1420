"""The evaluation loop: plays several episodes at a time, records failures and retries them.

Each player is an asyncio task that takes the next chain of episodes. A chain is one episode or, for
an agent that learns, all attempts at a task. Each ``EvalEnv`` has one pool, open while it has
episodes left.
"""

import asyncio
import logging
import math
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from agentgym_envs import registry
from agentgym_envs.agents.base import AgentFactory, OracleAgent
from agentgym_envs.errors import (
    AgentFailure,
    AgentGymError,
    ArgumentError,
    EnvFailure,
    NeighbourFailed,
    ProviderError,
    ProviderRefused,
)
from agentgym_envs.evaluate.budget import MeteredClient, UsageBudget, used_by
from agentgym_envs.evaluate.calls import AgentCaller
from agentgym_envs.evaluate.episode import EnvSlot, play
from agentgym_envs.evaluate.plan import EvalEnv, PlannedEpisode
from agentgym_envs.evaluate.record import EpisodeKey, EpisodeRow, EpisodeRows, episodes
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.evaluate.transcript import ChatMessages, EpisodeTranscript, OnReply, ToolSchemas
from agentgym_envs.models.answers import ModelReply
from agentgym_envs.models.provider import ModelClient
from agentgym_envs.pool import AsyncEnvPool

log = logging.getLogger(__name__)

Chain = list[PlannedEpisode]
PICTURES = "screenshots"
REFUSALS = 8  # refused requests in a row, after which a greeting decides whether the run goes on
PAUSE = 2.0  # seconds before an episode is played again during an outage
GIVE_UP = 8  # failures of an agent before it completes any episode of a run, that end the run
DISTURBANCES = 20  # repeats of an episode because others in its process failed
HOPELESS = (None, 401, 402, 403, 404)  # with this status a server usually refuses every request
WORKERS = 8  # environments in one process wait for each other


class _Outage(Exception):
    """Ends all players."""


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """Limits of a run's execution; none of them changes a result."""

    concurrency: int = 8
    """Episodes at a time."""
    workers: int | None = None
    """Processes of an ``EvalEnv``, or of its share on each host; None: one per episode, at most
    ``WORKERS`` or two per core."""
    hosts: Sequence[str] = ()
    """Addresses of ``agentgym serve --pool`` that run the environments; empty: this machine."""
    timeout: float = 60.0
    """Seconds that one call of an environment may take."""
    agent_timeout: float | None = None
    """Seconds that one call of an agent may take, with all of its requests; None: no limit."""
    retries: int = 2
    """Number of retries of a failed episode."""
    outage: float = 600.0
    """Seconds without any good reply of the model's server that end a run."""
    screenshots: bool = False
    """Keep a picture of each page of a web environment."""


@dataclass
class _SlotPool:
    """The pool of an ``EvalEnv``, and its free slots."""

    pool: AsyncEnvPool
    free: list[int]
    left: int
    """Chains that are still to be played in it."""


@dataclass
class EvalRunner:
    """Plays the episodes that a record lacks.

    Attributes:
        settings: the settings that determine results.
        factory: creates an agent per episode, or per seat of it.
        record: receives the lines.
        limits: limits of the execution.
        client: the model, if the agent needs one.
        budget: the record's budget.
        on_row: called with each new line.
        on_turn: called after each turn.
        on_reply: called with each reply of the model.
    """

    settings: RunSettings
    factory: AgentFactory
    record: EpisodeRows
    limits: RunLimits
    client: ModelClient | None = None
    budget: UsageBudget = field(default_factory=UsageBudget)
    on_row: Callable[[EpisodeRow], None] = lambda row: None
    on_turn: Callable[[], None] = lambda: None
    on_reply: Callable[[ModelReply], None] = lambda reply: None
    strict: bool = False
    """The first failure of an environment is raised."""
    stopped: str = ""
    """Why the run ended before everything was played; empty if it did not."""
    last_error: str = ""
    """Of the latest fault."""

    def __post_init__(self) -> None:
        self._slot_pools: dict[int, _SlotPool] = {}
        self._broken = self._refused = 0
        self._completed = False
        self._answered = -math.inf
        """Time of the latest good reply."""
        self._replied = any(row["usage"].get("calls") for row in episodes(self.record.rows))
        """Whether the model has answered in an episode of this folder."""

    def missing(self, items: Sequence[PlannedEpisode]) -> list[PlannedEpisode]:
        """Returns the episodes that the record does not hold."""
        done = {EpisodeKey.of(row) for row in episodes(self.record.rows)}
        return [item for item in items if self.key(item) not in done]

    def key(self, item: PlannedEpisode) -> EpisodeKey:
        """Returns what names an episode in the record."""
        return EpisodeKey(item.suite, item.family, item.task_id, item.attempt, self.settings.key)

    async def run(self, items: Sequence[PlannedEpisode]) -> None:
        """Plays the episodes that the record does not hold.

        If the run cannot continue, this returns early and sets ``stopped``.

        Raises:
            ProviderRefused: the server has refused every request: the key, the model, the address
                or an option of the request is wrong.
            AgentGymError: an environment rejected its arguments.
        """
        # Picture files have the task's name, so only one attempt at a task can run at a time.
        chains = _chains(
            self.missing(items), by_task=self.factory.learns or self.limits.screenshots
        )
        waiting = deque(chains)
        self._began = time.monotonic()
        self._chains_left = Counter(id(chain[0].env) for chain in chains)
        try:
            async with asyncio.TaskGroup() as players:
                for _ in range(min(self.limits.concurrency, len(chains))):
                    players.create_task(self._player(waiting))
        except* _Outage:
            pass
        except* Exception as group:
            raise _first(group) from None
        finally:
            for slots in self._slot_pools.values():
                await slots.pool.close()
            self._slot_pools.clear()

    async def _player(self, waiting: deque[Chain]) -> None:
        while waiting and not self.stopped:
            chain = waiting.popleft()
            slots = self._slot_pool(chain[0].env)
            slot = slots.free.pop()
            for item in chain:
                await self._try(item, EnvSlot(slots.pool, slot))
            slots.free.append(slot)
            slots.left -= 1
            if not slots.left:
                del self._slot_pools[id(chain[0].env)]
                await slots.pool.close()

    def _slot_pool(self, env: EvalEnv) -> _SlotPool:
        if id(env) not in self._slot_pools:
            left = self._chains_left[id(env)]
            count = min(self.limits.concurrency, left)
            share = -(-count // max(len(self.limits.hosts), 1))
            workers = min(self.limits.workers or max(WORKERS, 2 * (os.cpu_count() or 1)), share)
            listing = self._listing(env)
            options: dict[str, Any] = {
                "workers": workers,
                "timeout": self.limits.timeout,
                "action_format": self.settings.format,
                "hosts": self.limits.hosts or None,
            }
            pictures = {"screenshots": str(self._pictures(env))} if self._pictured(env) else {}
            keywords = {
                **options,
                "max_episode_steps": self.settings.horizon,
                **env.kwargs,
                **listing,
                **pictures,
            }
            self._slot_pools[id(env)] = _SlotPool(
                AsyncEnvPool(env.env_id, count, **keywords), list(range(count)), left
            )
        return self._slot_pools[id(env)]

    def _listing(self, env: EvalEnv) -> dict[str, Any]:
        """Returns the keyword for admissible actions if the agent needs them."""
        name = registry.named(env.env_id)
        if self.factory.target is OracleAgent and not env.text_env:
            raise ArgumentError(f"{name} has no oracle")
        if not self.factory.lists_actions:
            return {}
        if not registry.takes(env.env_id, "admissible"):
            raise ArgumentError(
                f"{name} has no keyword 'admissible', and random play needs its admissible actions"
            )
        return {"admissible": True}

    async def _try(self, item: PlannedEpisode, env_slot: EnvSlot) -> None:
        """Plays an episode until it completes or its retries are used up.

        A failure is not a result.
        """
        tries = disturbed = 0
        meter = self._meter(item, tries)
        while tries <= self.limits.retries and not self.stopped:
            if self.budget.spent:
                self.stopped = self.budget.spent
                return
            turns: list[EpisodeRow] = []
            began = time.monotonic()
            try:
                played = await self._played(item, env_slot, turns, meter)
            except (AgentFailure, EnvFailure, ProviderError) as error:
                if self.strict:
                    raise _own(error) from None
                disturbed += isinstance(error, NeighbourFailed)
                if isinstance(error, NeighbourFailed) and disturbed <= DISTURBANCES:
                    log.info("%s is played again: %s", item.task_id, error)
                    continue
                if isinstance(error, ProviderRefused):
                    await self._check_refusal(error, meter)
                    self._fault(item, error, tries + 1, turns, meter)
                    return
                if (
                    isinstance(error, ProviderError)
                    and self.client
                    and not (self._answered >= began or await self._greets(meter))
                ):
                    self._check_outage(error)
                    log.info("%s is played again: %s", item.task_id, error)
                    await asyncio.sleep(PAUSE)
                    meter = self._meter(item, tries)
                    continue
                tries += 1
                self._fault(item, error, tries, turns, meter)
                meter = self._meter(item, tries)
            else:
                self._completed = True
                self._keep_pictures(item, turns)
                used = {"usage": vars(meter.usage) if meter else {}}
                self._add({**self.head("episode", item), **played, **used})
                return

    async def _greets(self, meter: MeteredClient | None) -> bool:
        """Returns whether the server answers a short conversation in the form of an episode's."""
        if self.client is None:  # an agent's own client failed
            return False
        try:
            reply = await self.client.greet(meter.tools if meter else None)
        except ProviderError:
            return False
        self.budget.add(used_by(reply))
        self._answered = time.monotonic()
        return True

    async def _check_refusal(self, error: ProviderRefused, meter: MeteredClient | None) -> None:
        """Raises or ends the run if no episode survives a refusal.

        Raises:
            ProviderRefused: the server refuses every episode.
        """
        self._refused += 1
        first, many = self._answered == -math.inf, self._refused >= REFUSALS
        if not (first or many):
            return
        if many and not self._replied:
            raise error
        if await self._greets(meter):
            self._refused = 0 if self._replied else self._refused
            return
        if first:
            raise error
        self.stopped = (
            f"the server refused {self._refused} requests in a row, the last with: {error}"
        )

    def _check_outage(self, error: ProviderError) -> None:
        """Ends the run if the server has been silent for too long."""
        silent = time.monotonic() - max(self._answered, self._began)
        if silent >= self.limits.outage:
            self.stopped = (
                f"the model's server gave no good reply for {silent:.0f} s (--outage"
                f" {self.limits.outage:g}), the last error: {error}"
            )
            raise _Outage

    def _meter(self, item: PlannedEpisode, tries: int) -> MeteredClient | None:
        """Returns the client of one try."""
        sample = "/".join((item.suite, item.family, item.task_id, f"{item.attempt}/{tries}"))
        return MeteredClient(self.client, self.budget, sample) if self.client else None

    async def _played(
        self,
        item: PlannedEpisode,
        env_slot: EnvSlot,
        turns: list[EpisodeRow],
        meter: MeteredClient | None,
    ) -> EpisodeRow:
        """Plays an episode once; returns its result and the model's calls."""
        transcript = EpisodeTranscript(self.record.share, turns)
        if meter:
            meter.on_reply = self._on_reply(transcript)
        played = await play(
            item,
            partial(self.factory.make, meter),
            env_slot,
            form=self.settings.format,
            memory=self._memory(item),
            turns=turns,
            caller=AgentCaller(self.limits.agent_timeout),
            on_turn=self.on_turn,
        )
        asked = transcript.row
        for call in asked.get("calls", ()):
            if call.get("finish") == "length" and call["turn"] < len(turns):
                turns[call["turn"]]["cut"] = True
        return {**played, **asked}

    def _on_reply(self, transcript: EpisodeTranscript) -> OnReply:
        def on_reply(messages: ChatMessages, tools: ToolSchemas, reply: ModelReply) -> None:
            self._answered, self._refused, self._replied = time.monotonic(), 0, True
            transcript.add(messages, tools, reply)
            self.record.served(reply.model)
            self.on_reply(reply)

        return on_reply

    def _pictured(self, env: EvalEnv) -> bool:
        return self.limits.screenshots and registry.takes(env.env_id, "screenshots")

    def _pictures(self, env: EvalEnv) -> Path:
        """Returns where an environment puts the pictures of the episode under way."""
        assert self.record.folder is not None
        folder = self.record.folder / PICTURES / "under way" / env.env_id.rpartition("/")[2]
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _keep_pictures(self, item: PlannedEpisode, turns: list[EpisodeRow]) -> None:
        """Moves the picture of each turn's observation to a unique name."""
        if not self._pictured(item.env):
            return
        assert self.record.folder is not None
        for number, turn in enumerate(turns):
            name = (
                f"{item.env.env_id.rpartition('/')[2]}-{item.task_id}-{item.attempt}-{number}.png"
            )
            (self._pictures(item.env) / f"{item.task_id}-{number}.png").replace(
                self.record.folder / PICTURES / name
            )
            turn["screenshot"] = f"{PICTURES}/{name}"

    def _memory(self, item: PlannedEpisode) -> list[Any]:
        """Returns what earlier attempts at the task left, in their order."""
        if not self.factory.learns:
            return []
        earlier = [self.key(item)._replace(attempt=n) for n in range(item.attempt)]
        left = {EpisodeKey.of(row): row["memory"] for row in episodes(self.record.rows)}
        return [left[key] for key in earlier if key in left]

    def _fault(
        self,
        item: PlannedEpisode,
        error: AgentGymError,
        tries: int,
        turns: list[EpisodeRow],
        meter: MeteredClient | None,
    ) -> None:
        kind = _kind(error)
        said = {"fault": kind, "try": tries, "error": str(error), "turns": len(turns)}
        trace = {"traceback": error.trace} if isinstance(error, AgentFailure) else {}
        used = {"usage": vars(meter.usage) if meter else {}}
        self._add({**self.head("fault", item), **said, **trace, **used})
        self.last_error = str(error)
        self._broken += kind == "agent"
        if self._broken >= GIVE_UP and not self._completed:
            self.stopped = f"the agent failed {GIVE_UP} times, the last time with: {error}"
        if self.stopped:
            raise _Outage

    def head(self, row: str, item: PlannedEpisode) -> EpisodeRow:
        """Returns the first keys of an episode's line, of the kind ``row``."""
        named = {
            "suite": item.suite,
            "scenario": item.scenario,
            "family": item.family,
            "env_id": item.env.env_id,
        }
        which = {"task_id": item.task_id, "difficulty": item.difficulty, "attempt": item.attempt}
        return {"row": row, **named, **which, "settings": self.settings.key}

    def _add(self, row: EpisodeRow) -> None:
        self.record.add(row)
        self.on_row(row)


def _own(error: AgentGymError) -> BaseException:
    """Returns an agent's own exception, or the failure."""
    return (error.__cause__ if isinstance(error, AgentFailure) else None) or error


def _kind(error: AgentGymError) -> str:
    """Returns what is at fault."""
    if isinstance(error, ProviderError):
        return "rejected" if isinstance(error, ProviderRefused) else "provider"
    return "agent" if isinstance(error, AgentFailure) else "environment"


def _first(group: BaseExceptionGroup[Any]) -> BaseException:
    """Returns the first exception of nested groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _chains(items: Sequence[PlannedEpisode], *, by_task: bool) -> list[Chain]:
    """Returns what is played in order: each episode by itself, or all attempts at a task."""
    if not by_task:
        return [[item] for item in items]
    chains: dict[tuple[str, str], Chain] = {}
    for item in items:
        chains.setdefault((item.family, item.task_id), []).append(item)
    return [sorted(chain, key=lambda item: item.attempt) for chain in chains.values()]
