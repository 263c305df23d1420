"""An append-only JSON Lines file: one JSON object per line."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.errors import ArgumentError
from agentgym_envs.locks import lock

JsonRow = dict[str, Any]


class JsonLinesFile:
    """A file that is open for appending, by one process at a time.

    Args:
        path: the file; created if it does not exist.
        busy: the error message if another process has the file open.

    Raises:
        ArgumentError: the file cannot be written, or another process has it open.

    A file system without locks cannot tell that; a warning says so.
    """

    def __init__(self, path: Path, *, busy: str):
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise ArgumentError(f"cannot write {path}: {error.strerror}") from error
        try:
            lock(self._file, folder=path.parent)
        except OSError as error:
            os.close(self._file)
            if isinstance(error, BlockingIOError):
                raise ArgumentError(busy) from None
            raise ArgumentError(f"cannot lock {path}: {error.strerror}") from error

    def drop(self, cut: int) -> None:
        """Removes the last ``cut`` bytes: the partial line that a killed process left."""
        os.ftruncate(self._file, os.fstat(self._file).st_size - cut)

    def add(self, row: JsonRow, *, sync: bool = True) -> None:
        """Appends a line.

        Args:
            row: the line.
            sync: the line is on the disk when this returns. Otherwise the operating system has it:
                it survives the end of the process, but perhaps not of the machine.

        Raises:
            ArgumentError: the line cannot be written, for example because the disk is full. The
                file
                is unchanged.
        """
        line, before = json.dumps(row).encode("ascii") + b"\n", os.fstat(self._file).st_size
        try:
            while line:
                line = line[os.write(self._file, line) :]
            if sync:
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise ArgumentError(
                f"cannot write {self._path}: {error.strerror}. This line is not saved, those before"
                " it are; make room and try again"
            ) from error

    def close(self) -> None:
        """Closes the file; other processes can open it."""
        os.close(self._file)


def read(
    path: Path,
    *,
    fits: Callable[[Any], bool],
    what: str,
    unpack: Callable[[JsonRow], JsonRow] = lambda row: row,
) -> tuple[list[JsonRow], int]:
    """Returns the rows of a file, and the length in bytes of a partial last line.

    Args:
        path: the file.
        fits: returns whether a value is a valid row. A ValueError, TypeError or LookupError counts
            as no.
        what: name of a row, for the error message.
        unpack: returns the row of a line's content; it can raise as ``fits`` can.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: a line is not a valid row; the message has its number.
    """
    *whole, cut = path.read_bytes().split(b"\n")
    return [
        parsed(line, path, number, fits, what, unpack) for number, line in enumerate(whole, 1)
    ], len(cut)


def drop_partial(path: Path) -> bool:
    """Removes a partial last line from a file; returns whether there was one."""
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)
    return whole < len(content)


def has(value: Any, types: Mapping[str, Any]) -> bool:
    """Returns whether a value is a dictionary with these keys and values of these types."""
    return isinstance(value, dict) and all(
        isinstance(value[key], kind) for key, kind in types.items()
    )


def parsed(
    line: bytes,
    path: Path,
    number: int,
    fits: Callable[[Any], bool],
    what: str,
    unpack: Callable[[JsonRow], JsonRow] = lambda row: row,
) -> JsonRow:
    """Returns the row of a line; arguments and errors are those of :func:`read`."""
    try:
        row = unpack(json.loads(line))
        if fits(row):
            return row
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    raise ArgumentError(
        f"line {number} of {path} is no {what}: {line[:40]!r}. Delete the line to go on without it"
    )
