"""Reads text files line by line; whatever is wrong is one line that names the file and the line."""

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
    """Yields where each line stands, as "file:number", and its text; reads gzip, and skips a byte-order mark.

    Raises:
        TaskError: the file cannot be read, or is not UTF-8.
    """
    number = 0
    try:
        with open(path, "rb") as file:
            head = file.read(4)
            if head == _PARQUET:
                raise TaskError(
                    f"{path}:1 is parquet: write it as JSON lines first, such as with pandas' DataFrame.to_json(lines=True)"
                )
            file.seek(0)
            with gzip.open(file) if head.startswith(_GZIP) else nullcontext(file) as text:
                for raw in text:
                    number += 1
                    yield f"{path}:{number}", (raw.removeprefix(_BOM) if number == 1 else raw).decode()
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}:{number} is not UTF-8 (byte {error.object[error.start]:#04x}): save the file as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TaskError(f"{path}:{number + 1} is damaged gzip: {error}") from error
    except OSError as error:
        raise TaskError(f"cannot read {str(path)!r}: {error.strerror}") from error


def records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yields where each record stands and what it holds: rows of .csv and .tsv, JSON lines of .jsonl, else one JSON list.

    Raises:
        TaskError: it is not of the form that its name says.
    """
    kind = Path(bare_name(path)).suffix
    if kind in (".csv", ".tsv"):
        yield from _rows(path, "\t" if kind == ".tsv" else ",")
    elif kind == ".jsonl":
        yield from ((where, parse(line, where)) for where, line in lines(path) if line.strip())
    else:
        whole = parse("".join(line for _, line in lines(path)), str(path))
        whole = whole["Data"] if isinstance(whole, dict) and "Data" in whole else whole
        if not isinstance(whole, list):
            raise TaskError(f"{path}:1 is no list of records; JSON lines belong into a file that ends in .jsonl")
        yield from ((f"{path}: record {n}", row) for n, row in enumerate(whole, 1))


def bare_name(path: Path) -> str:
    """Returns the file's name without ".gz"."""
    return path.name.removesuffix(".gz")


def parse(text: str, where: str) -> Any:
    """Returns what a JSON text holds.

    Raises:
        TaskError: it is not JSON; says where.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = "" if where.rpartition(":")[2].isdigit() else f":{error.lineno}"
        raise TaskError(f"{where}{line} is not JSON: {error.msg}, column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{where} is not JSON that can be read: {str(error)[:100]}") from error


def _rows(path: Path, delimiter: str) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader((line for _, line in lines(path)), delimiter=delimiter)
    try:
        for row in reader:
            yield f"{path}:{reader.line_num}", row
    except csv.Error as error:
        raise TaskError(f"{path}:{reader.line_num + 1} cannot be read: {error}") from error
