"""How the processes of a run notice that one of them has ended.

A collective operation that waits for a process that is gone can wait until its time limit, which is
hours. NCCL does not notice the end of a process, and no library does while an episode is played.
"""

import atexit
import os
import secrets
import selectors
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress

from torch._C._distributed_c10d import Store

from agentgym_train.errors import TrainingError

KEY = "agentgym_train/peers"
GOODBYE = b"goodbye"
# A machine that is switched off closes no connection. Its silence ends one after 30 s.
KEEP_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}
WAIT = 60.0  # seconds for the first connection


class Watch:
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
        self._thread = threading.Thread(target=self._run, name="peers", daemon=True)
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


_watch: Watch | None = None


def watch(store: Store, *, rank: int, size: int) -> None:
    """Starts to watch the other processes; all processes call it once.

    Args:
        store: the processes share it.
        rank: of this process.
        size: number of processes.

    Raises:
        TrainingError: a process cannot connect to the main process.
    """
    global _watch
    if size == 1:
        return
    try:
        links = _call(store, rank) if rank else _answer(store, size)
    except OSError as error:
        raise TrainingError(
            f"process {rank} of {size}: no connection between it and process 0 on"
            f" MASTER_ADDR={os.environ['MASTER_ADDR']} ({error}). The machines of a run must reach"
            " each other on all ports"
        ) from error
    _watch = Watch(links, rank=rank, size=size)
    # A program of a user that ends in the usual way does not end the others.
    atexit.register(close)


def close() -> None:
    """See :meth:`Watch.close`."""
    if _watch:
        _watch.close()


def hold() -> None:
    """See :meth:`Watch.hold`."""
    if _watch:
        _watch.hold()


def wait(seconds: float = 2.0) -> None:
    """Does not return if another process has ended; the error of a collective can be due to it."""
    if _watch:
        _watch.wait(seconds)


def _answer(store: Store, size: int) -> dict[int, socket.socket]:
    """Returns the main process's connections to all others."""
    token = secrets.token_hex(16)
    links: dict[int, socket.socket] = {}
    with socket.create_server(("", 0), backlog=size) as listener:
        listener.settimeout(WAIT)
        store.set(KEY, f"{listener.getsockname()[1]} {token}")
        while len(links) < size - 1:
            link, _ = listener.accept()
            link.settimeout(WAIT)
            said = link.recv(256).decode(errors="replace").split()
            # Other programs can find the port.
            if len(said) == 2 and secrets.compare_digest(said[0], token):
                links[int(said[1])] = link
            else:
                link.close()
    return links


def _call(store: Store, rank: int) -> dict[int, socket.socket]:
    """Returns the connection of another process to the main one."""
    port, token = store.get(KEY).decode().split()
    link = socket.create_connection((os.environ["MASTER_ADDR"], int(port)), timeout=WAIT)
    link.sendall(f"{token} {rank}".encode())
    return {0: link}


def _receive(link: socket.socket) -> bytes:
    """Returns the message of a connection, or nothing if the connection is lost."""
    try:
        return link.recv(64)
    except OSError:
        return b""
