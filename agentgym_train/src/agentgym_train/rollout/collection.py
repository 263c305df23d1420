"""The collection of a step in all environments, beside the caller or in its thread."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait

import torch

from agentgym_train.rollout.environments import Collected, TrainingEnv


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
        works = [env.plan(step) for env in self._envs]
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
