"""Reads text files line by line. An error is one line of text that names the file and the line."""

import csv
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from agentgym_envs.errors import TaskError

_GZIP, _PARQUET, _BOM = b"\x1f\x8b", b"PAR1", b"\xef\xbb\xbf"


def lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """Yields the position of each line, as "file:number", and its text.

    Reads plain and gzip files, and skips a byte-order mark.

    Raises:
        TaskError: the file cannot be read, or is not UTF-8.
    """
    number = 0
    try:
        with open(path, "rb") as file:
            head = file.read(4)
            if head == _PARQUET:
                raise TaskError(
                    f"{path}:1 is parquet; convert it to JSON lines, such as with pandas'"
                    " to_json(lines=True)"
                )
            file.seek(0)
            with gzip.open(file) if head.startswith(_GZIP) else nullcontext(file) as text:
                for raw in text:
                    number += 1
                    yield (
                        f"{path}:{number}",
                        (raw.removeprefix(_BOM) if number == 1 else raw).decode(),
                    )
    except UnicodeDecodeError as error:
        raise TaskError(
            f"{path}:{number} is not UTF-8 (byte {error.object[error.start]:#04x}): save the file"
            " as UTF-8"
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TaskError(f"{path}:{number + 1} is damaged gzip: {error}") from error
    except OSError as error:
        raise TaskError(f"cannot read {str(path)!r}: {error.strerror}") from error


def records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yields the position and the content of each record.

    A record is a row of a .csv or .tsv file, a line of a .jsonl file, or an item of the JSON list
    of any other file.

    Raises:
        TaskError: the content does not fit the ending of the name.
    """
    kind = Path(bare_name(path)).suffix
    if kind in (".csv", ".tsv"):
        yield from _rows(path, "\t" if kind == ".tsv" else ",")
    elif kind == ".jsonl":
        yield from ((where, parse(line, where)) for where, line in lines(path) if line.strip())
    else:
        data = parse("".join(line for _, line in lines(path)), str(path))
        data = data["Data"] if isinstance(data, dict) and "Data" in data else data
        if not isinstance(data, list):
            raise TaskError(
                f"{path}:1 is not a list of records; JSON lines need a file name that ends in"
                " .jsonl"
            )
        yield from ((f"{path}: record {n}", row) for n, row in enumerate(data, 1))


def bare_name(path: Path) -> str:
    """Returns the name of a file without ".gz"."""
    return path.name.removesuffix(".gz")


def parse(text: str, where: str) -> Any:
    """Returns the value of a JSON text.

    Args:
        text: the JSON text.
        where: position of the text, for the error.

    Raises:
        TaskError: the text is not JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = "" if where.rpartition(":")[2].isdigit() else f":{error.lineno}"
        raise TaskError(f"{where}{line} is not JSON: {error.msg}, column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{where} is JSON that cannot be read: {str(error)[:100]}") from error


def _rows(path: Path, delimiter: str) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader((line for _, line in lines(path)), delimiter=delimiter)
    try:
        for row in reader:
            yield f"{path}:{reader.line_num}", row
    except csv.Error as error:
        raise TaskError(f"{path}:{reader.line_num + 1} cannot be read: {error}") from error
