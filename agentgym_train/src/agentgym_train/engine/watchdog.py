"""How the processes of a run notice that one of them has ended.

A collective operation that waits for a process that is gone can wait until its time limit, which is
hours. NCCL does not notice the end of a process, and no library does while an episode is played.
"""

import atexit
import hmac
import os
import secrets
import selectors
import socket
import struct
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from torch._C._distributed_c10d import Store

from agentgym_train.engine import addresses
from agentgym_train.errors import TrainingError

KEY = "agentgym_train/watchdog"
GOODBYE = b"goodbye"
CHALLENGE = 32  # bytes
ANSWER = struct.Struct("!I32s")  # a rank, and the proof that its process knows the secret
STRANGERS = 64  # connections without an answer at a time, in addition to one per process
# A machine that is switched off closes no connection. Its silence ends one after 30 s.
KEEP_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}
WAIT = 60.0  # seconds for the first connection


class ProcessWatch:
    """Ends this process when another one has ended without a goodbye.

    The main process has a connection to each other process. The kernel closes a connection when its
    process ends, even by SIGKILL. The main process then tells the others which one it was.

    Args:
        links: a connection to each process that this one watches, by rank.
        rank: of this process.
        size: number of processes.
    """

    def __init__(self, links: Mapping[int, socket.socket], *, rank: int, size: int):
        self._links, self._rank, self._size = dict(links), rank, size
        self._held = False
        for link in self._links.values():
            link.settimeout(None)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in KEEP_ALIVE.items():
                link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Says goodbye. The other processes go on without this one."""
        self._held = True
        self._tell(GOODBYE)

    def hold(self) -> None:
        """Lets this process end in its own way, since it has a message about the end."""
        self._held = True

    def wait(self, seconds: float) -> None:
        """Gives the thread time to end this process."""
        self._thread.join(seconds)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for other, link in self._links.items():
                selector.register(link, selectors.EVENT_READ, other)
            while selector.get_map():
                for key, _ in selector.select():
                    said = _receive(self._links[key.data])
                    if said != GOODBYE and not self._held:
                        self._end(int(said) if said else key.data)
                    selector.unregister(key.fileobj)

    def _end(self, lost: int) -> None:
        """Ends this process; the message comes from one process of each machine."""
        if self._rank == 0:
            self._tell(str(lost).encode())
        first = self._rank == (0 if lost else 1)
        if first or os.environ.get("LOCAL_RANK") == "0":
            # A progress line on a terminal hides the cursor. Another thread may hold the lock of
            # sys.stderr.
            before = "\n\x1b[?25h" if os.isatty(2) else ""
            os.write(2, f"{before}error: {message(lost, self._size)}\n".encode())
        os._exit(1)

    def _tell(self, what: bytes) -> None:
        for link in self._links.values():
            with suppress(OSError):
                link.sendall(what)


def message(lost: int, size: int) -> str:
    """Returns the sentence for the user about the process of rank ``lost``."""
    return (
        f"process {lost} of {size} (counted from 0) has ended before the run. Its own output has"
        " the reason; without one it was killed, often for lack of memory. The same command resumes"
        " from the newest checkpoint"
    )


_watch: ProcessWatch | None = None


def watch(store: Store, *, rank: int, size: int, address: str, secret: bytes) -> None:
    """Starts to watch the other processes; all processes call it once.

    Args:
        store: the processes share it.
        rank: of this process.
        size: number of processes.
        address: of the main process's machine, for the other processes.
        secret: the processes alone know it. Other programs can reach the store and the port.

    Raises:
        TrainingError: a process cannot connect to the main process.
    """
    global _watch
    if size == 1:
        return
    try:
        if rank:
            links = _call(store, rank, address, secret)
        else:
            with addresses.listen(address, 0) as listener:
                store.set(KEY, str(listener.getsockname()[1]))
                links = _accept(listener, size, secret)
    except OSError as error:
        raise TrainingError(
            f"process {rank} of {size}: no connection between it and process 0 on"
            f" MASTER_ADDR={address} ({error}). The machines of a run must reach"
            " each other on all ports"
        ) from error
    _watch = ProcessWatch(links, rank=rank, size=size)
    # A program of a user that ends in the usual way does not end the others.
    atexit.register(close)


def close() -> None:
    """See :meth:`ProcessWatch.close`."""
    if _watch:
        _watch.close()


def hold() -> None:
    """See :meth:`ProcessWatch.hold`."""
    if _watch:
        _watch.hold()


def wait(seconds: float = 2.0) -> None:
    """Does not return if another process has ended; the error of a collective can be due to it."""
    if _watch:
        _watch.wait(seconds)


def _accept(listener: socket.socket, size: int, secret: bytes) -> dict[int, socket.socket]:
    """Returns the main process's connections to all others.

    Other programs can connect too. They delay no process.
    """
    listener.setblocking(False)
    links: dict[int, socket.socket] = {}
    asked: dict[Any, bytes] = {}  # the challenge of each connection without an answer
    deadline = time.monotonic() + WAIT
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while len(links) < size - 1:
            ready = selector.select(deadline - time.monotonic())
            if time.monotonic() > deadline:
                raise TimeoutError(f"{size - 1 - len(links)} did not connect in {WAIT:g} s")
            link: Any
            for link in [key.fileobj for key, _ in ready]:
                if link is listener:
                    with suppress(OSError):  # the other end has gone
                        new, _ = listener.accept()
                        asked[new] = secrets.token_bytes(CHALLENGE)
                        selector.register(new, selectors.EVENT_READ)
                        new.sendall(asked[new])
                elif link in asked:
                    selector.unregister(link)
                    rank = _proven_rank(_receive(link), asked.pop(link), secret)
                    if 0 < rank < size and rank not in links:
                        links[rank] = link
                    else:
                        link.close()
            while len(asked) > size + STRANGERS:
                oldest = next(iter(asked))
                del asked[oldest]
                selector.unregister(oldest)
                oldest.close()
    for link in asked:
        link.close()
    return links


def _call(store: Store, rank: int, address: str, secret: bytes) -> dict[int, socket.socket]:
    """Returns the connection of another process to the main one."""
    link = socket.create_connection((address, int(store.get(KEY))), timeout=WAIT)
    challenge = link.recv(CHALLENGE)
    link.sendall(ANSWER.pack(rank, _proof(challenge, rank, secret)))
    return {0: link}


def _proof(challenge: bytes, rank: int, secret: bytes) -> bytes:
    """Returns what only a process with the secret can compute. It does not disclose the secret."""
    return hmac.digest(secret, challenge + rank.to_bytes(4), "sha256")


def _proven_rank(answer: bytes, challenge: bytes, secret: bytes) -> int:
    """Returns the rank of a process that has answered a challenge, or 0 for a stranger."""
    if len(answer) != ANSWER.size:
        return 0
    rank, proof = ANSWER.unpack(answer)
    return rank if hmac.compare_digest(proof, _proof(challenge, rank, secret)) else 0


def _receive(link: socket.socket) -> bytes:
    """Returns the message of a connection, or nothing if the connection is lost."""
    try:
        return link.recv(64)
    except OSError:
        return b""
