"""Files of a run.

A file is complete or absent. It gets its final name only once its contents are on the disk. An
error in writing names the file. The manifest of a folder, or the checksum beside a single file,
shows later damage.
"""

import hashlib
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentgym_envs.locks import lock
from agentgym_train.errors import RunFolderError

log = logging.getLogger(__name__)
LOCK = ".lock"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns a failure to write in the block into an error that names the file.

    torch, tokenizers and safetensors report a full disk with exceptions of various types, which can
    be recognised only by their text.

    Raises:
        RunFolderError: the disk is full, or the file cannot be written for another reason.
    """
    try:
        yield
    except OSError as error:
        raise RunFolderError(
            f"cannot write {error.filename or path}: {error.strerror or error}"
        ) from error
    except Exception as error:
        if "os error" in str(error) or "inline_container" in str(error):
            raise RunFolderError(
                f"cannot write {path}, is the disk full? {str(error).splitlines()[0]}"
            ) from error
        raise


def write_whole(path: Path, text: str) -> None:
    """Replaces a text file in one step."""
    draft = path.with_name(f".{path.name}-draft")
    with writing(path):
        draft.write_text(text, encoding="utf-8")
        publish(draft, path)


def write_private(path: Path, text: str) -> None:
    """Writes a new text file that only the user can read."""
    with writing(path):
        path.unlink(missing_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "w", encoding="utf-8") as file:
            file.write(text)


def write_sealed(path: Path, text: str) -> None:
    """Replaces a text file in one step, and keeps its checksum beside it.

    The checksum is written first, beside that of the old file: the process can be killed between
    the two.
    """
    kept = [_digest(path.read_bytes())] if sealed_fault(path) is None else []
    write_whole(checksum_file(path), "\n".join([*kept, _digest(text.encode())]))
    write_whole(path, text)


def checksum_file(path: Path) -> Path:
    """Returns where :func:`write_sealed` keeps the checksum of a file."""
    return path.with_name(f".{path.name}.blake2b")


def sealed_fault(path: Path) -> str | None:
    """Returns the fault of a file of :func:`write_sealed`, or None.

    A file without a checksum has no fault: an earlier version wrote it.
    """
    try:
        content, place = path.read_bytes(), checksum_file(path)
        known = place.read_bytes().split() if place.exists() else None
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    fits = known is None or _digest(content).encode() in known
    return None if fits else "does not match its checksum"


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content).hexdigest()


def read_sealed(path: Path, *, otherwise: str) -> str | None:
    """Returns the text of a file of :func:`write_sealed`; None if it is missing or damaged.

    Args:
        path: the file.
        otherwise: what happens without the file, for the warning about a damaged one.
    """
    if not path.exists():
        return None
    if found := sealed_fault(path):
        log.warning("%s %s: %s", path, found, otherwise)
        return None
    return path.read_text(encoding="utf-8", errors="replace")


def remove(path: Path) -> None:
    """Removes a file, or a folder with everything in it; nothing if it does not exist."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def append(path: Path, text: str) -> None:
    """Adds to the end of a text file; waits until the text is on the disk."""
    with writing(path), path.open("a", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def publish(draft: Path, final: Path) -> None:
    """Renames a file or folder to its final name in one step.

    Its contents are on the disk before the new name is.
    """
    for path in (draft, *(draft.rglob("*") if draft.is_dir() else ())):
        sync(path)
    os.replace(draft, final)
    sync(final.parent)


def sync(path: Path) -> None:
    """Waits until a file, or a folder's list of names, is on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


class FolderLock:
    """A run folder's lock, held until this process ends in any way.

    The first process of a run takes the lock alone, then shares it with the processes that it
    starts. The folder stays locked while any of them lives. On a file system without locks, the
    first process warns, and nothing is locked.

    Args:
        folder: the run folder; it exists.
        shared: share the lock with other processes of the run.
        name: name of the file.

    Raises:
        RunFolderError: another run holds it, or it cannot be locked.
    """

    def __init__(self, folder: Path, *, shared: bool = False, name: str = LOCK):
        path = folder / name
        with writing(path):
            self._file = path.open("a+", encoding="utf-8")
        try:
            first = not shared and name == LOCK
            lock(self._file.fileno(), shared=shared, folder=folder if first else None)
        except OSError as error:
            self._file.close()
            raise RunFolderError(
                f"another run is at work in {folder}: wait for its end, or choose another"
                " run.folder"
                if isinstance(error, BlockingIOError)
                else f"cannot lock {path}: {error.strerror}"
            ) from error

    def share(self) -> None:
        """Lets other processes of this run share the lock."""
        lock(self._file.fileno(), shared=True)

    def release(self) -> None:
        """Releases the lock."""
        self._file.close()
