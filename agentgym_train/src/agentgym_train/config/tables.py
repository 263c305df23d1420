"""The tables of a TOML file, with the command line's overrides applied."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agentgym_train.errors import ConfigError


def read(path: str | Path, overrides: Iterable[str] = ()) -> dict[str, Any]:
    """Reads a TOML file and applies ``a.b=c`` overrides.

    Raises:
        ConfigError: the file is unreadable, or an override does not fit its tables.
    """
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read configuration {str(path)!r}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    for item in overrides:
        _override(raw, item)
    return raw


def _override(raw: dict[str, Any], item: str) -> None:
    key, equals, text = item.partition("=")
    if not equals or not all(key.split(".")):
        raise ConfigError(f"--set takes a.b=c, not {item!r}")
    *path, last = key.split(".")
    table: Any = raw
    for part in path:
        if isinstance(table, list):
            if not part.isdecimal() or int(part) >= len(table):
                raise ConfigError(
                    f"--set {item}: there are tables 0 to {len(table) - 1}, and no {part!r}"
                )
            table = table[int(part)]
        else:
            table = table.setdefault(part, {})
        if not isinstance(table, dict | list):
            raise ConfigError(f"--set {item}: {part!r} is not a section")
    if isinstance(table, list):
        raise ConfigError(
            f"--set {item}: there are {len(table)} such tables: name one by its number, such as"
            f" {path[-1]}.0.{last}"
        )
    table[last] = _value(text)


def _value(text: str) -> Any:
    """Parses a value as TOML. Text that is not a TOML value is returned as a string."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text
