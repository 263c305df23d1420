"""The collector: groups of episodes from an environment pool and a generator, with failures retried on fresh environments."""

import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agentgym_envs.errors import EnvFailure, EnvTimeout, NeighbourFailed
from agentgym_envs.pool import EnvPool, Result
from agentgym_envs.tasks import stable_hash
from agentgym_train.protocols import Generator, Sample, Sampling, Session
from agentgym_train.rollout.chat import Chat
from agentgym_train.types import Failure, Group, Status, Trajectory, Turn

log = logging.getLogger(__name__)


class Start(NamedTuple):
    """Which episode to play: the seed picks the task unless it is named. Equal starts form a group."""

    group: int
    """The group's number among those of all processes."""
    seed: int
    task_id: str | None = None

    def reset(self, pool: EnvPool, row: int) -> None:
        """Asks a pool slot for it."""
        pool.reset(row, seed=self.seed, options={"task_id": self.task_id} if self.task_id else None)


@dataclass
class _Episode:
    """An episode in one pool slot, which is also its row in the session."""

    row: int
    start: Start
    trajectory: Trajectory
    tokens: int = 0
    failures: int = 0
    done: bool = False


class Collector:
    """Plays episodes.

    While the generator is at work what environments have answered is submitted without waiting for more, so that neither waits
    for the other; with one that samples all rows at once, environments and generator take turns.

    Args:
        pool: one environment an episode at least, without a step limit of its own.
        generator: the policy.
        chat: between text and tokens.
        max_context: tokens an episode may have, its next action included.
        retries: fresh environments an episode gets after failures of its own environment.
        batch_wait: seconds that ready episodes wait for slower ones while the generator has nothing to do.
    """

    def __init__(
        self, pool: EnvPool, generator: Generator, chat: Chat, *, max_context: int, retries: int = 3, batch_wait: float = 2.0
    ):
        self.pool, self.generator, self.chat = pool, generator, chat
        self.max_context, self.retries, self.batch_wait = max_context, retries, batch_wait
        self.failures: list[Failure] = []
        """Of the last collection, retried ones included; what a failing neighbour took along is not among them."""

    def collect(self, starts: Sequence[Start], *, max_turns: int, sampling: Sampling, noise: str) -> list[Group]:
        """Plays one episode a start.

        Args:
            starts: at most as many as the pool has environments.
            max_turns: the horizon.
            sampling: how to sample.
            noise: with an episode's group and its place in it, fixes the noise of its samples.

        Returns:
            One group for each distinct start, in order; episodes that failed through all retries are missing.
        """
        self.failures = []
        session = self.generator.session(noise_seeds(starts, noise), sampling)
        episodes = [_Episode(row, start, Trajectory(start.task_id or "", start.seed)) for row, start in enumerate(starts)]
        for episode in episodes:
            episode.start.reset(self.pool, episode.row)
        submitted: set[int] = set()
        while any(not e.done for e in episodes):
            for result in self._receive(wait=not submitted):
                prompt = self._advance(episodes[result.index], result, session, max_turns, sampling.max_new_tokens)
                if prompt is not None:
                    session.submit(result.index, prompt)
                    submitted.add(result.index)
            if submitted:
                for row, sample in session.poll().items():
                    submitted.remove(row)
                    self._act(episodes[row], sample)
        groups = {start: Group(start.group, []) for start in starts}
        for episode in episodes:
            if not episode.trajectory.status.is_error:
                groups[episode.start].trajectories.append(episode.trajectory)
        return list(groups.values())

    def _receive(self, *, wait: bool) -> list[Result]:
        """Returns the answers that are there; or waits for one, and for those that come in the ``batch_wait`` after it."""
        if not wait:
            return self.pool.recv(timeout=0)
        results = self.pool.recv()
        end = time.monotonic() + self.batch_wait
        while (left := end - time.monotonic()) > 0 and (more := self.pool.recv(timeout=left)):
            results += more
        return results

    def _advance(
        self, episode: _Episode, result: Result, session: Session, max_turns: int, max_new_tokens: int
    ) -> list[int] | None:
        """Takes an answer in; returns the tokens that lead to the next action, or None where none is due."""
        if result.error is not None:
            self._retry(episode, result.error, session)
            return None
        trajectory, turns, info = episode.trajectory, episode.trajectory.turns, result.info or {}
        trajectory.task_id = str(info.get("task_id", ""))
        if turns:
            turns[-1].reward = float(result.reward)
            turns[-1].invalid = bool(info.get("invalid", False))
            trajectory.score = float(info.get("score", trajectory.total_reward))
            trajectory.success = bool(info.get("success", result.terminated and trajectory.total_reward > 0))
        if result.terminated:
            self._end(episode, Status.COMPLETED, session)
            return None
        if result.truncated or len(turns) >= max_turns:
            self._end(episode, Status.TRUNCATED_HORIZON, session)
            return None
        observation = result.observation
        ids = self.chat.between(turns[-1].action_ids, observation) if turns else self.chat.opening(observation)
        if episode.tokens + len(ids) + max_new_tokens > self.max_context:
            self._end(episode, Status.TRUNCATED_CONTEXT, session)
            return None
        turns.append(Turn(observation, ids))
        episode.tokens += len(ids)
        return ids

    def _act(self, episode: _Episode, sample: Sample) -> None:
        turn = episode.trajectory.turns[-1]
        turn.action_ids, turn.logps, turn.version = sample.ids, sample.logps, sample.version
        turn.action = self.chat.text(sample.ids)
        episode.tokens += len(sample.ids)
        self.pool.send(episode.row, turn.action)

    def _end(self, episode: _Episode, status: Status, session: Session) -> None:
        episode.trajectory.status = status
        episode.done = True
        session.finish(episode.row)

    def _retry(self, episode: _Episode, error: EnvFailure, session: Session) -> None:
        """Starts the episode again from its seed, or gives it up. What a neighbour did is not held against it."""
        trajectory, seed = episode.trajectory, episode.start.seed
        episode.trajectory, episode.tokens = Trajectory(trajectory.task_id, seed), 0
        if not isinstance(error, NeighbourFailed):
            episode.failures += 1
            given_up = episode.failures > self.retries
            self.failures.append(Failure(trajectory.task_id, seed, len(trajectory.turns), str(error), given_up))
            if given_up:
                log.warning("episode of seed %d given up after %d failures: %s", seed, episode.failures, error)
                self._end(episode, Status.ERROR_TIMEOUT if isinstance(error, EnvTimeout) else Status.ERROR_ENV, session)
                return
        log.info("episode of seed %d starts again: %s", seed, error)
        session.restart(episode.row)
        episode.start.reset(self.pool, episode.row)


def noise_seeds(starts: Sequence[Start], noise: str) -> list[int]:
    """Returns one seed an episode: a function of ``noise``, its group, and how many episodes of the group come before it."""
    seen: Counter[Start] = Counter()
    seeds = []
    for start in starts:
        seeds.append(stable_hash(f"{noise} {start.group} {start.seed} {start.task_id} {seen[start]}"))
        seen[start] += 1
    return seeds
