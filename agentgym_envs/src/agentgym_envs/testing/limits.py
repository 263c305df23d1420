"""A time limit for the calls of an environment, some of which might never return."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

# Seconds per reset or step, including the start of a simulator or the generation of a game.
ANSWER_S = 300.0


class CallTimeout(BaseException):
    """A call took too long.

    The class is not an Exception, because environments can catch every Exception.
    """


@contextmanager
def answering(call: str) -> Iterator[None]:
    """Raises :class:`CallTimeout` if the body takes more than ``ANSWER_S`` seconds.

    The limit works in the main thread only, because Python handles signals there. A shorter timer
    that is already set stays.
    """

    def late(number: int, frame: object) -> NoReturn:
        raise CallTimeout(f"{call} has not returned after {ANSWER_S:g} seconds")

    outer = signal.getitimer(signal.ITIMER_REAL)[0]
    if threading.current_thread() is not threading.main_thread() or 0 < outer < ANSWER_S:
        yield
        return
    began, handler = time.monotonic(), signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, ANSWER_S)
    try:
        yield
    finally:
        left = max(outer - (time.monotonic() - began), 0.001) if outer else 0
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, handler)
