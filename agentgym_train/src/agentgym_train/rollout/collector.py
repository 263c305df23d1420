"""The collector: groups of episodes from an environment pool and generators, with failures retried on fresh environments.

An environment with several agents asks them one after the other (``info["seat"]``) and says what a
step has brought to each (``info["rewards"]`` and its like: see
:class:`agentgym_envs.multi.env.SeatsEnv`). Each agent has a trajectory of its own.
"""

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from agentgym_envs.errors import EnvFailure, EnvTimeout, NeighbourFailed
from agentgym_envs.pool import EnvPool, Result
from agentgym_envs.tasks import stable_hash
from agentgym_train.data.types import Failure, Group, Status, Trajectory, Turn
from agentgym_train.models.chat import Chat
from agentgym_train.protocols import Generator, Sample, Sampling, Session

log = logging.getLogger(__name__)
ALONE = ("",)  # the agents of an environment with one


class Start(NamedTuple):
    """Which episode to play: the seed picks the task unless it is named.

    Equal starts form a group.
    """

    group: int
    """The group's number among those of all processes."""
    seed: int
    task_id: str | None = None

    def reset(self, pool: EnvPool, row: int) -> None:
        """Asks a pool slot for it."""
        pool.reset(row, seed=self.seed, options={"task_id": self.task_id} if self.task_id else None)


@dataclass
class _Seat:
    """An agent of an episode."""

    row: int
    """In its session."""
    trajectory: Trajectory
    tokens: int = 0


@dataclass
class _Episode:
    """An episode in one pool slot."""

    slot: int
    start: Start
    seats: dict[str, _Seat]
    """By agent."""
    failures: int = 0
    done: bool = False
    late: bool = False
    """A batch went on without it: its environment has not answered within ``batch_wait``."""


@dataclass
class _GeneratorSlot:
    """Episodes in progress, as a generator has them."""

    session: Session
    waiting: dict[int, tuple[_Episode, _Seat]] = field(default_factory=dict)
    """By row: whose action is being sampled."""


class _Told(NamedTuple):
    """What a step has brought to an agent."""

    reward: float
    invalid: bool
    score: float
    success: bool


class Collector:
    """Plays episodes.

    While a generator is at work what environments have answered is submitted without waiting for
    more, so that neither waits for the other; with one that samples all rows at once, environments
    and generator take turns.

    Args:
        pool: one environment an episode at least, without a step limit of its own.
        generator: the policy.
        chat: between text and tokens.
        max_context: tokens an agent may have in an episode, its next action included.
        retries: fresh environments an episode gets after failures of its own environment.
        batch_wait: seconds that ready episodes wait for slower ones while the generators have
            nothing to do.
        agents: of the environment; empty where it has one.
        opponents: who plays the agents that the policy does not.
    """

    def __init__(
        self,
        pool: EnvPool,
        generator: Generator,
        chat: Chat,
        *,
        max_context: int,
        retries: int = 3,
        batch_wait: float = 10.0,
        agents: Sequence[str] = (),
        opponents: Mapping[str, Generator] = MappingProxyType({}),
    ):
        self.pool, self.chat = pool, chat
        self.max_context, self.retries, self.batch_wait = max_context, retries, batch_wait
        self.generators = {agent: opponents.get(agent, generator) for agent in agents or ALONE}
        self.failures: list[Failure] = []
        """Of the last collection, retried ones included; what a failing neighbour took along is not among them."""

    def collect(
        self, starts: Sequence[Start], *, max_turns: int, sampling: Sampling, noise: str
    ) -> list[Group]:
        """Plays one episode a start.

        Args:
            starts: at most as many as the pool has environments.
            max_turns: the horizon, in turns of an agent.
            sampling: how to sample.
            noise: with an episode's group, its place in it and the agent, fixes the noise of its
                samples.

        Returns:
            One group for each distinct start and agent, in order; episodes that failed through all
            retries are missing.
        """
        self.failures, self._max_turns, self._room = [], max_turns, sampling.max_new_tokens
        self._slots, rows = self._speak(starts, sampling, noise)
        episodes = [
            _Episode(n, start, {a: _Seat(rows[a][n], _blank(start, a)) for a in self.generators})
            for n, start in enumerate(starts)
        ]
        for episode in episodes:
            episode.start.reset(self.pool, episode.slot)
        slots = list({id(slot): slot for slot in self._slots.values()}.values())
        while any(not e.done for e in episodes):
            for result in self._receive(episodes, wait=not any(slot.waiting for slot in slots)):
                self._advance(episodes[result.index], result)
            for slot in (v for v in slots if v.waiting):
                for row, sample in slot.session.poll().items():
                    self._act(*slot.waiting.pop(row), sample)
        groups = {
            (start, agent): Group(start.group, []) for start in starts for agent in self.generators
        }
        for episode in episodes:
            for agent, seat in episode.seats.items():
                if not seat.trajectory.status.is_error:
                    groups[episode.start, agent].trajectories.append(seat.trajectory)
        return list(groups.values())

    def _speak(
        self, starts: Sequence[Start], sampling: Sampling, noise: str
    ) -> tuple[dict[str, _GeneratorSlot], dict[str, list[int]]]:
        """Begins a session with each generator; returns that of each agent, and the agent's row in each episode."""
        speakers: dict[int, list[str]] = {}
        for agent, generator in self.generators.items():
            speakers.setdefault(id(generator), []).append(agent)
        slots: dict[str, _GeneratorSlot] = {}
        rows: dict[str, list[int]] = {}
        for agents in speakers.values():
            seeds = [
                seed
                for agent in agents
                for seed in noise_seeds(starts, f"{noise} {agent}" if agent else noise)
            ]
            slot = _GeneratorSlot(self.generators[agents[0]].session(seeds, sampling))
            for place, agent in enumerate(agents):
                slots[agent], rows[agent] = (
                    slot,
                    [place * len(starts) + n for n in range(len(starts))],
                )
        return slots, rows

    def _receive(self, episodes: Sequence[_Episode], *, wait: bool) -> list[Result]:
        """Returns the answers that are there; or waits for one, and for those that come in the ``batch_wait`` after it.

        Answers are in the order of their episodes. The order in which they arrive is the machine's,
        and must not reach a generator.
        """
        if not wait:
            return _ordered(self.pool.recv(timeout=0))
        results = self.pool.recv()
        end = time.monotonic() + self.batch_wait
        while (left := end - time.monotonic()) > 0 and (more := self.pool.recv(timeout=left)):
            results += more
        _note_late(episodes, results)
        return _ordered(results)

    def _advance(self, episode: _Episode, result: Result) -> None:
        """Takes an answer in, and asks whoever acts next for an action, if one is due."""
        episode.late = False
        if result.error is not None:
            self._retry(episode, result.error)
            return
        info = result.info or {}
        agent = "" if "" in episode.seats else str(info["seat"])
        self._credit(
            episode, result, begun=any(seat.trajectory.turns for seat in episode.seats.values())
        )
        seat, turns = episode.seats[agent], episode.seats[agent].trajectory.turns
        if result.terminated:
            self._end(episode, Status.COMPLETED)
        elif result.truncated or len(turns) >= self._max_turns:
            self._end(episode, Status.TRUNCATED_HORIZON)
        else:
            observation = result.observation
            ids = (
                self.chat.between(turns[-1].action_ids, observation)
                if turns
                else self.chat.opening(observation)
            )
            if seat.tokens + len(ids) + self._room > self.max_context:
                self._end(episode, Status.TRUNCATED_CONTEXT)
                return
            turns.append(Turn(observation, ids))
            seat.tokens += len(ids)
            self._slots[agent].session.submit(seat.row, ids)
            self._slots[agent].waiting[seat.row] = episode, seat

    def _credit(self, episode: _Episode, result: Result, *, begun: bool) -> None:
        """Gives each agent's latest turn what the step has brought to it."""
        info = result.info or {}
        for agent, seat in episode.seats.items():
            trajectory = seat.trajectory
            trajectory.task_id = str(info.get("task_id", ""))
            if not begun:
                continue
            told = _told(result, agent, trajectory.total_reward)
            if trajectory.turns:
                trajectory.turns[-1].reward += told.reward
                trajectory.turns[-1].invalid |= told.invalid
            trajectory.score, trajectory.success = told.score, told.success

    def _act(self, episode: _Episode, seat: _Seat, sample: Sample) -> None:
        turn = seat.trajectory.turns[-1]
        turn.action_ids, turn.logps, turn.version = sample.ids, sample.logps, sample.version
        turn.action = self.chat.text(sample.ids)
        seat.tokens += len(sample.ids)
        self.pool.send(episode.slot, turn.action)

    def _end(self, episode: _Episode, status: Status) -> None:
        episode.done = True
        for agent, seat in episode.seats.items():
            seat.trajectory.status = status
            self._slots[agent].session.finish(seat.row)

    def _retry(self, episode: _Episode, error: EnvFailure) -> None:
        """Starts the episode again from its seed, or gives it up.

        What a neighbour did is not held against it.
        """
        seed, task_id = episode.start.seed, next(iter(episode.seats.values())).trajectory.task_id
        played = sum(len(seat.trajectory.turns) for seat in episode.seats.values())
        for agent, seat in episode.seats.items():
            seat.trajectory, seat.tokens = (
                _blank(episode.start, agent, task_id, late=seat.trajectory.late),
                0,
            )
        if not isinstance(error, NeighbourFailed):
            episode.failures += 1
            given_up = episode.failures > self.retries
            self.failures.append(Failure(task_id, seed, played, str(error), given_up))
            if given_up:
                log.warning(
                    "episode of seed %d given up after %d failures: %s",
                    seed,
                    episode.failures,
                    error,
                )
                self._end(
                    episode,
                    Status.ERROR_TIMEOUT if isinstance(error, EnvTimeout) else Status.ERROR_ENV,
                )
                return
        log.info("episode of seed %d starts again: %s", seed, error)
        for agent, seat in episode.seats.items():
            self._slots[agent].session.restart(seat.row)
        episode.start.reset(self.pool, episode.slot)


def _ordered(results: list[Result]) -> list[Result]:
    return sorted(results, key=lambda result: result.index)


def _note_late(episodes: Sequence[_Episode], results: Sequence[Result]) -> None:
    """Counts each answer, once, that the next batch does not wait for any longer."""
    answered = {result.index for result in results}
    for episode in episodes:
        if not (episode.done or episode.late or episode.slot in answered):
            episode.late = True
            next(iter(episode.seats.values())).trajectory.late += 1


def _blank(start: Start, agent: str, task_id: str = "", *, late: int = 0) -> Trajectory:
    return Trajectory(task_id or start.task_id or "", start.seed, agent=agent, late=late)


def _told(result: Result, agent: str, total: float) -> _Told:
    """Returns what a step has brought to an agent, who had earned ``total`` before.

    Several agents are told apart by :class:`agentgym_envs.multi.env.SeatsEnv`.
    """
    info = result.info or {}
    if agent:
        return _Told(*(info[key][agent] for key in ("rewards", "invalids", "scores", "successes")))
    total += result.reward
    success = bool(info.get("success", result.terminated and total > 0))
    return _Told(
        float(result.reward),
        bool(info.get("invalid", False)),
        float(info.get("score", total)),
        success,
    )


def noise_seeds(starts: Sequence[Start], noise: str) -> list[int]:
    """Returns one seed an episode: a function of ``noise``, its group, and how many episodes of the group come before it."""
    seen: Counter[Start] = Counter()
    seeds = []
    for start in starts:
        seeds.append(
            stable_hash(f"{noise} {start.group} {start.seed} {start.task_id} {seen[start]}")
        )
        seen[start] += 1
    return seeds
