"""The collector: plays groups of episodes with an environment pool and generators.

A failed episode is retried on a fresh environment.

An agent that learns can have several attempts at a task in an episode. The agent's lesson and the
next attempt, from the same start, follow an attempt without success. The trajectory has all of
them.

An environment with several agents asks one agent at a time (``info["seat"]``). It returns the
results of a step for each agent (``info["rewards"]`` and others; see
:class:`agentgym_envs.multi.env.SeatsEnv`). Each agent has a separate trajectory.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from types import MappingProxyType
from typing import Any

from agentgym_envs.errors import ContextExceeded, EnvFailure, EnvTimeout, NeighbourFailed
from agentgym_envs.pool import EnvPool, PoolResult
from agentgym_envs.tasks import stable_hash
from agentgym_train.data.types import Call, EpisodeFailure, EpisodeStatus, Group, Turn
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import ActionSample, Generator, GeneratorSession, SamplingOptions
from agentgym_train.rollout.episode import AgentState, Episode, new_trajectory
from agentgym_train.rollout.policy_client import Player, StreamPlayer
from agentgym_train.rollout.responses import EnvResponses
from agentgym_train.rollout.tasks import EpisodeStart

log = logging.getLogger(__name__)
SINGLE_AGENT = ("",)  # the names of the agents of an environment with one agent
GLANCE = 0.02  # seconds that responses wait for a generator in the background
PATIENCE = 2.0  # seconds that ``stop`` waits for a collection to end


@dataclass
class _GeneratorSlot:
    """A generator's session, and the agents that it samples for."""

    session: GeneratorSession
    in_background: bool
    waiting: dict[int, tuple[Episode, AgentState]] = field(default_factory=dict)
    """By row: the agents whose next action is requested."""


class EpisodeCollector:
    """Plays episodes.

    A row that is sampled goes to its environment at once, and the generator continues with the
    other rows. ``EnvResponses`` decides when the row joins them again. With a generator that
    samples in the background, an observation is submitted as soon as it has arrived.

    Args:
        pool: at least one environment per episode, without step limits.
        generator: the policy.
        chat: the template of the default player.
        max_context: maximum tokens of a sample, its next action included.
        make_player: creates the player of an agent, from the agent's name and the limits of
            :class:`~agentgym_train.rollout.policy_client.Player`; None: a ``StreamPlayer``.
        retries: fresh environments per episode after failures of its environment.
        batch_wait: maximum time, in seconds, that ready episodes wait for slower ones.
        max_rows: maximum number of rows in progress, over all agents; 0: no limit.
        attempts: maximum number of attempts at a task in an episode. More than 1 need players with
            ``end`` and ``next_attempt``.
        agents: names of the environment's agents; empty if it has one agent.
        opponents: generators of the agents that the policy does not play, by agent.
        keep_next: keep the prompt after the last action of an episode that is truncated at the
            horizon. With several agents, the agent that would act next has it. A prompt that does
            not fit into the context together with an action is not kept: the episode could not have
            continued at any horizon. An agent with several calls in a turn has the first one's.
    """

    def __init__(
        self,
        pool: EnvPool,
        generator: Generator,
        chat: ChatTokens,
        *,
        max_context: int,
        make_player: Callable[..., Player] | None = None,
        retries: int = 3,
        batch_wait: float = 10.0,
        max_rows: int = 0,
        attempts: int = 1,
        agents: Sequence[str] = (),
        opponents: Mapping[str, Generator] = MappingProxyType({}),
        keep_next: bool = False,
    ):
        self.pool, self.chat, self.max_context = pool, chat, max_context
        self._make_player = make_player or (lambda _, **limits: StreamPlayer(chat, **limits))
        self.retries, self.batch_wait, self.attempts = retries, batch_wait, attempts
        self.keep_next = keep_next
        self.generators = {
            agent: opponents.get(agent, generator) for agent in agents or SINGLE_AGENT
        }
        self._max_episodes = max(max_rows // len(self.generators), 1) if max_rows else sys.maxsize
        self._collecting, self._stopped = Lock(), False
        self.failures: list[EpisodeFailure] = []
        """Failures of the latest collection, retried ones included.

        An episode that ended only because another environment in its worker process failed is not
        counted.
        """

    def collect(
        self,
        starts: Sequence[EpisodeStart],
        *,
        max_turns: int,
        sampling: SamplingOptions,
        noise: str,
    ) -> list[Group]:
        """Plays one episode per start.

        Args:
            starts: at most as many as the pool has environments.
            max_turns: the horizon of an attempt, in turns of an agent.
            sampling: sampling options.
            noise: fixes the sampling noise, together with an episode's group, its index in the
                group, and the agent.

        Returns:
            One group for each distinct start and agent, in order. Episodes that failed in every try
            are missing.

        Raises:
            CancelledError: another thread called ``stop``.
        """
        with self._collecting:
            return self._collect(starts, max_turns, sampling, noise)

    def stop(self) -> None:
        """Ends a collection in another thread; there is none after this one.

        It waits until the pool is not used any more, or the generator takes long to return.
        """
        self._stopped, end = True, time.monotonic() + PATIENCE
        while not self._collecting.acquire(timeout=GLANCE) and time.monotonic() < end:
            self.pool.wake()

    def _collect(
        self, starts: Sequence[EpisodeStart], max_turns: int, sampling: SamplingOptions, noise: str
    ) -> list[Group]:
        self.failures, self._max_turns, self._sampling = [], max_turns, sampling
        self._responses = EnvResponses(self.pool, self.batch_wait)
        self._slots, rows = self._start_sessions(starts, sampling, noise)
        episodes = [
            Episode(
                n,
                start,
                {
                    a: AgentState(rows[a][n], new_trajectory(start, a), self._player(a))
                    for a in self.generators
                },
            )
            for n, start in enumerate(starts)
        ]
        slots = list({id(slot): slot for slot in self._slots.values()}.values())
        with ExitStack() as stack:
            for slot in slots:
                stack.callback(slot.session.close)
            self._play(episodes, slots)
        groups = {
            (start, agent): Group(start.group, []) for start in starts for agent in self.generators
        }
        for episode in episodes:
            for agent, state in episode.agents.items():
                if not state.trajectory.status.is_error:
                    groups[episode.start, agent].trajectories.append(state.trajectory)
        return list(groups.values())

    def _play(self, episodes: Sequence[Episode], slots: Sequence[_GeneratorSlot]) -> None:
        """Plays the episodes to their ends."""
        upcoming, playing = iter(episodes), list[Episode]()
        while True:
            playing = [episode for episode in playing if not episode.done]
            for episode in islice(upcoming, self._max_episodes - len(playing)):
                self._reset(episode)
                playing.append(episode)
            if not playing:
                return
            results, late = self._responses.receive(
                len(playing),
                busy=any(slot.waiting for slot in slots),
                in_background=any(slot.in_background for slot in slots),
            )
            if self._stopped:
                raise CancelledError
            for n in late:
                next(iter(episodes[n].agents.values())).trajectory.late += 1
            for result in results:
                self._advance(episodes[result.index], result)
            for slot in (v for v in slots if v.waiting):
                for row, sample in slot.session.poll(self._timeout(slot)).items():
                    self._act(*slot.waiting.pop(row), sample)

    def _player(self, agent: str) -> Player:
        return self._make_player(
            agent, max_context=self.max_context, max_new_tokens=self._sampling.max_new_tokens
        )

    def _timeout(self, slot: _GeneratorSlot) -> float | None:
        """Returns the time limit of a poll, after which responses are looked for."""
        if slot.in_background:
            return GLANCE
        # By counts, no response is taken before a row is done; by the clock, it can be at any time.
        return 0.0 if self._responses.by_clock else None

    def _start_sessions(
        self, starts: Sequence[EpisodeStart], sampling: SamplingOptions, noise: str
    ) -> tuple[dict[str, _GeneratorSlot], dict[str, list[int]]]:
        """Starts a session with each generator.

        Returns:
            By agent: the slot of its generator, and the agent's row for each episode.
        """
        agents_of: dict[int, list[str]] = {}
        for agent, generator in self.generators.items():
            agents_of.setdefault(id(generator), []).append(agent)
        slots: dict[str, _GeneratorSlot] = {}
        rows: dict[str, list[int]] = {}
        for agents in agents_of.values():
            seeds = [
                seed
                for agent in agents
                for seed in noise_seeds(starts, f"{noise} {agent}" if agent else noise)
            ]
            generator = self.generators[agents[0]]
            slot = _GeneratorSlot(generator.session(seeds, sampling), generator.in_background)
            for place, agent in enumerate(agents):
                slots[agent] = slot
                rows[agent] = [place * len(starts) + n for n in range(len(starts))]
        return slots, rows

    def _advance(self, episode: Episode, result: PoolResult) -> None:
        """Processes a response, and requests the next agent's action unless the episode is over."""
        if result.error is not None:
            self._retry(episode, result.error)
            return
        info = result.info or {}
        agent = "" if "" in episode.agents else str(info["seat"])
        episode.credit(result)
        state = episode.agents[agent]
        played = len(state.trajectory.last_attempt)
        if result.terminated or result.truncated or played >= self._max_turns:
            self._end_attempt(episode, state, result)
        else:
            state.trajectory.turns.append(Turn(result.observation))
            state.steps = state.player.turn(result.observation, info)
            self._continue(episode, state, None)

    def _end_attempt(self, episode: Episode, state: AgentState, result: PoolResult) -> None:
        """Ends the episode, or asks all agents for the lessons that precede the next attempt."""
        if len(episode.memory) + 1 < self.attempts and not episode.solved:
            for each in episode.agents.values():
                own = result.observation if each is state else None
                each.begin_lesson(own, truncated=not result.terminated)
                self._continue(episode, each, None)
        elif result.terminated:
            self._end(episode, EpisodeStatus.COMPLETED)
        else:
            if self.keep_next:
                state.trajectory.next_call = _next_call(state.player, result)
            self._end(episode, EpisodeStatus.TRUNCATED_HORIZON)

    def _continue(self, episode: Episode, state: AgentState, sample: ActionSample | None) -> None:
        """Continues an agent's turn up to its next request, its response or its lesson."""
        assert state.steps is not None
        turns = state.trajectory.turns
        try:
            # A generator that has not begun accepts None only.
            request = state.steps.send(sample)  # type: ignore[arg-type]
        except StopIteration as response:
            if turns[-1].lesson:
                self._learn(episode, state, response.value)
                return
            turns[-1].action = response.value
            self._responses.expect(episode.slot)
            self.pool.send(episode.slot, turns[-1].action)
        except ContextExceeded:
            if turns[-1].lesson:
                self._learn(episode, state, None)
                return
            if not turns[-1].calls:
                turns.pop()
            self._end(episode, EpisodeStatus.TRUNCATED_CONTEXT)
        else:
            turns[-1].calls.append(request.call)
            slot = self._slots[state.trajectory.agent]
            if request.kept < state.tokens:
                slot.session.rewind(state.row, request.kept)
            state.tokens = request.kept + len(request.ids)
            slot.session.submit(state.row, request.ids)
            slot.waiting[state.row] = episode, state

    def _learn(self, episode: Episode, state: AgentState, lesson: Any) -> None:
        """Notes a lesson; after the last agent's, the next attempt begins at the same start."""
        if episode.learn(state, lesson):
            self._reset(episode)

    def _act(self, episode: Episode, state: AgentState, sample: ActionSample) -> None:
        call = state.trajectory.turns[-1].calls[-1]
        call.action_ids, call.logps, call.version = sample.ids, sample.logps, sample.version
        call.cut = sample.ids[-1] not in self._sampling.stop_ids
        state.tokens += len(sample.ids)
        self._continue(episode, state, sample)

    def _reset(self, episode: Episode) -> None:
        self._responses.expect(episode.slot)
        episode.start.reset(self.pool, episode.slot)

    def _end(self, episode: Episode, status: EpisodeStatus) -> None:
        episode.done = True
        for agent, state in episode.agents.items():
            state.trajectory.status = status
            self._slots[agent].session.finish(state.row)

    def _retry(self, episode: Episode, error: EnvFailure) -> None:
        """Starts the episode again from its first attempt, or gives it up after too many failures.

        A failure of another episode in the same worker process does not count.
        """
        seed, task_id = episode.start.seed, next(iter(episode.agents.values())).trajectory.task_id
        turns = [turn for state in episode.agents.values() for turn in state.trajectory.turns]
        played = sum(not turn.lesson for turn in turns)
        episode.restart(self._player)
        if not isinstance(error, NeighbourFailed):
            episode.failures += 1
            given_up = episode.failures > self.retries
            self.failures.append(EpisodeFailure(task_id, seed, played, str(error), given_up))
            if given_up:
                log.warning(
                    "episode of seed %d given up after %d failures: %s",
                    seed,
                    episode.failures,
                    error,
                )
                self._end(
                    episode,
                    EpisodeStatus.ERROR_TIMEOUT
                    if isinstance(error, EnvTimeout)
                    else EpisodeStatus.ERROR_ENV,
                )
                return
        log.info("episode of seed %d starts again: %s", seed, error)
        for agent, state in episode.agents.items():
            self._slots[agent].session.restart(state.row)
        self._reset(episode)


def _next_call(player: Player, result: PoolResult) -> Call | None:
    """Returns the first request of a turn that is not played; None if it does not fit."""
    steps = player.turn(result.observation, result.info or {})
    try:
        return next(steps).call
    except ContextExceeded:
        return None
    finally:
        steps.close()


def noise_seeds(starts: Sequence[EpisodeStart], noise: str) -> list[int]:
    """Returns the noise seed of each episode.

    A seed is a function of ``noise``, the episode's start and its index in the group only. It does
    not depend on the process, or on the other groups.
    """
    seen: Counter[EpisodeStart] = Counter()
    seeds = []
    for start in starts:
        seeds.append(
            stable_hash(f"{noise} {start.group} {start.seed} {start.task_id} {seen[start]}")
        )
        seen[start] += 1
    return seeds
