"""Damage to files."""

from pathlib import Path


def flip(path):
    """Flips a bit in the middle."""
    data = bytearray(path.read_bytes() or b"\0")
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def truncate(path):
    """Removes the second half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def delete(path):
    """Removes the file."""
    path.unlink()


DAMAGES = (flip, truncate, delete)


def contents(folder):
    """Returns the contents of all files in a folder and its folders, by name."""
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
