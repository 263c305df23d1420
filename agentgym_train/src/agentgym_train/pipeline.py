"""The order of collecting, learning and loading weights.

Weights change only between two collections, so all tokens of a batch have the same version.

======================  ======================================================================
on-policy               collect 1 · learn 1 · load · collect 2 · learn 2 · load · …
one step ahead          collect 1 · learn 1 and collect 2 · load · learn 2 and collect 3 · …
======================  ======================================================================
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from functools import partial

import torch

from agentgym_train.protocols import Generator
from agentgym_train.rollout.environments import Collected, TrainingEnv


class Pipeline:
    """Collects the episodes of each step and keeps the generator's weights up to date.

    On-policy, a step is collected with the newest weights, and the generator sleeps while the
    policy learns.

    Ahead, the next step is collected while the policy learns. The generator then has the weights
    from before the update. The step after a pause is collected with the newest weights, since
    nothing is in progress during a pause.

    Args:
        collection: the environments.
        generator: the policy's.
        load: passes the policy's weights to the generator.
        ahead: whether the next step is collected while the policy learns.
    """

    def __init__(
        self,
        collection: "Collection",
        generator: Generator,
        load: Callable[[], None],
        *,
        ahead: bool = False,
    ):
        self._collection, self._generator = collection, generator
        self._load, self._ahead = load, ahead
        self._started: int | None = None
        """The step that is collected while the policy learns."""
        self._stale = False
        """Whether the policy has learned since the last load."""

    def collect(self, step: int) -> list[Collected]:
        """Returns the episodes of a step (counted from 0), one entry per environment."""
        if self._started != step:
            self._collection.start(step)
        self._started = None
        collected = self._collection.finish()
        if not self._ahead:
            self._generator.sleep()
        return collected

    def begin_update(self, step: int, *, pause: bool) -> None:
        """Is called before the policy learns from a step.

        Args:
            step: the step, counted from 0.
            pause: no step is collected before the weights have been saved or evaluated.
        """
        if not self._ahead or pause:
            return
        if self._stale:
            self._load()
        self._collection.start(step + 1)
        self._started = step + 1

    def end_update(self) -> None:
        """Is called after the update; the generator has the newest weights unless it collects."""
        if not self._ahead:
            self._generator.wake()
        self._stale = self._started is not None
        if not self._stale:
            self._load()


class Collection:
    """Collects steps, one at a time.

    Args:
        envs: the environments; they are open.
        beside: collect in other threads, so ``start`` returns at once.
        side_by_side: collect from all environments at the same time, each in its own thread.
            Otherwise one follows the other.
    """

    def __init__(self, envs: Sequence[TrainingEnv], *, beside: bool, side_by_side: bool):
        self._envs, self._beside, self._side_by_side = envs, beside, side_by_side
        self._running: list[Future[list[Collected]]] = []

    def start(self, step: int) -> None:
        """Begins a step (counted from 0); the curricula decide now."""
        works = [partial(env.collect, env.plan(step)) for env in self._envs]
        lanes = [[work] for work in works] if self._side_by_side else [works]
        begin = _in_thread if self._beside or len(lanes) > 1 else _here
        self._running = [begin(lane) for lane in lanes]

    def finish(self) -> list[Collected]:
        """Waits for the step; returns the episodes of each environment.

        It raises the first error of a thread at once, in the order of the environments.
        """
        done, _ = wait(self._running, return_when=FIRST_EXCEPTION)
        for future in self._running:
            if future in done and (error := future.exception()):
                raise error
        return [collected for future in self._running for collected in future.result()]


Lane = Sequence[Callable[[], Collected]]


def _here(lane: Lane) -> "Future[list[Collected]]":
    future: Future[list[Collected]] = Future()
    future.set_result([work() for work in lane])
    return future


def _in_thread(lane: Lane) -> "Future[list[Collected]]":
    """Collects in a thread that does not keep the process alive."""
    future: Future[list[Collected]] = Future()
    # The current device belongs to a thread.
    accelerated = torch.accelerator.is_available()
    device = torch.accelerator.current_device_index() if accelerated else None

    def run() -> None:
        try:
            if device is not None:
                torch.accelerator.set_device_index(device)
            future.set_result([work() for work in lane])
        except BaseException as error:  # raised again by ``finish``
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="collection").start()
    return future
