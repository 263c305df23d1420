"""How a command ends by a signal.

SIGINT (Ctrl-C), SIGTERM and SIGHUP do the same. The first signal raises ``KeyboardInterrupt`` in
the main thread, or cancels the main task of :func:`run_tasks`, so the command can clean up. A
second signal ends the process at once, and so does the end of a time limit. The exit status is 128
plus the number of the first signal. A signal that is ignored at the start stays ignored, as SIGHUP
does under ``nohup``.
"""

import asyncio
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, NoReturn, TypeVar

from agentgym_envs import descendants
from agentgym_envs.cache import discard_drafts

T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE = 10.0  # seconds after the first signal in which a command can clean up
HANDLED = 128  # added to the number of a signal that the main thread handles
SHOW_CURSOR = b"\x1b[?25h"  # a progress line on a terminal hides it


class Stop:
    """The signals of the command that this process runs.

    Attributes:
        number: the first signal; 0 before it.
        grace: seconds after the first signal in which the command can clean up.
        repeats: whether a second signal ends the process at once.
        first: called at the first signal, in another thread.
        last: called before the process is ended at once, in another thread.
        status: exit status after a signal in place of 128 plus its number.
    """

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.number = 0
        self.grace = GRACE
        self.repeats = True
        self.first: list[Callable[[], object]] = []
        self.last: list[Callable[[], object]] = []
        self.status: int | None = None
        self._handled = False
        self._act: Callable[[], object] = _raise
        self._guard: int | None = None

    @property
    def exit_status(self) -> int:
        """The exit status of a command that a signal or ``KeyboardInterrupt`` has ended."""
        return 128 + (self.number or signal.SIGINT) if self.status is None else self.status

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handles the signals in the block; only the main thread can.

        After a signal they stay handled, since the rest of the command can hang too.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._reset()
        receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)
        token = secrets.token_hex(8)
        self._guard = descendants.guard(token)
        marks = os.environ.get(descendants.VARIABLE)
        descendants.mark(token)
        _free_forks()
        # Python's handlers wait for the main thread, which can be in a long call of C code. The
        # other thread notices a signal at once.
        wakeup = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        handlers = {
            number: signal.signal(number, self._handle)
            for number in SIGNALS
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        threading.Thread(target=self._watch, args=(receiver,), daemon=True).start()
        try:
            yield
        finally:
            if not self.number:
                for number, handler in handlers.items():
                    signal.signal(number, handler)
                signal.set_wakeup_fd(wakeup)
                self._sender.close()
                self.release()
                os.environ.pop(descendants.VARIABLE, None)
                if marks is not None:
                    os.environ[descendants.VARIABLE] = marks

    @contextmanager
    def instead(self, act: Callable[[], object]) -> Iterator[None]:
        """Calls ``act`` at the first signal in the block, which raises nothing then."""
        before, self._act = self._act, act
        try:
            yield
        finally:
            self._act = before

    def end(self) -> None:
        """Ends this process at once; the guard ends the processes that it has started."""
        for call in self.last:
            with suppress(Exception):
                call()
        discard_drafts()
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
        os._exit(self.exit_status)

    def release(self) -> None:
        """Lets processes that this command has started outlive it: no signal has ended it."""
        guard, self._guard = self._guard, None
        if guard is not None:
            with suppress(BrokenPipeError):  # the guard was killed
                os.write(guard, b".")
            os.close(guard)

    def leave_to_parent(self) -> None:
        """Gives a fork the usual handlers: its signals are not those of the command."""
        if signal.getsignal(signal.SIGTERM) == self._handle:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def _watch(self, receiver: socket.socket) -> None:
        """Acts on signals in another thread.

        A signal sends its number at once, and again when the main thread handles it. An event loop
        can suppress the first of the two.
        """
        counts = {0: 0, HANDLED: 0}
        with receiver:
            while data := receiver.recv(64):
                for byte in data:
                    number = byte % HANDLED
                    if number in SIGNALS:
                        before = max(counts.values())
                        counts[byte - number] += 1
                        if max(counts.values()) > before:
                            self._count(number, first=before == 0)

    def _count(self, number: int, *, first: bool) -> None:
        if first:
            self.number = self.number or number
            for call in self.first:
                call()
            timer = threading.Timer(self.grace, self.end)
            timer.daemon = True
            timer.start()
        elif self.repeats:
            self.end()

    def _handle(self, number: int, frame: object) -> None:
        with suppress(OSError):
            self._sender.send(bytes([HANDLED + number]))
        first, self.number = not self._handled, self.number or number
        self._handled = True
        if first:
            self._act()


def _raise() -> NoReturn:
    raise KeyboardInterrupt


stop = Stop()


@cache
def _free_forks() -> None:
    os.register_at_fork(after_in_child=stop.leave_to_parent)


def run_tasks(main: Coroutine[Any, Any, T]) -> T:
    """Does what ``asyncio.run`` does; a signal of the command cancels the main task.

    Raises:
        KeyboardInterrupt: a signal has cancelled the main task.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(main)

    async def cancellable() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        with stop.instead(lambda: loop.call_soon_threadsafe(task.cancel)):
            return await main

    try:
        return asyncio.run(cancellable())
    except asyncio.CancelledError:
        if not stop.number:
            raise
        raise KeyboardInterrupt from None


def follow(ended: Callable[[], object]) -> None:
    """Stops this process as SIGTERM does when ``ended`` returns; after a time limit, ends it.

    Args:
        ended: waits for the end of the process that this one belongs to.
    """

    def wait() -> None:
        ended()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(stop.grace)
        stop.number = stop.number or signal.SIGTERM
        stop.end()

    threading.Thread(target=wait, daemon=True).start()
