"""The parent's side of a worker process: its requests, its answers and its exit."""

import logging
import mmap
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import IO, NamedTuple

from agentgym_envs import descendants
from agentgym_envs.errors import EnvFailure
from agentgym_envs.pool.wire import MessageInbox
from agentgym_envs.processes import python_command, python_environment, temporary_folder

log = logging.getLogger(__name__)

CHUNK = 2**18
LAST_WORDS = 2000  # characters of a worker's standard error that an error repeats
LAST_BREATH = 2.0  # seconds in which a process must end after closing its socket


@dataclass(frozen=True)
class PoolRequest:
    """One request: its number, environment, kind and bytes, and what a change of hosts needs."""

    id: int
    index: int
    kind: str
    packed: bytes
    renews: bool = False
    """The request decides the environment's whole state: a reset with a seed or a task id."""
    pins: bool = False
    """The request has keywords, with which only it can create the environment."""


class _QueuedRequest(NamedTuple):
    request: PoolRequest
    end: int
    """Bytes from the start of the stream to the end of this request."""


class WorkerHandle:
    """Starts a worker and communicates with it, without blocking.

    A signal handler can raise between any two instructions. Each method leaves a state from which
    the next call can continue. The C call that sends bytes also counts them; all other state is
    derived or set by one assignment.

    Args:
        setup: the packed first message.
    """

    def __init__(self, setup: bytes):
        self.process, self.socket, self._board, self.folder = _start()
        assert self.process.stderr is not None
        self._words = _OutputTail(self.process.stderr)
        self.inbox = MessageInbox()
        """The worker's answers."""
        self.made: set[int] = set()
        """The environments that the worker has created."""
        self.since = time.monotonic()
        """Time of the last answer, or of sending the current request."""
        self.fault: tuple[type[EnvFailure], str | None] | None = None
        """The reason to replace the worker."""
        self._setup = setup
        self._queue: deque[_QueuedRequest] = deque()
        self._sent = deque([0])
        """Bytes of each call of ``send``."""
        self._deaf = False
        self._end = ""

    @property
    def requests(self) -> list[PoolRequest]:
        """Returns the requests that have no answer yet; the worker answers in this order."""
        self._forget_answered()
        return [request for request, _ in self._queue]

    @property
    def head(self) -> PoolRequest | None:
        """Returns the first of :attr:`requests`, if there is one."""
        self._forget_answered()
        return self._queue[0].request if self._queue else None

    @property
    def newest(self) -> int:
        """Returns the number of the last of :attr:`requests`; 0 if there is none."""
        return self._queue[-1].request.id if self._queue else 0

    def submit(self, request: PoolRequest) -> None:
        """Queues a request; :meth:`flush` sends it."""
        if self.head is None:
            self.since = time.monotonic()  # for the case that nothing can be sent now
        before = self._queue[-1].end if self._queue else max(self._count_sent(), len(self._setup))
        self._queue.append(_QueuedRequest(request, before + len(request.packed)))

    @property
    def has_unsent(self) -> bool:
        """Whether :meth:`flush` has something to send."""
        end = self._queue[-1].end if self._queue else len(self._setup)
        return not self._deaf and self._count_sent() < end

    def flush(self) -> None:
        """Sends as much as the socket takes."""
        try:
            while rest := self._unsent():
                arriving = self._queue[0].end > self._count_sent()
                # No bytecode between send and append.
                self._sent.extend(map(self.socket.send, (rest,)))
                if arriving:  # the first request was not sent completely before
                    self.since = time.monotonic()
        except BlockingIOError:
            pass  # the rest goes when the worker has read this
        except OSError:
            self._deaf = True  # the worker has closed its end: read() reports it

    def read(self) -> bool:
        """Moves received bytes into :attr:`inbox`.

        Returns:
            False when the worker has ended and all its bytes have been read.
        """
        try:
            more = self.inbox.read(self.socket, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if more:
            self.since = time.monotonic()
        return more

    def begun(self) -> int:
        """Returns the number of the last request that the worker began; 0 before the first."""
        return int.from_bytes(self._board[:], "big")

    def kill(self) -> None:
        """Ends the worker and its child processes; a dead worker is fine."""
        end_all([self], 0.0)

    def exit_report(self) -> str:
        """Ends the worker; returns how it ended and the end of its standard error."""
        self._end = self._end or self._ending()
        self.kill()
        words = self._words.text()
        return f"{self._end}; its last words:\n{words}" if words else self._end

    def remove_folder(self) -> None:
        """Removes the temporary folder of a worker that has ended."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def leave(self) -> None:
        """Releases the worker in a fork: it belongs to the parent process."""
        self.socket.close()
        self.process.returncode = 0  # the fork must not wait for it

    def _ending(self) -> str:
        try:
            status = self.process.wait(LAST_BREATH)
        except subprocess.TimeoutExpired:
            return "its worker closed its connection"
        ended = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return f"its worker ended {ended}"

    def _forget_answered(self) -> None:
        while self._queue and self._queue[0].request.id <= self.inbox.taken:
            self._queue.popleft()

    def _count_sent(self) -> int:
        if len(self._sent) > 1:
            self._sent = deque([sum(self._sent)])
        return self._sent[0]

    def _unsent(self) -> memoryview:
        """Returns the next bytes to send, those of several requests if they are short.

        The view is empty if the worker has closed its end.
        """
        sent = self._count_sent()
        if self._deaf:
            return memoryview(b"")
        if sent < len(self._setup):
            return memoryview(self._setup)[sent:]
        unsent = list(takewhile(lambda queued: queued.end > sent, reversed(self._queue)))
        if not unsent:
            return memoryview(b"")
        start = unsent[-1].end - len(unsent[-1].request.packed)
        chunks, size = [], 0
        while unsent and size < CHUNK:
            chunks.append(unsent.pop().request.packed)
            size += len(chunks[-1])
        return memoryview(b"".join(chunks))[sent - start :]


def _start() -> tuple[subprocess.Popen[bytes], socket.socket, mmap.mmap, str]:
    """Starts a worker.

    Returns:
        Its process, our end of its connection, its board, and its temporary folder. The folder
        holds the files of browsers and simulators, which a killed worker cannot remove.
    """
    folder = temporary_folder()
    try:
        return *_start_in(folder), folder
    except BaseException:
        os.rmdir(folder)
        raise


def _start_in(folder: str) -> tuple[subprocess.Popen[bytes], socket.socket, mmap.mmap]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs, tempfile.TemporaryFile() as file:
        file.truncate(8)
        board = mmap.mmap(file.fileno(), 8)
        fds = (theirs.fileno(), file.fileno())
        process = subprocess.Popen(
            python_command("agentgym_envs.pool.worker", *map(str, fds), folder),
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=python_environment(TMPDIR=folder),
            process_group=0,  # Ctrl-C in the parent's terminal does not reach it
        )
    return process, ours, board


class _OutputTail:
    """Keeps the end of a process's output; reads all of it, so the process never blocks."""

    def __init__(self, stream: IO[bytes]):
        self._stream, self._end = stream, b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Returns the end of the output.

        A child of the process can keep the stream open, so this waits at most 0.5 s for the rest.
        """
        self._thread.join(0.5)
        return self._end.decode("utf-8", "replace").strip()

    def _read(self) -> None:
        with self._stream:
            while data := os.read(self._stream.fileno(), CHUNK):
                log.debug("%s", data.decode("utf-8", "replace").rstrip())
                self._end = (self._end + data)[-LAST_WORDS:]


def successor(setup: bytes, requests: list[PoolRequest]) -> WorkerHandle:
    """Starts a worker and submits the requests that its predecessor left unanswered."""
    worker = WorkerHandle(setup)
    for request in requests:
        worker.submit(request)
    worker.flush()
    return worker


def end_all(workers: list[WorkerHandle], timeout: float) -> None:
    """Ends workers: closes their sockets, then kills the processes and children that are left.

    Args:
        workers: the workers; dead ones are fine.
        timeout: seconds to wait before killing.
    """
    for worker in workers:
        worker.socket.close()
    _wait_all(workers, timeout)
    for number in (signal.SIGTERM, signal.SIGKILL):  # SIGTERM lets a build in the cache clean up
        for worker in workers:
            with suppress(ProcessLookupError):  # a dead worker's children are still in its group
                os.killpg(worker.process.pid, number)
        _wait_all(workers, LAST_BREATH)
    descendants.kill([worker.folder for worker in workers])  # also those that have left the group
    for worker in workers:
        worker.remove_folder()


def _wait_all(workers: list[WorkerHandle], seconds: float) -> None:
    end = time.monotonic() + seconds
    for worker in workers:
        with suppress(subprocess.TimeoutExpired):
            worker.process.wait(max(end - time.monotonic(), 0.0))
