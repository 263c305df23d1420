"""A worker process as its parent sees it: what it was asked, what it has answered, and how it ended."""

import logging
import mmap
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from agentgym_envs.pool.wire import Inbox
from agentgym_envs.processes import python_command, python_environment

log = logging.getLogger(__name__)

CHUNK = 2**18
LAST_WORDS = 2000  # characters of a worker's standard error that an error repeats
LAST_BREATH = 2.0  # seconds that a process may take from closing its socket to its end


@dataclass(frozen=True)
class Request:
    """One request: its number, its environment, what it asks, and its bytes."""

    id: int
    index: int
    kind: str
    packed: bytes


class Handle:
    """Starts a worker and talks to it without ever waiting for it.

    Args:
        setup: the packed first message.
    """

    def __init__(self, setup: bytes):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with tempfile.TemporaryFile() as board:
            board.truncate(8)
            self._board = mmap.mmap(board.fileno(), 8)
            fds = (theirs.fileno(), board.fileno())
            self.process = subprocess.Popen(
                python_command("agentgym_envs.pool.worker", *map(str, fds)),
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=python_environment(),
                process_group=0,  # Ctrl-C in the parent's terminal does not reach it
            )
        theirs.close()
        assert self.process.stderr is not None
        self._words = _Tail(self.process.stderr)
        self.socket = ours
        self.queue: deque[Request] = deque()
        """What has not been answered; the worker answers in this order."""
        self.made: set[int] = set()
        """The environments that it holds."""
        self.since = time.monotonic()
        """When it last answered, or was given the request that it is at."""
        self._unsent: deque[memoryview] = deque([memoryview(setup)])
        self._inbox = Inbox()

    def submit(self, request: Request) -> None:
        """Queues a request and sends what can be sent now."""
        if not self.queue:
            self.since = time.monotonic()  # in case that nothing can be
        self.queue.append(request)
        self._unsent.append(memoryview(request.packed))
        self.flush()

    @property
    def has_unsent(self) -> bool:
        """Says whether :meth:`flush` has something to do."""
        return bool(self._unsent)

    def flush(self) -> None:
        """Sends as much as the socket takes."""
        try:
            while self._unsent:
                sent = self.socket.send(self._unsent[0])
                if len(self._unsent) >= len(self.queue):  # so far the first of the queue was not there as a whole
                    self.since = time.monotonic()
                self._unsent[0] = self._unsent[0][sent:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            pass  # the rest goes when the worker has read this
        except OSError:
            self._unsent.clear()  # nobody reads any more: receive() says so

    def receive(self) -> Iterator[dict[str, Any]]:
        """Yields the messages that are here.

        Raises:
            EOFError: the worker has ended, and all that it sent has been read.
            BadMessage: it sent what is no message.
        """
        try:
            data = self.socket.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise EOFError
        self.since = time.monotonic()
        yield from self._inbox.feed(data)

    def begun(self) -> int:
        """Returns the number of the request that the worker began last; 0 before the first."""
        return int.from_bytes(self._board[:], "big")

    def kill(self) -> None:
        """Ends the worker and what it has started; it may be dead already."""
        end_all([self], 0.0)

    def obituary(self) -> str:
        """Ends the worker; returns how it ended and the last that it wrote to its standard error."""
        try:
            status = self.process.wait(LAST_BREATH)
            ended = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
            how = f"its worker ended {ended}"
        except subprocess.TimeoutExpired:
            how = "its worker closed its connection"
        self.kill()
        words = self._words.text()
        return f"{how}; its last words:\n{words}" if words else how


class _Tail:
    """Keeps the end of what a process writes, and reads on so that it never waits for us."""

    def __init__(self, stream: IO[bytes]):
        self._stream, self._end = stream, b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Returns the end; a child of the process may still hold the stream, so this waits only a moment for the rest."""
        self._thread.join(0.5)
        return self._end.decode("utf-8", "replace").strip()

    def _read(self) -> None:
        with self._stream:
            while data := os.read(self._stream.fileno(), CHUNK):
                log.debug("%s", data.decode("utf-8", "replace").rstrip())
                self._end = (self._end + data)[-LAST_WORDS:]


def end_all(workers: list[Handle], timeout: float) -> None:
    """Closes the sockets of all workers, which ends them, then kills what is left of them and of what they have started.

    Args:
        workers: may be dead already.
        timeout: seconds that they get to end by themselves.
    """
    for worker in workers:
        worker.socket.close()
    _wait_all(workers, timeout)
    for number in (signal.SIGTERM, signal.SIGKILL):  # only a build in the cache makes use of the first: to clean up
        for worker in workers:
            with suppress(ProcessLookupError):  # a dead worker's children are still its group
                os.killpg(worker.process.pid, number)
        _wait_all(workers, LAST_BREATH)


def _wait_all(workers: list[Handle], seconds: float) -> None:
    end = time.monotonic() + seconds
    for worker in workers:
        with suppress(subprocess.TimeoutExpired):
            worker.process.wait(max(end - time.monotonic(), 0.0))
