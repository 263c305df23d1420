"""The cache folder of generated games and indices. A build is complete or absent, never partial."""

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

from agentgym_envs.locks import lock

DRAFT = "draft-"
FRESH = 60.0  # seconds in which an unlocked draft can be about to be locked by its process
OLD = 86400.0  # seconds after which a draft is dead on a file system without locks

_drafts: set[Path] = set()


def cache_folder(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Returns ``name`` in $AGENTGYM_CACHE, $XDG_CACHE_HOME/agentgym or ~/.cache/agentgym."""
    home = (
        environ.get("AGENTGYM_CACHE")
        or Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentgym"
    )
    return Path(home) / name


@contextmanager
def build_once(folder: Path) -> Iterator[Path]:
    """Yields an empty draft folder, and moves it to ``folder`` when the block ends.

    Any number of processes can build the same folder: the first one to finish wins, and the others'
    drafts are removed. An exception, Ctrl-C or SIGTERM in the block removes the draft. The next
    build removes the draft of a killed process.

    Args:
        folder: the final place. Call this only while it does not exist.

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
    """Removes the drafts of this process.

    Call it before ``os._exit``, which runs no ``finally``.
    """
    for draft in list(_drafts):
        _discard(draft)


def _discard(draft: Path) -> None:
    shutil.rmtree(draft, ignore_errors=True)
    _drafts.discard(draft)


@contextmanager
def _locked(draft: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds the lock which shows that a draft's process is alive; yields whether there are locks.

    The operating system releases the lock when the process ends.
    """
    file = os.open(draft, os.O_RDONLY)
    try:
        yield lock(file, wait=wait)
    finally:
        os.close(file)


def _move(draft: Path, folder: Path) -> None:
    try:
        draft.rename(folder)
    except OSError:
        if not folder.exists():  # otherwise another process finished first
            raise


def _sweep(parent: Path) -> None:
    """Removes the drafts whose processes are dead."""
    for draft in parent.glob(f"{DRAFT}*"):
        with suppress(OSError):  # the draft was just moved, or its process holds the lock
            age = time.time() - draft.stat().st_mtime
            if age > FRESH:
                with _locked(draft, wait=False) as locks:
                    if locks or age > OLD:
                        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Turns SIGTERM into SystemExit inside the block, unless the signal has another handler."""
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if ours:
        signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)
