"""A generator over an engine that samples requests: whole rows in, actions out.

The engine decides which requests it samples together. A request starts as soon as it is submitted,
and its action is returned as soon as it is complete.
"""

import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, Protocol
from weakref import finalize

from torch import Tensor

from agentgym_envs.tasks import stable_hash
from agentgym_train.errors import ModelError
from agentgym_train.generators.building_blocks import cut_back
from agentgym_train.protocols import ActionSample, Generator, GeneratorSession, SamplingOptions


class RequestKey(NamedTuple):
    """Names a conversation. It has at most one request in progress."""

    session: int
    row: int


@dataclass(frozen=True)
class ActionRequest:
    """An action to sample."""

    ids: Sequence[int]
    """The whole row so far."""
    seed: int
    """Fixes the noise of the action's tokens."""
    sampling: SamplingOptions


class SampledAction(NamedTuple):
    """The answer to a request; see :class:`~agentgym_train.protocols.ActionSample`."""

    ids: list[int]
    logps: list[float]


class InferenceEngine(Protocol):
    """Samples requests.

    The noise of a token is a function of the request's seed and of the token's position only.
    """

    def submit(self, key: RequestKey, request: ActionRequest) -> None:
        """Starts a request."""
        ...

    def receive(self, timeout: float | None) -> Mapping[RequestKey, SampledAction]:
        """Works or waits until a request is complete; returns the actions that are complete.

        A request is in progress. The engine can return earlier, without an action.

        Args:
            timeout: time limit in seconds; None: no limit.
        """
        ...

    def abort(self, keys: Collection[RequestKey]) -> None:
        """Ends requests; those that are complete or unknown are ignored."""
        ...

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Copies weights; see :meth:`agentgym_train.protocols.Generator.load`."""
        ...

    def sleep(self) -> None:
        """Frees memory; no request is in progress."""
        ...

    def wake(self) -> None:
        """Prepares for ``load``."""
        ...

    def close(self) -> None:
        """Frees everything."""
        ...


class EngineGenerator(Generator):
    """Samples with an engine.

    Args:
        engine: it has the initial weights, and works in ``receive`` only.
    """

    method_name = "the engine's cache of prefixes"

    def __init__(self, engine: InferenceEngine):
        self.engine, self.inbox = engine, RequestInbox(engine)
        self._version, self._numbers, self._closed = 0, count(), False

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Copies weights to the engine."""
        self.inbox.clear()
        self.engine.load(weights, version)
        self._version = version

    def session(self, seeds: Sequence[int], sampling: SamplingOptions) -> "EngineSession":
        """Starts one episode per seed."""
        return EngineSession(self.inbox, next(self._numbers), seeds, sampling, self._version)

    def sleep(self) -> None:
        """Frees the engine's memory as far as the engine can."""
        self.inbox.clear()
        self.engine.sleep()

    def wake(self) -> None:
        """Prepares for ``load``."""
        self.engine.wake()

    def close(self) -> None:
        """Ends the engine."""
        if not self._closed:
            self._closed = True
            self.engine.close()


class BackgroundEngineGenerator(EngineGenerator):
    """Samples with an engine that works between calls of ``receive`` too."""

    in_background = True


class RequestInbox:
    """The complete actions of all sessions of an engine.

    While one session waits, actions of another one can become complete.
    """

    def __init__(self, engine: InferenceEngine):
        self.engine = engine
        self.dropped: list[Collection[RequestKey]] = []
        """Requests of sessions that were dropped without ``close``.

        Python can drop a session at any time, so its requests are aborted later.
        """
        self._actions: dict[RequestKey, SampledAction] = {}

    def take(self, keys: Iterable[RequestKey]) -> dict[RequestKey, SampledAction]:
        """Removes and returns the actions of some requests, as far as they are complete."""
        return {key: self._actions.pop(key) for key in keys if key in self._actions}

    def receive(self, timeout: float | None) -> None:
        """Waits for actions."""
        self.clear()
        self._actions |= self.engine.receive(timeout)

    def abort(self, keys: Collection[RequestKey]) -> None:
        """Ends requests and forgets their actions."""
        self.engine.abort(keys)
        self.take(keys)

    def clear(self) -> None:
        """Aborts the requests of dropped sessions."""
        while self.dropped:
            self.abort(self.dropped.pop())


class EngineSession(GeneratorSession):
    """Episodes in progress. The engine has no state of a row that a request does not repeat."""

    def __init__(
        self,
        inbox: RequestInbox,
        number: int,
        seeds: Sequence[int],
        sampling: SamplingOptions,
        version: int,
    ):
        self._inbox, self._number, self._seeds = inbox, number, seeds
        self._sampling, self._version = sampling, version
        self._history: dict[int, list[int]] = {row: [] for row in range(len(seeds))}
        self._turn = dict.fromkeys(self._history, 0)
        self._requested: dict[RequestKey, None] = {}  # a set in the order of submission
        finalize(self, inbox.dropped.append, self._requested)

    def submit(self, row: int, ids: Sequence[int]) -> None:
        """Starts the request for the row's next action."""
        self._history[row] += ids
        seed = stable_hash(f"{self._seeds[row]} {self._turn[row]}")
        key = RequestKey(self._number, row)
        self._inbox.engine.submit(
            key, ActionRequest(tuple(self._history[row]), seed, self._sampling)
        )
        self._requested[key] = None

    def poll(self, timeout: float | None = None) -> dict[int, ActionSample]:
        """Waits for the next complete action.

        Raises:
            ModelError: a log-probability is not finite.
        """
        end = None if timeout is None else time.monotonic() + timeout
        actions = self._inbox.take(self._requested)
        while self._requested and not actions:
            self._inbox.receive(None if end is None else max(0.0, end - time.monotonic()))
            actions = self._inbox.take(self._requested)
            if end is not None and time.monotonic() >= end:
                break
        return {key.row: self._sample(key, actions[key]) for key in sorted(actions)}

    def _sample(self, key: RequestKey, action: SampledAction) -> ActionSample:
        if not all(map(math.isfinite, action.logps)):
            raise ModelError(
                f"the model's log-probabilities at temperature {self._sampling.temperature} are not"
                " finite: its weights are broken or have diverged"
            )
        del self._requested[key]
        self._history[key.row] += action.ids
        self._turn[key.row] += 1
        return ActionSample(action.ids, action.logps, self._version)

    def restart(self, row: int) -> None:
        """Clears a row; its noise starts again too."""
        self._history[row], self._turn[row] = [], 0

    def rewind(self, row: int, length: int) -> None:
        """Cuts the row's next request; the engine finds the prefix in its cache by itself."""
        cut_back(self._history[row], row=row, length=length)

    def finish(self, row: int) -> None:
        """Removes a row."""
        del self._history[row], self._turn[row]

    def close(self) -> None:
        """Aborts the requests in progress."""
        self._inbox.abort(tuple(self._requested))
        self._requested.clear()
