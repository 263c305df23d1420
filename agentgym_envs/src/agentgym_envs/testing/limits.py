"""A time limit for what an environment does: an action that never returns must not keep the kit waiting for ever."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

ANSWER_S = (
    300.0  # seconds for one reset or one step; a simulator may start, or a game be generated, in it
)


class Unanswered(BaseException):
    """A call took too long.

    Not an Exception: an environment that catches every Exception must not catch this.
    """


@contextmanager
def answering(call: str) -> Iterator[None]:
    """Raises :class:`Unanswered` if the body takes more than ``ANSWER_S`` seconds.

    The limit works in the main thread only, because Python handles signals there. A shorter timer
    that is already set stays.
    """

    def late(number: int, frame: object) -> NoReturn:
        raise Unanswered(f"{call} has not returned after {ANSWER_S:g} seconds")

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
