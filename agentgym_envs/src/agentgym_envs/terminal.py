"""The standard streams and consoles of the commands, and the option ``--version``."""

import codecs
import io
import os
import sys
import unicodedata
from importlib.metadata import version
from typing import Any

import typer
from rich.console import Console, ConsoleDimensions

READABLE = "agentgym-readable"  # name of our handler of characters that an encoding lacks
SIMILAR = str.maketrans("–—−×·•‘’“”", "---x**''\"\"")
ENDLESS = 1_000_000  # columns of a line in a pipe or a file


class CommandConsole(Console):
    """A console that cuts and wraps no line in a pipe or a file."""

    @property  # type: ignore[misc]  # nothing sets it
    def size(self) -> ConsoleDimensions:
        """The size of the terminal; without one, more columns than any line has."""
        found = super().size
        return found if self.is_terminal else found._replace(width=ENDLESS)


def readable(error: UnicodeError) -> tuple[str, int]:
    """Replaces characters that an encoding lacks by similar ASCII characters, or by ``?``.

    >>> "3–0–1 … é 字".encode("ascii", READABLE)
    b'3-0-1 ... e ?'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(SIMILAR)
    plain = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(c if c.isascii() else "?" for c in plain), error.end


codecs.register_error(READABLE, readable)


def tolerate_any_encoding() -> None:
    """Makes the standard streams print and read any text, whatever the locale's encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=READABLE)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")


def discard_unwritten() -> None:
    """Discards text for a terminal or pipe that is gone; it would change the exit status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def version_option(*packages: str) -> Any:
    """Returns the option ``--version``, which prints the versions of distributions and exits."""

    def show(wanted: bool) -> None:
        if wanted:
            typer.echo("\n".join(f"{package} {version(package)}" for package in packages))
            raise typer.Exit

    return typer.Option("--version", callback=show, is_eager=True, help="Print the version.")
