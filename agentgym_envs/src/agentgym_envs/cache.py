"""Where generated games and indices are kept between runs, and how they are built there whole or not at all."""

import fcntl
import os
import secrets
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

DRAFT = "draft-"
FRESH = 60.0  # seconds in which a draft that is not locked may be one whose maker is about to lock it

_drafts: set[Path] = set()


def cache_folder(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Returns ``name`` in $AGENTGYM_CACHE, $XDG_CACHE_HOME/agentgym or ~/.cache/agentgym."""
    home = environ.get("AGENTGYM_CACHE") or Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentgym"
    return Path(home) / name


@contextmanager
def build_once(folder: Path) -> Iterator[Path]:
    """Gives an empty folder to build in, and moves it to ``folder`` when the block ends.

    Any number of processes may build the same folder: the first to end wins, and the draft of the others is dropped. However the
    block is left (an exception, Ctrl-C, SIGTERM), no draft stays. What a killed process left is removed by the next build.

    Args:
        folder: where the result belongs. Call this only while it does not exist.

    Yields:
        The draft, beside ``folder``.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    draft = folder.parent / f"{DRAFT}{secrets.token_hex(8)}"
    _drafts.add(draft)
    try:
        draft.mkdir()
        with _locked(draft), _sigterm_raises():
            yield draft
            _move(draft, folder)
    finally:
        _discard(draft)


def discard_drafts() -> None:
    """Removes the drafts of this process: for whoever is about to end it with ``os._exit``, which runs no ``finally``."""
    for draft in list(_drafts):
        _discard(draft)


def _discard(draft: Path) -> None:
    shutil.rmtree(draft, ignore_errors=True)
    _drafts.discard(draft)


@contextmanager
def _locked(draft: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock that says that a draft's maker lives; the system lets go of it when the process ends."""
    lock = os.open(draft, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


def _move(draft: Path, folder: Path) -> None:
    try:
        draft.rename(folder)
    except OSError:
        if not folder.exists():  # else another process was faster
            raise


def _sweep(parent: Path) -> None:
    """Removes the drafts whose makers are dead."""
    for draft in parent.glob(f"{DRAFT}*"):
        with suppress(OSError):  # it has just been moved, or its maker holds the lock
            if time.time() - draft.stat().st_mtime > FRESH:
                with _locked(draft, wait=False):
                    shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Lets SIGTERM leave the block by an exception, where nobody else handles it."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)
