"""The responses of environments, in an order that does not depend on their speed.

While a generator samples, the responses of some environments may be missing. Which responses are
awaited follows from the number of missing ones and from the order of the requests. The clock has no
influence as long as environments respond within ``batch_wait``, and within ``STALL`` while a
generator has rows to sample. After the first late response it has, so the rest of the collection
waits for no environment while a generator can sample.
"""

import time
from collections.abc import Collection
from typing import NamedTuple

from agentgym_envs.pool import EnvPool, PoolResult
from agentgym_envs.scores import above

MISSING, LEFT, TOGETHER = 1 / 4, 3 / 16, 1 / 16
"""Shares of the episodes in progress, while a generator samples.

At most ``MISSING`` may lack a response. Beyond that, the oldest responses are awaited until at most
``LEFT`` lack one. By the clock, rows join once ``TOGETHER`` have a response. So several rows join
the batch at a time, which saves calls of the model. Lower shares cost more with slow environments,
and higher ones with fast environments; see ``benchmarks/results/rollout_schedule.md``.
"""


STALL = 2.0
"""Maximum time, in seconds, that a generator with rows to sample waits. Environments that are this
slow would stall it at every few rows."""


class EnvResponses:
    """The requests to a pool during one collection.

    Args:
        pool: the environments.
        batch_wait: maximum time, in seconds, that one ``receive`` waits for the environments of
            ready rows; at most ``STALL`` while a generator has rows to sample. 0: the clock decides
            from the start.
    """

    def __init__(self, pool: EnvPool, batch_wait: float):
        self._pool, self._batch_wait = pool, batch_wait
        self.by_clock = not batch_wait
        """The clock decides when rows join."""
        self._round = 0
        self._asked: dict[int, int] = {}  # slot → the round of its request, in order
        self._arrived: dict[int, PoolResult] = {}
        self._late: set[int] = set()

    def expect(self, slot: int) -> None:
        """Notes a request to the environment of a slot."""
        self._asked[slot] = self._round

    def receive(
        self, episodes: int, *, busy: bool, in_background: bool
    ) -> tuple[list[PoolResult], list[int]]:
        """Waits for responses.

        Without work for the generators, it waits for all responses: for the first one without a
        limit, then for up to ``batch_wait``.

        Args:
            episodes: number of episodes in progress.
            busy: a generator has rows to sample.
            in_background: a generator samples in the meantime, so nothing is awaited while it is
                busy.

        Returns:
            Responses in the order of their slots, and the slots that are newly late: they are not
            awaited again.
        """
        self._round += 1
        awaited = self._awaited(episodes, busy=busy, in_background=in_background)
        self._note(self._pool.recv(timeout=0))
        if not busy and not self._arrived:
            self._note(self._pool.recv())
        patience = min(self._batch_wait, 0.0 if self.by_clock else STALL)
        end = time.monotonic() + (patience if busy else self._batch_wait)
        while (left := end - time.monotonic()) > 0 and not self._arrived.keys() >= set(awaited):
            if not (results := self._pool.recv(timeout=left)):
                break
            self._note(results)
        late = [slot for slot in awaited if slot not in self._arrived]
        self._late.update(late)
        self.by_clock |= bool(late)
        if in_background or not busy:
            return self._take(self._arrived), late
        if self.by_clock:
            enough = len(self._arrived) >= TOGETHER * episodes
            return self._take(self._arrived if enough else ()), late
        return self._take(awaited), late

    def _awaited(self, episodes: int, *, busy: bool, in_background: bool) -> list[int]:
        """Returns the slots whose responses are awaited."""
        missing = [slot for slot in self._asked if slot not in self._late]
        if not busy:
            return missing
        if in_background or len(missing) <= MISSING * episodes:
            return []
        # Rows that were sampled together stay together: with even actions, all rows form one batch.
        place = next(
            place
            for place, slot in enumerate([*missing, None])
            if slot is None
            or (
                len(missing) - place <= LEFT * episodes
                and self._asked[slot] != self._asked[missing[place - 1]]
            )
        )
        return missing[:place]

    def _note(self, results: list[PoolResult]) -> None:
        self._arrived |= {result.index: result for result in results}

    def _take(self, slots: Collection[int]) -> list[PoolResult]:
        """Removes and returns the responses of some slots."""
        taken = sorted(self._arrived.keys() & set(slots))
        for slot in taken:
            del self._asked[slot]
            self._late.discard(slot)
        return [self._arrived.pop(slot) for slot in taken]


class StepResult(NamedTuple):
    """The results of a step for one agent."""

    reward: float
    invalid: bool
    score: float
    success: bool


def step_result(result: PoolResult, agent: str, total: float) -> StepResult:
    """Returns the results of a step for an agent.

    Args:
        result: the response of the environment. With several agents its ``info`` has the results by
            agent; see :class:`agentgym_envs.multi.env.SeatsEnv`.
        agent: empty in an environment with one agent.
        total: the agent's rewards before the step.
    """
    info = result.info or {}
    if agent:
        return StepResult(
            *(info[key][agent] for key in ("rewards", "invalids", "scores", "successes"))
        )
    total += result.reward
    success = bool(info.get("success", result.terminated and above(total, 0.0)))
    return StepResult(
        float(result.reward),
        bool(info.get("invalid", False)),
        float(info.get("score", total)),
        success,
    )
