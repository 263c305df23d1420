"""Manifests: the size and checksum of every file of a folder, in ``manifest.json``.

    {"files": {"model/config.json": {"bytes": 777, "blake2b": "5f…"}, …}, "blake2b": "03…"}

The last value is the checksum of ``files``. Earlier versions wrote the value of ``files`` alone.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

MANIFEST = "manifest.json"
LARGEST = 64 * 2**20  # bytes of a manifest; a longer file is damaged
ManifestEntry = dict[str, Any]


class Manifest(NamedTuple):
    """The content of a manifest."""

    files: dict[str, ManifestEntry]
    """Size and checksum of each file by its name in the folder."""
    sealed: bool
    """Whether the manifest has a checksum of its own."""


def files(folder: Path) -> list[str]:
    """Returns the names of all files in a folder and its folders, without the manifest."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path != Path(MANIFEST))


def entry(path: Path) -> ManifestEntry:
    """Returns the size and checksum of a file."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        return {"bytes": size, "blake2b": hashlib.file_digest(file, "blake2b").hexdigest()}


def write(folder: Path, entries: Mapping[str, ManifestEntry]) -> None:
    """Writes the manifest of a folder, from the :func:`entry` of each file."""
    content = {"files": entries, "blake2b": _checksum(entries)}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1), encoding="ascii")


def seal(folder: Path) -> None:
    """Writes the manifest of a folder as it is."""
    write(folder, {name: entry(folder / name) for name in files(folder)})


def read(folder: Path) -> Manifest:
    """Reads the manifest of a folder.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged; says how.
    """
    with (folder / MANIFEST).open("rb") as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("its brackets are nested too deeply") from error
    if _lists_files(found):
        return Manifest(found, sealed=False)
    if not (isinstance(found, dict) and _lists_files(found.get("files"))):
        raise ValueError("it does not list files")
    if found.get("blake2b") != _checksum(found["files"]):
        raise ValueError("it does not match its own checksum")
    return Manifest(found["files"], sealed=True)


def fault(folder: Path, *, checksums: bool = True) -> str | None:
    """Returns the first fault of a folder's files, or None.

    Args:
        folder: the folder.
        checksums: compare contents too, which reads every byte.
    """
    try:
        listed = read(folder).files
    except (OSError, ValueError) as error:
        return f"{MANIFEST} cannot be read ({reason(error)})"
    faults = (_size_fault(folder / name, name, known) for name, known in listed.items())
    if found := next(filter(None, faults), None):
        return found
    if not checksums:
        return None

    def differs(name: str) -> str | None:
        try:
            same = entry(folder / name) == listed[name]
        except OSError as error:
            return f"{name} cannot be read ({reason(error)})"
        return None if same else f"{name} has another checksum than when it was written"

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return next(filter(None, pool.map(differs, listed)), None)


def is_intact(folder: Path, name: str) -> bool:
    """Whether one file of a folder is as its manifest says."""
    try:
        return entry(folder / name) == read(folder).files.get(name)
    except (OSError, ValueError):
        return False


def reason(error: OSError | ValueError) -> str:
    """Returns an error in words, without the file's name."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _size_fault(path: Path, name: str, known: ManifestEntry) -> str | None:
    try:
        if not path.is_file():
            return f"{name} is missing"
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        return f"{name} cannot be read ({reason(error)})"
    return None if size == known["bytes"] else f"{name} has {size} bytes, not {known['bytes']}"


def _lists_files(value: Any) -> bool:
    """Returns whether a value is a list of files; an empty one lists nothing."""
    return (
        isinstance(value, dict)
        and len(value) > 0
        and all(isinstance(e, dict) and e.keys() == {"bytes", "blake2b"} for e in value.values())
    )


def _checksum(entries: Any) -> str:
    text = json.dumps(entries, sort_keys=True)
    return hashlib.blake2b(text.encode()).hexdigest()
