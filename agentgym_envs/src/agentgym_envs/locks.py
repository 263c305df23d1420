"""Locks of files, which hold until the process ends. Some network file systems have none."""

import errno
import fcntl
import logging
import os
import time
from pathlib import Path

log = logging.getLogger(__name__)
NO_LOCKS = frozenset(
    (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.ENOTTY)
)
"""Errors of a file system without locks."""
TRIES, PAUSE = 3, 0.02  # of a lock that another process may hold for a moment, and seconds between
_warned: set[Path] = set()


def lock(
    file: int, *, shared: bool = False, wait: bool = False, folder: Path | None = None
) -> bool:
    """Locks an open file; returns False if its file system has no locks.

    Args:
        file: the file's descriptor. The lock ends when it is closed.
        shared: let other processes share the lock.
        wait: wait until no other process has the lock.
        folder: a file system without locks causes one warning per process, which names this
            folder. None: no warning.

    Raises:
        BlockingIOError: another process has the lock.
        OSError: the file cannot be locked for another reason.
    """
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        _flock(file, how if wait else how | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        if folder is not None and folder not in _warned:
            _warned.add(folder)
            log.warning(
                "The file system of %s has no locks (%s). Two runs must not use this folder at the"
                " same time.",
                folder,
                error.strerror,
            )
        return False
    return True


def held(path: Path) -> bool | None:
    """Returns whether a process has a lock of a file; None if that cannot be known.

    The file is locked for a moment. :func:`lock` waits for the end of this moment.
    """
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        return False if lock(file) else None
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)


def _flock(file: int, how: int) -> None:
    for left in reversed(range(TRIES)):
        try:
            fcntl.flock(file, how)
        except BlockingIOError:
            if not left:
                raise
            time.sleep(PAUSE)
        else:
            return
